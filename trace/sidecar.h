/* sidecar.h — FILE.meta.json beside the trace FILE: what its job says of it (trace/window.h).
 *
 *	{"service": "llm-decode", "deploy": "v42", "host": "trn-17", "worker": "0", "start_ns": 1790000000000000000,
 *	 "labels": {"team": "search"}}
 *
 * Every member is optional, and null is as good as none; members that are not named here are passed over.
 * Runs on: any thread. */
#ifndef TRACE_SIDECAR_H
#define TRACE_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"

#define SIDECAR_SUFFIX ".meta.json"
enum { SIDECAR_BYTES_MAX = 1 << 20 };

struct sidecar {
	struct str service, deploy, host, worker; /* empty where not said */
	bool has_start;
	int64_t start_ns; /* wall */
	struct label *labels;
	size_t n_labels;
};

/* Texts live in the arena. E_FORMAT with a sentence that says which member is wrong. s must be zeroed. */
int sidecar_parse(struct arena *a, struct str text, struct sidecar *s, struct err *e) MUST_USE;

/* That of the trace at trace_path; a zeroed one where there is none. E_FORMAT, E_LIMIT and E_SYS with the file's name. */
int sidecar_read(struct arena *a, const char *trace_path, struct sidecar *s, struct err *e) MUST_USE;

/* What s does not say is as more says, but for when; labels of both. Texts stay where they are. E_LIMIT where the arena is full. */
int sidecar_fill(struct arena *a, struct sidecar *s, const struct sidecar *more, struct err *e) MUST_USE;

/* Labels, or versions: the first ones, then of more, up to WINDOW_LABELS_MAX in all, those whose key is not among them yet; *n is how
 * many. The array is in the arena, its texts are where they were; NULL where there is no room for it. */
struct label *sidecar_labels(struct arena *a, const struct label *first, size_t n_first, const struct label *more, size_t n_more,
	size_t *n);

#endif
