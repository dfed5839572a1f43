#include "profile/window.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/enc.h"
#include "json/text.h"
#include "profile/name.h"

static const char *const steps_name[] = {
	[STEPS_NONE] = "none",
	[STEPS_MARKER] = "marker",
	[STEPS_EXECUTIONS] = "executions",
	[STEPS_OPTIMIZER] = "optimizer",
	[STEPS_ANCHOR] = "anchor",
};
_Static_assert(COUNT(steps_name) == STEPS_FROMS, "name every source of steps");

const char *steps_from_name(enum steps_from f)
{
	return steps_name[f];
}

int steps_from_parse(struct str word, enum steps_from *out)
{
	int at = name_find(steps_name, COUNT(steps_name), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum steps_from)at;
	return OK;
}

void window_fini(struct window *w)
{
	if (w == NULL)
		return;
	for (size_t i = 0; i < w->n_ops; i++)
		op_summary_fini(&w->ops[i]);
	w->n_ops = 0;
	w->ops = NULL;
}

static int check_text(struct str s, size_t cap, const char *what, struct err *e)
{
	if (s.n > cap)
		return err_set(e, E_LIMIT, "%s: %zu bytes, at most %zu", what, s.n, cap);
	if (!json_utf8_valid(s))
		return err_set(e, E_FORMAT, "%s: not UTF-8", what);
	if (str_find_byte(s, '\0') < s.n)
		return err_set(e, E_FORMAT, "%s: holds a NUL", what);
	return OK;
}

static int check_named(struct str s, size_t cap, const char *what, struct err *e)
{
	if (s.n == 0)
		return err_set(e, E_FORMAT, "%s: empty", what);
	return check_text(s, cap, what, e);
}

static int check_count(size_t n, size_t cap, const char *what, struct err *e)
{
	return n > cap ? err_set(e, E_LIMIT, "%s: %zu of them, at most %zu", what, n, cap) : OK;
}

static int check_texts(const struct window *w, struct err *e)
{
	int rc = check_named(w->service, WINDOW_TEXT_MAX, "service", e);

	if (rc == OK)
		rc = check_named(w->host, WINDOW_TEXT_MAX, "host", e);
	if (rc == OK)
		rc = check_text(w->deploy, WINDOW_TEXT_MAX, "deploy", e);
	if (rc == OK)
		rc = check_text(w->worker, WINDOW_TEXT_MAX, "worker", e);
	if (rc == OK)
		rc = check_text(w->source, WINDOW_TEXT_MAX, "source", e);
	return rc;
}

static int check_times(const struct window *w, struct err *e)
{
	int64_t end;

	if (w->start_ns < 0)
		return err_set(e, E_FORMAT, "start_ns: %" PRId64 ", before 1970", w->start_ns);
	if (w->dur_ns < 0)
		return err_set(e, E_FORMAT, "dur_ns: %" PRId64 ", negative", w->dur_ns);
	if (__builtin_add_overflow(w->start_ns, w->dur_ns, &end) || end >= WINDOW_END_NS)
		return err_set(e, E_FORMAT, "dur_ns: %" PRId64 " from %" PRId64 " on, ends after the year 2261", w->dur_ns,
			w->start_ns);
	if ((unsigned)w->steps_from >= STEPS_FROMS)
		return err_set(e, E_FORMAT, "steps_from: %u, not a source of steps", (unsigned)w->steps_from);
	if (w->flags & ~(uint32_t)(WINDOW_TRUNCATED | WINDOW_DAMAGED))
		return err_set(e, E_FORMAT, "flags: %#x, unknown bits", (unsigned)w->flags);
	return OK;
}

static int check_labels(const struct label *labels, size_t n, const char *what, struct err *e)
{
	int rc = check_count(n, WINDOW_LABELS_MAX, what, e);

	for (size_t i = 0; rc == OK && i < n; i++) {
		rc = check_named(labels[i].key, WINDOW_TEXT_MAX, "key", e);
		if (rc == OK)
			rc = check_text(labels[i].value, WINDOW_TEXT_MAX, "value", e);
		if (rc != OK)
			err_add(e, "%s[%zu]", what, i);
	}
	return rc;
}

static int check_gauge(const struct gauge *g, struct err *e)
{
	int rc = check_named(g->name, WINDOW_NAME_MAX, "name", e);

	if (rc == OK)
		rc = check_text(g->unit, WINDOW_TEXT_MAX, "unit", e);
	if (rc == OK && !isfinite(g->value))
		rc = err_set(e, E_FORMAT, "value: not a finite number");
	if (rc == OK)
		rc = check_labels(g->labels, g->n_labels, "labels", e);
	return rc;
}

static int check_gauges(const struct window *w, struct err *e)
{
	int rc = check_count(w->n_gauges, WINDOW_GAUGES_MAX, "gauges", e);

	for (size_t i = 0; rc == OK && i < w->n_gauges; i++) {
		rc = check_gauge(&w->gauges[i], e);
		if (rc != OK)
			err_add(e, "gauges[%zu]", i);
	}
	return rc;
}

