# Real binaries over loopback: TAP scripts that run in the build folder.
TESTS += tests/system/diff.test
EXTRA_DIST += tests/system/diff.test
# screen is to summarize.test what script(1) would be
check_PROGRAMS += tests/system/screen
tests_system_screen_SOURCES = tests/system/screen.c
TESTS += tests/system/summarize.test
EXTRA_DIST += tests/system/summarize.test
TESTS += tests/system/exactly_once.test
EXTRA_DIST += tests/system/exactly_once.test
TESTS += tests/system/agent.test
EXTRA_DIST += tests/system/agent.test

# http and hook are to daemon.test what curl and a receiver of webhooks would be
check_PROGRAMS += tests/system/http tests/system/hook
tests_system_http_SOURCES = tests/system/http.c
tests_system_http_LDADD = $(LINK_NET_PLAIN)
tests_system_hook_SOURCES = tests/system/hook.c
tests_system_hook_LDADD = $(LINK_NET_PLAIN)

TESTS += tests/system/daemon.test
EXTRA_DIST += tests/system/daemon.test

# peak is to long.test what time(1) would be
check_PROGRAMS += tests/system/peak
tests_system_peak_SOURCES = tests/system/peak.c
TESTS += tests/system/long.test
EXTRA_DIST += tests/system/long.test

# yaml is to packaging.test what a reader of YAML would be
check_PROGRAMS += tests/system/yaml
tests_system_yaml_SOURCES = tests/system/yaml.c
tests_system_yaml_LDADD = base/libbase.a $(YAML_LIBS) -lm
TESTS += tests/system/packaging.test
EXTRA_DIST += tests/system/packaging.test

TESTS += tests/system/capture.test
EXTRA_DIST += tests/system/capture.test

TESTS += tests/system/resources.test
EXTRA_DIST += tests/system/resources.test

TESTS += tests/system/kernels.test
EXTRA_DIST += tests/system/kernels.test

TESTS += tests/system/exec.test
EXTRA_DIST += tests/system/exec.test

TESTS += tests/system/fleet.test
EXTRA_DIST += tests/system/fleet.test
