/* intake.h — one event while its members come in: what of it is kept, what it becomes, what is wrong with it.
 * Both ways of reading fill it: token by token (trace/reader.c), and from mark to mark (trace/quick.c).
 * Runs on: one thread at a time. */
#ifndef TRACE_INTAKE_H
#define TRACE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/pull.h"
#include "trace/event.h"
#include "trace/report.h"

/* What of an event is read; those from M_EXT on stand in its args, and the last four are read only where they are wanted. */
enum member {
	M_PH,
	M_CAT,
	M_NAME,
	M_PID,
	M_TID,
	M_TS,
	M_DUR,
	M_ARGS,
	M_EXT,
	M_EXT_LOWER,
	M_CORRELATION,
	M_DIMS,	       /* TRACE_SHAPES */
	M_BYTES,       /* TRACE_MEMORY, as the next */
	M_DEVICE_TYPE, /* of an allocation */
	M_COPIED,      /* TRACE_COPIES: bytes of a copy */
	MEMBERS
};

enum { INTAKE_ID_MAX = 64 }; /* bytes of a pid or tid; of longer ones a hash stands for the rest */

struct intake_id { /* a pid or tid as it stands in the file, a text with its quotes; null is as good as none */
	char p[INTAKE_ID_MAX + 2];
	size_t n;
};

enum { INTAKE_THREADS = 4 }; /* kept at hand */

struct intake_thread {
	struct intake_id pid, tid;
	uint32_t thread; /* INTERN_NONE: there is none */
};

struct intake {
	struct trace *trace;
	struct trace_report *report;
	struct buf text; /* a value without its escapes */
	struct buf aside; /* a name that is wanted only if another ph comes */
	struct buf dims; /* the inputs' shapes as far as they have come */
	unsigned dims_depth;

	uint64_t offset; /* of the event under way */
	uint32_t seen;	 /* one bit a member */
	bool any;	 /* it has members */
	bool wants;	 /* further members are of use: not those of an event that is known to be of no kind that is kept,
			    unless it has another ph (the last of a key stands) */
	bool timed;	 /* ph is X */
	bool instant;	 /* ph is i, and those are wanted: an allocation may be one */
	bool cat_known, bad_ts, bad_dur;
	bool name_aside, aside_plain;
	enum event_cat cat;
	const char *device; /* that the category tells of, or NULL */
	uint32_t name;
	int64_t start_ns, dur_ns;
	uint64_t ext, ext_lower, correlation;
	int64_t bytes, device_type, copied;
	struct intake_id pid, tid;
	/* plain, and not looked up yet: NULL where there is nothing to look up; of pid and tid only numbers */
	struct str later_name, later_cat, later_pid, later_tid;

	struct intake_thread recent[INTAKE_THREADS]; /* host and device take turns */
	unsigned newest;
};

void intake_init(struct intake *in, struct trace *t, struct trace_report *report); /* borrows both */
void intake_fini(struct intake *in);

/* MEMBERS for a key that is passed over. */
enum member member_of_event(struct str key);
enum member member_of_args(const struct intake *in, struct str key);

void intake_begin(struct intake *in, uint64_t offset);
/* Its args begin: what earlier ones said counts no more, for the last of a key stands. */
void intake_args(struct intake *in);
/* A member's value; raw and plain as in struct json_value, of an object or array only the token counts. */
void intake_take(struct intake *in, enum member m, enum json_token tok, struct str raw, bool plain);
/* The same for a plain string or number whose text stays where it is until the event is finished: nothing outside *in
 * changes until then, so an event may be given up half way. */
void intake_take_plain(struct intake *in, enum member m, enum json_token tok, struct str raw);
/* M_DIMS is a list, token by token from its JSON_ARRAY on; objects in it have been passed over. True once it is whole. */
void intake_dims_begin(struct intake *in);
bool intake_dims(struct intake *in, enum json_token tok, struct str raw);
/* The same from the list's whole text; false where it is more than lists of whole numbers. */
bool intake_dims_text(struct intake *in, struct str raw);
/* The event is whole: kept, passed over, or lost and told in the report. */
void intake_finish(struct intake *in);
/* Something was lost at the event under way. */
void intake_lose(struct intake *in, enum trace_reason reason);

static inline bool intake_seen(const struct intake *in, enum member m)
{
	return (in->seen & 1u << m) != 0;
}

#endif
