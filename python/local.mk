# The helper for jobs; installed to be copied from, or by pip install DIR.
pkgpythonhelperdir = $(pkgdatadir)/python
dist_pkgpythonhelper_DATA = python/trainspotter.py python/pyproject.toml
