/* monitor.h — the source "neuron-monitor": the program runs as a child, its reports are folded over a minute, and each minute
 * becomes a window of gauges for each service on the host.
 *
 *	child ─ a line ─ trace/neuron_monitor ─ … ─ the minute is over ─ by service ─ agent/report ─ spool
 *	  └ ended, silent, or more than anybody needs: ended, and started again after 1 s, 2 s, … 5 min
 *
 * Whose a process's gauges are: its environment (agent/identity.h), else its tag (NEURON_PROCESS_TAG), else the configuration. The
 * label pid becomes worker where the process says which it is. What is the host's goes with the configuration's service, else with
 * the only one that there is.
 * Where windows of a process are taken, too, its executions tell what they cost (agent/meter.h).
 * Runs on: the agent's main thread; nothing here waits. */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include <stdint.h>

#include "agent/identity.h"
#include "agent/meter.h"
#include "agent/options.h"
#include "agent/report.h"
#include "agent/source.h"
#include "base/err.h"

enum { MONITOR_LINE_MAX = 4 << 20 }; /* 192 CPUs and a hundred models stay below 200 kB */

enum monitor_trouble {
	MONITOR_NO_PROGRAM, /* cannot be started */
	MONITOR_ENDED,	    /* it ended by itself */
	MONITOR_HUNG,	    /* no report for timeout */
	MONITOR_FLOOD,	    /* more bytes or reports than anybody needs */
	MONITOR_BAD_LINE,   /* no report */
	MONITOR_LONG_LINE,
	MONITOR_SILENT,	    /* a window's time without a report in it */
	MONITOR_TROUBLES
};
const char *monitor_trouble_word(enum monitor_trouble t);

struct monitor_settings {
	const struct neuron_monitor_conf *conf; /* lives as long as the source */
	struct report_origin origin;
	struct identities *ids; /* may be NULL */
	struct meter *meter;	/* is told the executions of each process; may be NULL */
	const char *proc;	/* "/proc", or a test's */
	int64_t again_first_ns; /* before it is started again, doubling; 0: a second */
};

extern const struct source_type monitor_source;

/* A program that cannot be had now is tried again later. */
int monitor_open(struct source *out, const struct monitor_settings *s, struct err *e) MUST_USE;

uint64_t monitor_count(const struct source *s, enum monitor_trouble t); /* for tests */

#endif
