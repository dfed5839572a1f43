/* Op names of any bytes, on two sides: lines "calls microseconds name", a line "=" between the sides. Whatever they are,
 * there is a verdict, the same one twice, and none of a side beside itself. */
#include "base/must.h"
#include "detect/judge.h"
#include "tests/fuzz/fuzz.h"

enum { OPS_MAX = 512, COUNT_MAX = 1000000 };

static uint64_t read_count(struct str *line)
{
	struct str word = line->p == NULL ? STR("") : str_split(line, ' ');
	uint64_t n = 1;

	return str_to_u64(word, &n) == OK && n <= COUNT_MAX ? n : 1;
}

static void add_side(struct arena *a, struct side *s, struct str *rest)
{
	struct op_summary *ops = arena_get_array(a, OPS_MAX, sizeof(*ops));
	struct window w = { .steps = 1, .has_device = true, .ops = ops };

	while (rest->p != NULL && w.n_ops < OPS_MAX) {
		struct str line = str_split(rest, '\n');
		struct op_summary *op = &ops[w.n_ops];

		if (str_eq(line, STR("=")))
			break;
		*op = (struct op_summary){ .kind = OP_CPU_OP, .calls = read_count(&line) };
		op->device_total_ns = op->device_self_ns = op->cpu_total_ns = op->cpu_self_ns =
			(int64_t)read_count(&line) * 1000;
		op->name = line.p == NULL ? STR("") : line;
		w.n_ops++;
	}
	must(side_add(s, &w, NULL) == OK);
}

static enum verdict_kind verdict_of(const struct side *before, const struct side *after)
{
	struct verdict v;
	struct arena a;
	enum verdict_kind kind;

	arena_init(&a, 64 << 20);
	must(judge(before, after, JUDGE_DIFF, &a, &v, NULL) == OK);
	must((v.kind == VERDICT_NONE) == (v.n_findings == 0));
	for (size_t i = 0; i < v.n_findings; i++)
		must(!str_empty(v.findings[i].sentence));
	kind = v.kind;
	arena_fini(&a);
	return kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_make(data, size);
	struct fusion_table *t = NULL;
	struct side *before, *after;
	struct arena a;

	must(fusion_table_new(&t, NULL) == OK);
	arena_init(&a, 16 << 20);
	before = side_new(t);
	after = side_new(t);
	add_side(&a, before, &rest);
	add_side(&a, after, &rest);
	must(verdict_of(before, after) == verdict_of(before, after));
	must(verdict_of(before, before) == VERDICT_NONE);
	side_free(before);
	side_free(after);
	arena_fini(&a);
	fusion_table_free(t);
	return 0;
}
