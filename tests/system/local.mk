# real binaries over loopback
TESTS += tests/system/summarize.test
EXTRA_DIST += tests/system/summarize.test
