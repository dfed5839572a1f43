/* vllm_task.h — one errand with a vLLM server, on a thread of the server's own:
 *
 *	VLLM_METRICS   GET /metrics
 *	VLLM_WINDOW    GET /metrics ─ note it down ─ POST /start_profile ─ wait ─ POST /stop_profile ─ GET /metrics ─ find traces
 *	VLLM_STOP      POST /stop_profile, owed since a window's was not answered ─ find traces
 *	VLLM_FIND      find traces, of a window that an agent before this one had stopped
 *
 * Where it is not known whether a start arrived (no answer in time, or a 5xx), stop is sent: better one too many than a server
 * that goes on profiling. It is not where the answer says that nothing began (4xx), or that somebody else profiles (409, 423,
 * 429, 503): that would end theirs. When the agent stops, a window ends early and stop is sent all the same, with a few
 * seconds for the answer; the note stays for the next agent.
 * Runs on: the server's thread (run), the agent's main thread before and after. */
#ifndef AGENT_VLLM_TASK_H
#define AGENT_VLLM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/errand.h"
#include "agent/vllm_find.h"
#include "agent/vllm_journal.h"
#include "agent/vllm_metrics.h"

/* How windows end; stops and traces have ends of their own. */
enum vllm_end {
	VLLM_TAKEN,
	VLLM_LATE,	   /* taken, of a window that had been given up */
	VLLM_EMPTY,	   /* no ops in it */
	VLLM_BAD,	   /* no trace, or cannot be kept */
	VLLM_UNDECODED,	   /* only what neuron-explorer has to decode */
	VLLM_NOTHING_CAME, /* stop was answered, no trace appeared */
	VLLM_UNFINISHED,   /* traces still grew when the time was over */
	VLLM_UNREACHABLE,  /* nobody there */
	VLLM_NO_PROFILER,  /* 404 */
	VLLM_DENIED,	   /* 401, 403 */
	VLLM_BUSY,	   /* 409, 423, 429, 503 */
	VLLM_REFUSED,	   /* any other answer but 2xx */
	VLLM_TIMEOUT,	   /* start was not answered */
	VLLM_STOP_FAILED,  /* stop was not, or with an error; sent again until it is */
	VLLM_NO_NOTE,	   /* it could not be written down, so nothing was started */
	VLLM_CUT,	   /* the agent ended meanwhile */
	VLLM_ENDS
};

enum vllm_task_kind { VLLM_METRICS, VLLM_WINDOW, VLLM_STOP, VLLM_FIND, VLLM_TASKS };

/* What it takes to talk to a server; lives longer than its tasks. */
struct vllm_link {
	struct vllm_server_conf server;
	const char *journal_dir;
	int64_t timeout_ns, stable_ns;
};

struct vllm_sample {
	int64_t mono_ns;
	bool inside; /* it profiled at some moment since the sample before */
	struct vllm_metrics m;
};

enum { VLLM_SAMPLES_MAX = 2 };

struct vllm_task {
	struct errand er;
	/* in */
	enum vllm_task_kind kind;
	const struct vllm_link *link;
	uint64_t server; /* the source's own */
	int64_t duration_ns;
	int64_t since_ns; /* wall; 0: of now. Traces are not older */
	int64_t started_ns; /* VLLM_STOP, VLLM_FIND: wall, of the window that is meant */
	/* out */
	enum vllm_end end; /* VLLM_TAKEN where traces are there */
	int status;	   /* of the answer that decided; 0: none */
	bool stop_owed;	   /* it may be profiling: a VLLM_STOP must follow, whatever end says */
	bool noted;	   /* an entry of the journal stands */
	struct vllm_sample samples[VLLM_SAMPLES_MAX];
	size_t n_samples;
	struct vllm_found found; /* complete where end is VLLM_TAKEN or VLLM_UNDECODED */
	struct err err;
};

struct vllm_task *vllm_task_new(enum vllm_task_kind kind, const struct vllm_link *link);
void vllm_task_free(struct vllm_task *t);

#endif
