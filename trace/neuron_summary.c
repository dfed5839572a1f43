#include "trace/neuron_summary.h"

#include "json/num.h"
#include "trace/walk.h"

enum { PAIRS_MAX = 20000, PAIRS_BYTES_MAX = 8 << 20, BLOCK_LABELS = 4 };

/* ---- what the ending of a name tells */

#define DAYS_S (31.0 * 86400)
#define BYTES_MAX 1152921504606846976.0 /* 2^60 */
#define FLOPS_MAX 1.2676506002282294e30 /* 2^100 */
#define COUNT_MAX 1e30

static const struct unit_rule {
	const char *suffix, *instead, *unit;
	double max;
} unit_rules[] = {
	{ "_percent", "_ratio", "ratio", 1.01 }, /* rounding may lift a whole a little */
	{ "_ns", "_ns", "ns", DAYS_S * 1e9 },
	{ "_time", "_time", "s", DAYS_S },
	{ "_bytes", "_bytes", "bytes", BYTES_MAX },
	{ "_size", "_size", "bytes", BYTES_MAX },
	{ "_flops", "_flops", "flops", FLOPS_MAX },
	{ "_cycles", "_cycles", "cycles", COUNT_MAX },
	{ "_cycle_count", "_cycle_count", "cycles", COUNT_MAX },
	{ "", "", "1", COUNT_MAX },
};

static const struct {
	const char *field, *key;
} versions[] = {
	{ "compiler_version", "compiler" },	  { "runtime_version", "runtime" },
	{ "driver_version", "driver" },		  { "collectives_version", "collectives" },
	{ "profiler_version", "profiler" },	  { "explorer_version", "profiler" },
	{ "profile_schema_version", "schema" },
};

/* Sums of a kind: where the file has both. */
static const struct {
	enum op_kind kind;
	const char *name, *time, *count;
} sums[] = {
	{ OP_ENGINE, "Tensor", "tensor_engine_instruction_time", "tensor_engine_instruction_count" },
	{ OP_ENGINE, "Vector", "vector_engine_instruction_time", "vector_engine_instruction_count" },
	{ OP_ENGINE, "Scalar", "scalar_engine_instruction_time", "scalar_engine_instruction_count" },
	{ OP_ENGINE, "GpSimd", "gpsimd_engine_instruction_time", "gpsimd_engine_instruction_count" },
	{ OP_ENGINE, "Sync", "sync_engine_instruction_time", "sync_engine_instruction_count" },
	{ OP_ENGINE, "DMA", "dma_transfer_time", "dma_transfer_count" },
	{ OP_COLLECTIVE, "cc_op", "cc_op_time", "cc_op_count" },
};

/* ---- one block: fields come in any order, so they are kept until its end */

struct pair {
	struct str name, sub, value;
	uint64_t offset;
};
VEC(pairs, struct pair);

struct summary {
	struct draft *d;
	struct trace_report *report;
	struct arena scratch;
	struct pairs pairs;
	bool with_ops;
	int64_t total_ns;
	uint64_t n_fields;
};

static const struct pair *find(const struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->pairs.n; i++)
		if (s->pairs.v[i].sub.n == 0 && str_eq(s->pairs.v[i].name, str_of(name)))
			return &s->pairs.v[i];
	return NULL;
}

static void impossible(struct summary *s, const struct pair *p)
{
	trace_report_add(s->report, TRACE_BAD_VALUE, 1, p->offset);
}

/* Seconds to nanoseconds, -1 where the field is not there or impossible. */
static int64_t seconds(const struct summary *s, const char *name)
{
	const struct pair *p = find(s, name);
	int64_t ns;

	if (p == NULL || json_fixed(p->value, 9, &ns) < 0 || !neuron_dur_possible(ns))
		return -1;
	return ns;
}

