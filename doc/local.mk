# manual pages and documents
EXTRA_DIST += doc/api.md
