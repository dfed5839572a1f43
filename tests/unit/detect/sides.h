/* sides.h — sides made of a few words, for tests of detect.
 *
 *	sides_add(s->before, 1, "aten::mul 3 1164.5; aten::add 1 434.6; step 1 9100; gap 1 416");
 *
 * Each part is a name, calls and microseconds of device time, totals over the steps; "step" and "gap" are the step's time
 * and the gap between launches; "@cpu" behind a name places it on the host. The time of "hlo_module NAME {…}" stands in
 * its ops' rows, too. */
#ifndef TESTS_UNIT_DETECT_SIDES_H
#define TESTS_UNIT_DETECT_SIDES_H

#include "detect/judge.h"

struct sides {
	struct arena arena;
	struct fusion_table *fusion;
	struct side *before, *after;
	struct verdict verdict;
};

void sides_init(struct sides *s);
void sides_fini(struct sides *s);
void sides_again(struct sides *s); /* empty sides; the fusion table stays */

/* A window of an op table: no single times. */
void sides_add(struct sides *s, struct side *side, uint64_t steps, const char *ops);

/* An op of a host window with single times: calls values around median_ns, spread evenly over ±2 %. */
struct timed_op {
	const char *name;
	uint64_t calls;
	int64_t median_ns;
	enum op_kind kind; /* 0 is OP_STEP, whose name does not matter */
};
void sides_add_timed(struct sides *s, struct side *side, uint64_t steps, const struct timed_op *ops, size_t n);

enum verdict_kind sides_judge(struct sides *s, enum judge_where where);

/* Both sides of one step each, judged as diff does. */
enum verdict_kind sides_of(struct sides *s, const char *before, const char *after);

#endif
