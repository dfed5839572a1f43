/* query.h — a parsed, validated question to a store: which windows, how much, how fine.
 * Empty texts mean "any". Texts are borrowed from whoever asks. */
#ifndef PROFILE_QUERY_H
#define PROFILE_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "profile/op.h"

enum { QUERY_LIMIT_DEFAULT = 100, QUERY_LIMIT_MAX = 10000 };

struct query {
	struct str service, deploy, host, worker;
	bool has_kind;
	enum op_kind kind;
	struct str op;	       /* name as the series has it */
	int64_t from_ns, to_ns; /* wall, from <= start < to */
	int64_t resolution_ns; /* width of a point; 0: the store picks one so that there are at most 500 points */
	uint32_t limit;	       /* items at most */
	struct str cursor;     /* from the last answer's next; empty for the first page */
	bool newest_first;
	int64_t until_ns; /* what begins then or later is the newest of nothing, though it is listed; 0: no such bound */
	bool with_ops; /* of store_windows: pass over windows that have none */
};

#endif
