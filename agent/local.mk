# The agent. Its parts are a library, so that tests can link them without main.
noinst_LIBRARIES += agent/libagent.a
agent_libagent_a_SOURCES = \
	agent/agent.c agent/agent.h \
	agent/host.c agent/host.h \
	agent/job.c agent/job.h \
	agent/keep.c agent/keep.h \
	agent/options.c agent/options.h \
	agent/quarantine.c agent/quarantine.h \
	agent/ship.c agent/ship.h \
	agent/spool.c agent/spool.h \
	agent/watch.c agent/watch.h
