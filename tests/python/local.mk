# tests of python/ with a made-up torch; those with a real one are in tests/torch
TESTS += tests/python/helper.test tests/python/package.test
EXTRA_DIST += tests/python/helper.test tests/python/package.test tests/python/tap.py tests/python/test_helper.py \
	tests/python/fake/torch/__init__.py tests/python/fake/torch/_C.py tests/python/fake/torch/autograd/__init__.py \
	tests/python/fake/torch/autograd/profiler.py tests/python/fake/torch/profiler.py
