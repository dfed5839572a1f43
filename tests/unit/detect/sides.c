#include "tests/unit/detect/sides.h"

#include <check.h>
#include <math.h>

enum { OPS_MAX = 64 };

void sides_init(struct sides *s)
{
	struct err e = { 0 };

	*s = (struct sides){ .fusion = NULL };
	arena_init(&s->arena, 64 << 20);
	ck_assert_msg(fusion_table_new(&s->fusion, &e) == OK, "%s", e.text);
	s->before = side_new(s->fusion);
	s->after = side_new(s->fusion);
}

void sides_fini(struct sides *s)
{
	side_free(s->before);
	side_free(s->after);
	fusion_table_free(s->fusion);
	arena_fini(&s->arena);
}

void sides_again(struct sides *s)
{
	side_free(s->before);
	side_free(s->after);
	arena_reset(&s->arena);
	s->before = side_new(s->fusion);
	s->after = side_new(s->fusion);
}

/* "aten::mul 3 1164.5": names can hold blanks, so the numbers are taken from the end. */
static struct str last_word(struct str *rest)
{
	size_t n = rest->n;
	struct str word;

	while (n > 0 && rest->p[n - 1] != ' ')
		n--;
	word = str_from(*rest, n);
	*rest = str_trim(str_upto(*rest, n));
	return word;
}

static void read_op(struct str text, struct op_summary *op)
{
	double us;
	int64_t ns;

	text = str_trim(text);
	ck_assert(str_to_double(last_word(&text), &us) == OK);
	ck_assert(str_to_u64(last_word(&text), &op->calls) == OK);
	ns = llround(us * 1e3);
	op->kind = str_eq(text, STR("step")) ? OP_STEP : str_eq(text, STR("gap")) ? OP_GAP : OP_CPU_OP;
	op->name = op->kind == OP_GAP ? STR("device") : text;
	op->cpu_total_ns = op->cpu_self_ns = ns;
	if (!str_has_suffix(text, STR("@cpu")))
		op->device_total_ns = op->device_self_ns = ns;
	if (!str_has_prefix(text, STR("hlo_module ")))
		return;
	op->kind = OP_REGION;
	op->device_self_ns = op->cpu_total_ns = op->cpu_self_ns = 0;
}

void sides_add(struct sides *s, struct side *side, uint64_t steps, const char *ops)
{
	struct op_summary *rows = arena_get_array(&s->arena, OPS_MAX, sizeof(*rows));
	struct window w = { .steps = steps, .has_device = true, .ops = rows };
	struct str rest = str_of(ops);
	struct err e = { 0 };

	while (rest.p != NULL && w.n_ops < OPS_MAX)
		read_op(str_split(&rest, ';'), &rows[w.n_ops++]);
	ck_assert_msg(side_add(side, &w, &e) == OK, "%s", e.text);
}

void sides_add_timed(struct sides *s, struct side *side, uint64_t steps, const struct timed_op *ops, size_t n)
{
	struct op_summary *rows = arena_get_array(&s->arena, n, sizeof(*rows));
	struct window w = { .steps = steps, .ops = rows, .n_ops = n };
	struct err e = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct op_summary *row = &rows[i];

		*row = (struct op_summary){ .kind = ops[i].kind, .name = str_of(ops[i].name), .calls = ops[i].calls };
		row->basis = OP_BASIS_CPU;
		for (uint64_t k = 0; k < row->calls; k++) {
			int64_t off = row->calls < 2 ? 0 : ops[i].median_ns / 25 * (int64_t)k / (int64_t)(row->calls - 1);
			int64_t ns = ops[i].median_ns * 49 / 50 + off;

			hist_add(&row->hist, ns);
			row->cpu_self_ns += ns;
		}
		row->cpu_total_ns = row->cpu_self_ns;
	}
	ck_assert_msg(side_add(side, &w, &e) == OK, "%s", e.text);
	for (size_t i = 0; i < n; i++)
		op_summary_fini(&rows[i]);
}

enum verdict_kind sides_judge(struct sides *s, enum judge_where where)
{
	struct err e = { 0 };

	ck_assert_msg(judge(s->before, s->after, where, &s->arena, &s->verdict, &e) == OK, "%s", e.text);
	return s->verdict.kind;
}

enum verdict_kind sides_of(struct sides *s, const char *before, const char *after)
{
	sides_add(s, s->before, 1, before);
	sides_add(s, s->after, 1, after);
	return sides_judge(s, JUDGE_DIFF);
}
