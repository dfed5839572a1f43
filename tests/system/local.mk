# real binaries over loopback
TESTS += tests/system/diff.test
EXTRA_DIST += tests/system/diff.test
TESTS += tests/system/summarize.test
EXTRA_DIST += tests/system/summarize.test
