# Real binaries over loopback: TAP scripts that run in the build folder.
TESTS += tests/system/diff.test
EXTRA_DIST += tests/system/diff.test
TESTS += tests/system/summarize.test
EXTRA_DIST += tests/system/summarize.test
TESTS += tests/system/exactly_once.test
EXTRA_DIST += tests/system/exactly_once.test
TESTS += tests/system/agent.test
EXTRA_DIST += tests/system/agent.test
