/* kineto_config.h — the text that asks libkineto for one window: a KEY=VALUE a line.
 *
 *	ACTIVITIES_LOG_FILE=/tmp/trainspotter_3f…a1.json     libkineto puts _PID before .json
 *	ACTIVITY_TYPES=cpu_op,…                              said in full: those of Neuron are off unless named
 *	REQUEST_TRACE_ID=…                                   for the job's own log
 *	CUSTOM_CONFIG=…                                      handed on to the device's profiler; only where there is some
 * and by time
 *	ACTIVITIES_WARMUP_PERIOD_SECS=0                      else it waits five seconds
 *	ACTIVITIES_DURATION_MSECS=500
 * or by iterations, which an optimizer's step counts; a job without one takes 500 ms instead
 *	PROFILE_START_ITERATION=0
 *	PROFILE_START_ITERATION_ROUNDUP=100                  at the next multiple
 *	ACTIVITIES_ITERATIONS=5
 *
 * libkineto throws the whole request away at a line without '=', with two of them, or cut short; and it writes only below
 * /tmp or the process's own KINETO_ONDEMAND_TRACE_DIR. So nothing is written here that could break a line. Pure. */
#ifndef AGENT_KINETO_CONFIG_H
#define AGENT_KINETO_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define KINETO_ACTIVITIES                                                                                           \
	"cpu_op,user_annotation,external_correlation,kernel,gpu_memcpy,gpu_memset,privateuse1_runtime,"              \
	"privateuse1_driver"

/* What the agent's files start with. */
#define KINETO_STEM "trainspotter_"

enum { KINETO_DIR_MAX = 200, KINETO_STEM_MAX = 64, KINETO_TEXT_MAX = 4096 };

struct kineto_window {
	struct str dir;	       /* absolute */
	struct str stem;       /* of the file's name */
	uint64_t id;	       /* REQUEST_TRACE_ID */
	struct str activities; /* empty: KINETO_ACTIVITIES */
	struct str custom;     /* empty: none */
	int64_t duration_ns;
	int64_t iterations; /* 0: by time */
	int64_t roundup;    /* of the first iteration */
};

/* May it stand behind '='? Printable ASCII without '=' and '#', at most max bytes. */
bool kineto_config_value_ok(struct str value, size_t max);
/* May traces go there: as above, absolute and without "..". */
bool kineto_config_dir_ok(struct str dir);

/* E_USAGE for a value that cannot be said. */
int kineto_config_write(const struct kineto_window *w, struct buf *out, struct err *e) MUST_USE;

/* Where the process, which knows itself as pid, will put the file. */
void kineto_config_path(const struct kineto_window *w, int32_t pid, struct buf *out);

#endif
