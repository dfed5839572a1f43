# Agents and the daemon's rules together, for long times by a clock of the tests' own.
if HAVE_CHECK
check_PROGRAMS += tests/fleet/day tests/fleet/week
TESTS += tests/fleet/day tests/fleet/week
endif
tests_fleet_day_SOURCES = tests/fleet/day.c
tests_fleet_day_LDADD = agent/libagent.a api/libapi.a $(LINK_FLOOR2)

# with windows made up in place of trace/window.c, and a daemon in place of net/http_client.c
tests_fleet_week_SOURCES = tests/fleet/week.c tests/unit/agent/folder.c tests/unit/agent/folder.h
tests_fleet_week_LDADD = agent/libagent.a net/libnet.a trace/libtrace.a $(LINK_WIRE) $(ZLIB_LIBS)