static void add_sums(struct summary *s)
{
	for (size_t i = 0; i < COUNT(sums); i++) {
		const struct pair *count = find(s, sums[i].count);
		int64_t ns = seconds(s, sums[i].time);
		uint64_t calls;

		if (count == NULL || ns < 0 || json_u64(count->value, &calls) < 0 || calls == 0 || calls >> 60 != 0)
			continue;
		draft_sum(draft_op_exact(s->d, sums[i].kind, str_of(sums[i].name)), calls, ns);
	}
}

static bool take_text(struct summary *s, const struct pair *p)
{
	for (size_t i = 0; i < COUNT(versions); i++)
		if (str_eq(p->name, str_of(versions[i].field))) {
			draft_version(s->d, str_of(versions[i].key), p->value);
			return true;
		}
	if (!str_eq(p->name, STR("instance_type")))
		return false;
	draft_label(s->d, STR("instance_type"), p->value);
	return true;
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* "throttle_active_nc5_time" is "throttle_active_time" of core 5. */
static bool take_core(struct str *name, struct arena *a, struct str *core)
{
	struct str rest = *name, part;

	while (rest.p != NULL) {
		part = str_split(&rest, '_');
		if (!str_drop_prefix(&part, STR("nc")) || !is_digits(part) || part.p - 3 < name->p)
			continue;
		*core = part;
		*name = arena_fmt(a, "%.*s%.*s", (int)(part.p - 3 - name->p), name->p,
			(int)(name->p + name->n - part.p - part.n), part.p + part.n);
		return true;
	}
	return false;
}

static const struct unit_rule *rule_of(struct str name)
{
	const struct unit_rule *r = unit_rules;

	while (!str_has_suffix(name, str_of(r->suffix)))
		r++; /* the last one matches all */
	return r;
}

struct block_labels {
	struct label v[BLOCK_LABELS];
	size_t n;
};

static void add_label(struct block_labels *l, struct str key, struct str value)
{
	if (value.n > 0 && l->n < BLOCK_LABELS)
		l->v[l->n++] = (struct label){ key, value };
}

static void set_core(struct block_labels *l, struct str core)
{
	if (l->n > 0 && str_eq(l->v[0].key, STR("nc")))
		l->v[0].value = core;
	else
		add_label(l, STR("nc"), core);
}

static void take_number(struct summary *s, const struct pair *p, struct block_labels labels)
{
	const struct unit_rule *r = rule_of(p->name);
	struct str name = p->name, core;
	double value;

	if (json_double(p->value, &value) < 0)
		return; /* a text that is of no use here */
	if (!(value >= 0 && value <= r->max)) {
		impossible(s, p);
		return;
	}
	name.n -= strlen(r->suffix);
	if (take_core(&name, &s->scratch, &core))
		set_core(&labels, core);
	add_label(&labels, STR("type"), p->sub);
	name = arena_fmt(&s->scratch, "%.*s%s", STR_ARG(name), r->instead);
	draft_gauge(s->d, DRAFT_MEAN, name, str_of(r->unit), value, labels.v, labels.n);
	s->n_fields++;
}

static struct str value_of(const struct summary *s, const char *name)
{
	const struct pair *p = find(s, name);

	return p == NULL ? str_make("", 0) : p->value;
}

static void forget_block(struct summary *s)
{
	s->pairs.n = 0;
	arena_reset(&s->scratch);
}

static void end_block(struct summary *s)
{
	struct block_labels labels = { .n = 0 };
	int64_t total_ns;

	if (arena_full(&s->scratch)) { /* texts are missing */
		trace_report_add(s->report, TRACE_TOO_MANY, s->pairs.n, s->pairs.n > 0 ? s->pairs.v[0].offset : 0);
		forget_block(s);
		return;
	}
	total_ns = seconds(s, "total_time");
	add_label(&labels, STR("nc"), value_of(s, "nc_idx"));
	add_label(&labels, STR("nd"), value_of(s, "nd_idx"));
	vec_each(p, &s->pairs)
		if (!take_text(s, p) && !str_eq(p->name, STR("nc_idx")) && !str_eq(p->name, STR("nd_idx")))
			take_number(s, p, labels);
	if (s->with_ops)
		add_sums(s);
	s->total_ns = total_ns > s->total_ns ? total_ns : s->total_ns;
	forget_block(s);
}

/* ---- the walk: BLOCK/name, BLOCK/name/sub, or name and name/sub where the file is one block */

/* Whether the walk is in a block of its own, or has just left one: any object but the counts by type. */
static bool is_block(const struct walk *w)
{
	return w->list[0] || !(w->list[1] || str_has_suffix(walk_key(w, 0), STR("_count")));
}

static void on_leaf(void *arg, const struct walk *w, struct str value, uint64_t offset)
{
	struct summary *s = arg;
	unsigned skip = w->depth > 1 && is_block(w);
	struct pair *p;

	if (w->depth - skip > 2 || w->list[w->depth - 1])
		return;
	p = vec_push(&s->pairs);
	if (p == NULL) {
		trace_report_add(s->report, TRACE_TOO_MANY, 1, offset);
		return;
	}
	p->name = arena_str(&s->scratch, walk_key(w, skip));
	if (w->depth - skip == 2)
		p->sub = arena_str(&s->scratch, walk_key(w, skip + 1));
	p->value = arena_str(&s->scratch, value);
	p->offset = offset;
}

static void on_end(void *arg, const struct walk *w)
{
	if (w->depth == 0 || (w->depth == 1 && is_block(w)))
		end_block(arg);
}

static void summary_init(struct summary *s, struct tokens *t, struct draft *d, bool with_ops)
{
	*s = (struct summary){ .d = d, .report = t->report, .pairs = VEC_INIT(PAIRS_MAX), .with_ops = with_ops,
		.total_ns = -1 };
	arena_init(&s->scratch, PAIRS_BYTES_MAX);
}

static void summary_fini(struct summary *s)
{
	vec_fini(&s->pairs);
	arena_fini(&s->scratch);
}

bool neuron_summary_inside(struct tokens *t, bool list, struct draft *d, int64_t *total_ns)
{
	struct summary s;
	const struct walk_visitor visitor = { on_leaf, on_end, &s };
	bool whole;

	summary_init(&s, t, d, false);
	whole = walk_inside(t, list, &visitor);
	end_block(&s); /* what stands before damage counts */
	if (s.total_ns > *total_ns)
		*total_ns = s.total_ns;
	summary_fini(&s);
	return whole;
}

static int read_all(struct summary *s, struct tokens *t, struct err *e)
{
	const struct walk_visitor visitor = { on_leaf, on_end, s };
	struct json_value v;
	enum json_token tok = tokens_next(t, &v);

	if (t->rc < 0)
		return t->rc;
	if (tok != JSON_OBJECT && tok != JSON_ARRAY)
		return err_set(e, E_FORMAT, "no summary: it must be a JSON object with one member a profile");
	(void)walk_inside(t, tok == JSON_ARRAY, &visitor);
	end_block(s);
	return tokens_finish(t);
}

int neuron_summary_read(struct arena *a, struct tokens *t, struct window *out, struct err *e)
{
	struct summary s;
	struct draft d;
	int rc;

	*out = (struct window){ 0 };
	draft_init(&d, a);
	summary_init(&s, t, &d, true);
	rc = read_all(&s, t, e);
	if (rc == OK && s.n_fields == 0)
		rc = err_set(e, E_FORMAT, "no summary: no numbers in it");
	if (rc == OK)
		rc = draft_finish(&d, out, e);
	if (rc == OK) {
		out->has_device = out->n_ops > 0;
		out->dur_ns = s.total_ns > 0 ? s.total_ns : 0;
		out->events = t->report->events = s.n_fields;
		trace_report_add(t->report, TRACE_TOO_MANY, draft_dropped(&d), 0);
	}
	summary_fini(&s);
	draft_fini(&d);
	return rc;
}
