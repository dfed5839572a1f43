/* job.h — one trace file becomes one encoded batch, an archive of traces one for each of them, on a thread of its own that is niced
 * and held to a budget of CPU time. One job at a time: whoever wants the next one done waits for the last.
 *
 * An archive is taken as a whole or not at all. Files in it that are no traces are passed over and counted; one that is a trace and
 * cannot be taken (a limit, a wrong sidecar, no memory now) makes it the whole archive's end. Of a damaged archive the traces that
 * could be read are taken, as of a damaged trace the events. */
#ifndef AGENT_JOB_H
#define AGENT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/errand.h"
#include "agent/meter.h"
#include "agent/source.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "trace/window.h"

struct job_thread;

/* Of one archive: more are E_LIMIT. */
enum { JOB_WINDOWS_MAX = 4096, JOB_BYTES_MAX = 64 << 20 };

/* What came of one trace; texts live as long as the job. */
struct job_window {
	struct str trace; /* the file's path, in an archive "PATH:FILE" */
	struct str batch; /* a WindowBatch with this one window, as wire_encode makes it */
	char text[WINDOW_ID_TEXT];
	uint32_t flags;	 /* the window's */
	uint64_t events;
	const char *lost; /* the reason of the first loss, "" where nothing was */
	int64_t step_ns;  /* agent/pace.h */
	struct str service, deploy, worker; /* the window's */
};
VEC(job_windows, struct job_window);

struct job {
	struct errand errand; /* first; of the thread that it is given to */
	struct job_thread *thread;
	/* in; the texts are borrowed until the job is back */
	struct watch_file file;
	const struct source *from; /* who gets the trace back, under its key; NULL: nobody */
	uint64_t key, order;
	struct window_origin origin;
	const struct label *labels; /* behind those of the sidecar; what that names already stays as it is */
	size_t n_labels;
	struct gauge gauges[METER_GAUGES_MAX]; /* what windows of its worker cost (agent/meter.h) */
	size_t n_gauges;
	const struct label *versions; /* the same, of versions */
	size_t n_versions;
	const char *raw_dir; /* where the trace stays under its window's id, with its sidecar (agent/keep.h); NULL: it does not */
	uint64_t raw_max_bytes;
	struct str agent_version;
	struct trace_limits limits;
	int64_t cpu_percent, cpu_burst_ns; /* of one core, on average; 100: no limit */
	/* out */
	int rc;
	struct err err, raw_err; /* raw_err: it could not be kept */
	struct job_windows windows; /* at least one where rc is OK, else none */
	struct arena texts;
	uint64_t others;	    /* files of the archive that are no traces */
	struct buf other_names;	    /* of the first ones, "a, b" */
	struct err other_why;	    /* of the first one, with its name */
	struct err damage;	    /* of the archive itself */
	bool has_device, has_ops; /* any of them; ops: more than steps, annotations and the profiler's own */
};

struct job *job_new(void);
void job_free(struct job *j);

/* In the caller's thread. */
void job_do(struct job *j);

int job_thread_start(struct job_thread **out, struct err *e) MUST_USE;
void job_thread_stop(struct job_thread *t); /* waits for the job at hand; frees what nobody fetched */
void job_give(struct job_thread *t, struct job **j); /* takes *j; at most one is out at a time */
int job_fd(struct job_thread *t);	       /* readable when one is done */
struct job *job_fetch(struct job_thread *t);  /* NULL when none is done */

/* The budget: credit grows by percent of the time that goes by, up to the burst, and shrinks by CPU time used. Returns
 * how long to pause before the next job. */
int64_t job_budget(int64_t *credit_ns, int64_t elapsed_ns, int64_t used_ns, int64_t percent, int64_t burst_ns);

#endif