/* Self CPU time alone may be negative: PyTorch subtracts all direct children, and siblings may overlap. */
static int check_op_times(const struct op_summary *op, struct err *e)
{
	const struct {
		const char *what;
		int64_t ns;
	} times[] = {
		{ "device_total_ns", op->device_total_ns },
		{ "device_self_ns", op->device_self_ns },
		{ "cpu_total_ns", op->cpu_total_ns },
		{ "orphan_ns", op->orphan_ns },
	};

	for (size_t i = 0; i < COUNT(times); i++)
		if (times[i].ns < 0)
			return err_set(e, E_FORMAT, "%s: %" PRId64 ", negative", times[i].what, times[i].ns);
	if (op->orphan_calls > op->calls)
		return err_set(e, E_FORMAT, "orphan_calls: %" PRIu64 ", more than calls (%" PRIu64 ")",
			op->orphan_calls, op->calls);
	if (op->orphan_ns > op->device_self_ns)
		return err_set(e, E_FORMAT, "orphan_ns: %" PRId64 ", more than device_self_ns (%" PRId64 ")",
			op->orphan_ns, op->device_self_ns);
	return OK;
}

static int check_op_hist(const struct op_summary *op, struct err *e)
{
	uint64_t in_hist = hist_count(&op->hist);

	if ((unsigned)op->basis >= OP_BASES)
		return err_set(e, E_FORMAT, "basis: %u, not a basis", (unsigned)op->basis);
	if (op->basis == OP_BASIS_NONE)
		return in_hist == 0
			? OK
			: err_set(e, E_FORMAT, "hist: %" PRIu64 " values without a basis", in_hist);
	if (in_hist != op->calls)
		return err_set(
			e, E_FORMAT, "hist: %" PRIu64 " values for %" PRIu64 " calls", in_hist, op->calls);
	if (op->min_ns > op->max_ns)
		return err_set(e, E_FORMAT, "min_ns: %" PRId64 ", more than max_ns (%" PRId64 ")", op->min_ns,
			op->max_ns);
	return OK;
}

static int check_op(const struct op_summary *op, struct err *e)
{
	int rc = check_text(op->name, WINDOW_NAME_MAX, "name", e);

	if (rc == OK && (unsigned)op->kind >= OP_KINDS)
		rc = err_set(e, E_FORMAT, "kind: %u, not a kind", (unsigned)op->kind);
	if (rc == OK && op->calls == 0)
		rc = err_set(e, E_FORMAT, "calls: none");
	if (rc == OK)
		rc = check_op_times(op, e);
	if (rc == OK)
		rc = check_op_hist(op, e);
	return rc;
}

/* Over all ops, so that whoever adds them up later cannot overflow. */
struct op_sums {
	uint64_t calls, buckets;
	int64_t device_total_ns, device_self_ns, cpu_total_ns, cpu_self_ns;
};

static bool sums_fit(struct op_sums *sums, const struct op_summary *op)
{
	return !__builtin_add_overflow(sums->calls, op->calls, &sums->calls) &&
		!__builtin_add_overflow(sums->device_total_ns, op->device_total_ns, &sums->device_total_ns) &&
		!__builtin_add_overflow(sums->device_self_ns, op->device_self_ns, &sums->device_self_ns) &&
		!__builtin_add_overflow(sums->cpu_total_ns, op->cpu_total_ns, &sums->cpu_total_ns) &&
		!__builtin_add_overflow(sums->cpu_self_ns, op->cpu_self_ns, &sums->cpu_self_ns);
}

static int check_one_op(const struct window *w, size_t i, struct op_sums *sums, struct err *e)
{
	const struct op_summary *op = &w->ops[i];
	int rc = check_op(op, e);

	if (rc != OK)
		return rc;
	if (i > 0 && op_summary_cmp(op - 1, op) >= 0)
		return err_set(e, E_FORMAT, "out of order, or twice: %s %.*s", op_kind_name(op->kind),
			STR_ARG(str_upto(op->name, 80)));
	if (!sums_fit(sums, op))
		return err_set(e, E_LIMIT, "the sum over all ops does not fit 64 bits");
	sums->buckets += hist_used(&op->hist);
	if (sums->buckets > WINDOW_BUCKETS_MAX)
		return err_set(e, E_LIMIT, "hist: more than %d buckets in all ops", (int)WINDOW_BUCKETS_MAX);
	return OK;
}

static int check_ops(const struct window *w, struct err *e)
{
	struct op_sums sums = { 0 };
	int rc = check_count(w->n_ops, WINDOW_OPS_MAX, "ops", e);

	for (size_t i = 0; rc == OK && i < w->n_ops; i++) {
		rc = check_one_op(w, i, &sums, e);
		if (rc != OK)
			err_add(e, "ops[%zu]", i);
	}
	return rc;
}

int window_check(const struct window *w, struct err *e)
{
	int rc = check_texts(w, e);

	if (rc == OK)
		rc = check_times(w, e);
	if (rc == OK)
		rc = check_labels(w->labels, w->n_labels, "labels", e);
	if (rc == OK)
		rc = check_labels(w->versions, w->n_versions, "versions", e);
	if (rc == OK)
		rc = check_gauges(w, e);
	if (rc == OK)
		rc = check_ops(w, e);
	return rc;
}

static int by_kind_and_name(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

const struct op_summary *window_op(const struct window *w, enum op_kind kind, struct str name)
{
	const struct op_summary key = { .kind = kind, .name = name };

	if (w->n_ops == 0)
		return NULL;
	return bsearch(&key, w->ops, w->n_ops, sizeof(*w->ops), by_kind_and_name);
}

const struct gauge *window_gauge(const struct window *w, struct str name)
{
	for (size_t i = 0; i < w->n_gauges; i++)
		if (str_eq(w->gauges[i].name, name))
			return &w->gauges[i];
	return NULL;
}

void window_id_text(const uint8_t id[WINDOW_ID], char out[WINDOW_ID_TEXT])
{
	enc_hex(id, WINDOW_ID, out);
}

int window_id_parse(struct str text, uint8_t id[WINDOW_ID])
{
	return enc_unhex(text, id, WINDOW_ID);
}
