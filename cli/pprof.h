/* pprof.h — a profile as the pprof tools read it (github.com/google/pprof, proto/profile.proto), written by field
 * numbers, compressed by gzip.
 *
 *	Profile		1 sample_type	ValueType { 1 type, 2 unit }		texts are indexes into the table
 *			2 sample	Sample { 1 location_id (packed), 2 value (packed), 3 label { 1 key, 2 str } }
 *			3 mapping	Mapping { 1 id, 5 filename, 7 has_functions }: one, so that no tool looks for a program
 *			4 location	Location { 1 id, 2 mapping_id, 4 Line { 1 function_id } }
 *			5 function	Function { 1 id, 2 name }; with a system_name alike pprof would cut template arguments
 *			6 string_table	the first is ""
 *			9 time_nanos	10 duration_nanos   14 default_sample_type
 *
 * A name is one function at one location, both numbered from 1. A sample goes out as soon as it is added, so memory is
 * the names' and the output's. Runs on: one thread at a time. */
#ifndef CLI_PPROF_H
#define CLI_PPROF_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { PPROF_VALUES_MAX = 8 };

struct pprof_type {
	const char *type, *unit; /* "device", "nanoseconds" */
};

struct pprof_label {
	const char *key;
	struct str value;
};

struct pprof;

struct pprof *pprof_new(const struct pprof_type *types, size_t n); /* borrows; at most PPROF_VALUES_MAX */
void pprof_free(struct pprof *p);

/* frames: the innermost first; UTF-8. The tools print them as they are, a line each, so control characters become '?' and
 * a name that is empty '""'. values: one a type. */
void pprof_sample(struct pprof *p, const struct str *frames, size_t n_frames, const int64_t *values,
	const struct pprof_label *labels, size_t n_labels);
/* What a profile is of. */
struct pprof_head {
	struct str file;	  /* what pprof calls the profile; may be empty */
	int64_t start_ns, dur_ns; /* wall, 0 where it is not known */
	size_t default_type;	  /* the index of the one that is shown first */
};
/* E_LIMIT, E_NOMEM. */
int pprof_finish(struct pprof *p, const struct pprof_head *head, struct buf *out, struct err *e) MUST_USE;

#endif
