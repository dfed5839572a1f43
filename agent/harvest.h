/* harvest.h — the folder of a finished capture becomes traces for the agent's loop, in order: files that trace/probe.h knows
 * to be readable as they are, and what agent/decode.h makes of sessions.
 *
 *	IN/…			what the capture left: traces, sessions, whatever
 *	WORK/decoded-<n>/	what the decoder made of the n-th session in IN, by path; whole, or not there
 *
 * A trace is removed as soon as its window is durable. Killed in between, harvest_make finds what is left and decodes
 * nothing twice, and the same bytes give the same window.
 * Labels: pid, session (the folder's name) and profile (system, summary, device, framework) for what was decoded. Versions: profiler.
 * Runs on: harvest_make on a thread that may wait; the others on the agent's main thread. */
#ifndef AGENT_HARVEST_H
#define AGENT_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/decode.h"
#include "agent/source.h"

enum { HARVEST_FILES_MAX = 1000 };

struct harvest_settings {
	const struct decode_settings *decode; /* NULL: sessions are not decoded */
	const char *service, *deploy, *worker; /* "": not known */
	const struct label *labels; /* for all of its windows */
	size_t n_labels;
	const char *top; /* IN is below it, and others may change what is on the way and in IN; NULL: IN is nobody else's */
};

/* How a harvest went before any trace was read. */
struct harvest_sum {
	size_t traces, sessions;
	size_t decoded_before; /* sessions that were decoded before we were killed: what is missing of them is durable */
	size_t decode_ends[DECODE_ENDS];
	char why[480]; /* of the last session that was not decoded, or the file that was none; empty */
	char version[DECODE_VERSION_TEXT];
};

struct harvest;

/* E_LIMIT, E_SYS where the folders cannot be read. No traces at all is OK. */
int harvest_make(struct harvest **out, const struct harvest_settings *s, const char *in_dir, const char *work_dir,
	struct thread *t, struct err *e) MUST_USE;
void harvest_free(struct harvest *h); /* NULL is fine; folders stay */
const struct harvest_sum *harvest_sum(const struct harvest *h);

/* As source_type's next and back, for the traces of this harvest; keys count from 1. */
bool harvest_next(struct harvest *h, int64_t now_ns, struct source_trace *out);
void harvest_back(struct harvest *h, uint64_t key, const struct source_result *r, int64_t now_ns);
int64_t harvest_wake_ns(const struct harvest *h); /* when next may have one; INT64_MAX: not by itself */

struct harvest_back_counts {
	size_t waiting, out, kept, empty, bad;
	bool has_device;
	char bad_why[480]; /* of the last bad one */
};
struct harvest_back_counts harvest_backs(const struct harvest *h);
bool harvest_over(const struct harvest *h); /* all are back for good */

#endif
