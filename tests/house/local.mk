# The rules of the house: floors, headers, hidden state.
TESTS += tests/house/house.test
EXTRA_DIST += tests/house/house.test tools/check-floors tools/check-headers tools/check-globals
AM_TESTS_ENVIRONMENT += CC='$(CC)'; export CC;
