/* scan.h — goes over the windows that match, from the cheapest rows that answer: hourly rollups for whole hours, the
 * windows themselves for what is left at both ends. Where windows are not kept any more, whole hours at the ends too.
 * Inside store/ only. Runs on: a reader's thread. */
#ifndef STORE_SCAN_H
#define STORE_SCAN_H

#include <stdint.h>

#include "base/clock.h"
#include "store/filter.h"
#include "store/reader.h"

static inline int64_t hour_of(int64_t ns)
{
	return ns / NS_PER_HOUR - (ns % NS_PER_HOUR < 0);
}

/* From the first to the last start ever seen, of windows with ops, of what a filter names. */
struct life {
	bool empty;
	int64_t first_ns, last_ns;
};
int life_of(struct life *out, const struct filter *f, struct reader *r, struct err *e) MUST_USE;

struct scan {
	struct filter filter;
	bool empty; /* nothing matches */
	int64_t first_ns,
		last_ns; /* starts that can be in the answer: the range within the life of what is named */
	bool hours;	 /* some hours come from rollups */
	bool raw_gone;	 /* windows of a part of the range are not kept any more */
	struct life life;
	int64_t kept_ns; /* windows that start there or later are all kept */
	struct {
		int64_t from_ns, to_ns;
	} raw[2]; /* before and behind the hours; the first alone without hours */
	int64_t hour_from, hour_to;
};

/* want_hours: an answer by the hour will do. Without it rollups stand in only for windows that are gone. */
int scan_plan(
	struct scan *sc, const struct filter *f, bool want_hours, struct reader *r, struct err *e) MUST_USE;

/* The same plan, where an answer by the hour will do after all. */
void scan_by_hours(struct scan *sc);

struct scan_row {
	int64_t first_ns, last_ns; /* starts; alike for a window */
	uint64_t windows, steps;
	bool has_device;
	struct str ops; /* codec.h; lives until the visitor returns */
};
typedef int scan_visit(void *arg, const struct scan_row *row, struct err *e);

int scan_run(const struct scan *sc, struct reader *r, scan_visit *visit, void *arg, struct err *e) MUST_USE;

#endif
