# Agents and the daemon's rules together, for long times by a clock of the tests' own.
if HAVE_CHECK
check_PROGRAMS += tests/fleet/day
TESTS += tests/fleet/day
endif
tests_fleet_day_SOURCES = tests/fleet/day.c
tests_fleet_day_LDADD = agent/libagent.a api/libapi.a $(LINK_FLOOR2)
