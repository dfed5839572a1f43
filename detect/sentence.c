#include "detect/sentence.h"

#include <math.h>

#include "base/buf.h"
#include "base/clock.h"
#include "profile/sum.h"

enum { SENTENCE_BYTES_MAX = 64 * 1024, REPLACED_SHOWN = 6, NAME_MAX_SHOWN = 64, NAME_HEAD = 40, NAME_TAIL = 16 };

/* Two numbers that are compared have one unit where that reads well: microseconds, as long as the larger has at most
 * four digits. */
static void add_time(struct buf *b, double ns, double larger_ns)
{
	char text[CLOCK_TEXT];
	bool in_us = larger_ns >= 999.5 && larger_ns < 1e7;

	if (in_us && (ns == 0 || ns >= 100))
		buf_fmt(b, "%.*f µs", ns < 99950 && ns > 0 ? 1 : 0, ns / 1e3);
	else
		buf_str(b, clock_human(sum_round_ns(ns), text));
}

/* "3", "0.5": calls a step are whole almost always. */
static void add_count(struct buf *b, double calls)
{
	double whole = round(calls);

	if (fabs(calls - whole) < 0.005)
		buf_fmt(b, "%.0f", whole);
	else
		buf_fmt(b, calls < 10 ? "%.2f" : "%.1f", calls);
}

static void add_calls(struct buf *b, double calls)
{
	add_count(b, calls);
	buf_text(b, fabs(calls - 1) < 0.005 ? " call" : " calls");
}

static void add_percent(struct buf *b, struct before_after pair)
{
	if (pair.before > 0)
		buf_fmt(b, " (%+.0f %%)", (pair.after / pair.before - 1) * 100);
}

static void add_change(struct buf *b, struct before_after ns)
{
	add_time(b, ns.before, fmax(ns.before, ns.after));
	buf_text(b, " → ");
	add_time(b, ns.after, fmax(ns.before, ns.after));
}

/* "; the step went 9.10 ms → 10.4 ms (+14 %)" */
static void add_step(struct buf *b, const struct verdict *v)
{
	if (v == NULL || !v->has_step)
		return;
	buf_text(b, "; a step takes ");
	add_change(b, v->step_ns);
	add_percent(b, v->step_ns);
}

/* Kernels of inductor are named after all that is in them: of a long name the head and the end are shown. */
static void add_name(struct buf *b, struct str name)
{
	size_t tail = name.n < NAME_TAIL ? 0 : name.n - NAME_TAIL;

	if (str_chars(name) <= NAME_MAX_SHOWN) {
		buf_str(b, name);
		return;
	}
	while (tail < name.n && ((unsigned char)name.p[tail] & 0xc0) == 0x80)
		tail++; /* not from inside a character */
	buf_str(b, str_upto_chars(name, NAME_HEAD));
	buf_text(b, "…");
	buf_str(b, str_from(name, tail));
}

static double gained_calls(const struct op_change *c)
{
	return c->calls_per_step.after - c->calls_per_step.before;
}

static void add_replaced(struct buf *b, const struct finding *f)
{
	for (size_t i = 0; i < f->n_replaced_by && i < REPLACED_SHOWN; i++) {
		double calls = gained_calls(&f->replaced_by[i]);

		buf_text(b, i == 0 ? ": " : ", ");
		add_name(b, f->replaced_by[i].op);
		if (fabs(calls - 1) < 0.005)
			continue;
		buf_text(b, " ×");
		add_count(b, calls);
	}
	if (f->n_replaced_by > REPLACED_SHOWN)
		buf_fmt(b, " and %zu more", f->n_replaced_by - REPLACED_SHOWN);
}

/* "aten::_fused_rms_norm, 1 call of 403 µs a step, became 6 calls of 2355 µs: aten::mul ×3, aten::add, …" */
static void say_fusion(struct buf *b, const struct finding *f, const struct verdict *v)
{
	const struct op_change *op = &f->op;
	double calls = 0, ns = f->net_ns_per_step + op->time_per_step_ns.before - op->time_per_step_ns.after;
	double larger = fmax(ns, op->time_per_step_ns.before);

	for (size_t i = 0; i < f->n_replaced_by; i++)
		calls += gained_calls(&f->replaced_by[i]);
	add_name(b, op->op);
	buf_text(b, ", ");
	add_calls(b, op->calls_per_step.before);
	buf_text(b, " of ");
	add_time(b, op->time_per_step_ns.before, larger);
	buf_text(b, " a step, ");
	if (op->calls_per_step.after > 0) {
		buf_text(b, "is down to ");
		add_count(b, op->calls_per_step.after);
		buf_text(b, "; in its place came ");
	} else {
		buf_text(b, "became ");
	}
	add_calls(b, calls);
	buf_text(b, " of ");
	add_time(b, ns, larger);
	add_replaced(b, f);
	add_step(b, v);
}

static void say_graph_breaks(struct buf *b, const struct finding *f, const struct verdict *v)
{
	add_name(b, f->op.op);
	buf_text(b, " runs ");
	add_count(b, f->op.calls_per_step.after);
	buf_text(b, " times a step, was ");
	add_count(b, f->op.calls_per_step.before);
	buf_text(b, ": the graph breaks into more pieces");
	add_step(b, v);
}

static void say_host_gap(struct buf *b, const struct finding *f, const struct verdict *v)
{
	buf_text(b, "the device waits between launches: gaps of ");
	add_change(b, f->op.time_per_step_ns);
	buf_text(b, " a step, while the work itself takes as long as before");
	add_step(b, v);
}

static void say_cpu_fallback(struct buf *b, const struct finding *f, const struct verdict *v)
{
	add_name(b, f->op.op);
	buf_text(b, " runs on the CPU now, ");
	add_calls(b, f->op.calls_per_step.after);
	buf_text(b, " of ");
	add_time(b, f->op.time_per_step_ns.after, f->op.time_per_step_ns.after);
	buf_text(b, " a step");
	add_step(b, v);
}

static double per_call(double ns, double calls)
{
	return calls > 0 ? ns / calls : 0;
}

static void say_op_slower(struct buf *b, const struct finding *f, const struct verdict *v)
{
	struct before_after each = {
		per_call(f->op.time_per_step_ns.before, f->op.calls_per_step.before),
		per_call(f->op.time_per_step_ns.after, f->op.calls_per_step.after),
	};

	add_name(b, f->op.op);
	buf_fmt(b, " takes %.2f times as long: ", f->ratio);
	add_change(b, each);
	buf_text(b, " a call, ");
	add_calls(b, f->op.calls_per_step.after);
	buf_text(b, " a step");
	add_step(b, v);
}

static void say_step_slower(struct buf *b, const struct finding *f, const struct verdict *v)
{
	(void)v;
	buf_fmt(b, "all ops take about %.2f times as long (machine, clock or input): a step takes ", f->ratio);
	add_change(b, f->op.time_per_step_ns);
	add_percent(b, f->op.time_per_step_ns);
}

static void say(struct buf *b, const struct finding *f, const struct verdict *v)
{
	switch (f->kind) {
	case VERDICT_FUSION_LOST:
	case VERDICT_FUSION_CHANGED:
		say_fusion(b, f, v);
		break;
	case VERDICT_GRAPH_BREAKS:
		say_graph_breaks(b, f, v);
		break;
	case VERDICT_HOST_GAP:
		say_host_gap(b, f, v);
		break;
	case VERDICT_CPU_FALLBACK:
		say_cpu_fallback(b, f, v);
		break;
	case VERDICT_OP_SLOWER:
		say_op_slower(b, f, v);
		break;
	case VERDICT_STEP_SLOWER:
		say_step_slower(b, f, v);
		break;
	case VERDICT_NONE:
	case VERDICTS:
		break;
	}
}

struct str sentence_of(const struct finding *f, const struct verdict *v, struct arena *a)
{
	struct buf b;
	struct str s;

	buf_init(&b, SENTENCE_BYTES_MAX);
	say(&b, f, v);
	s = arena_str(a, buf_view(&b));
	buf_fini(&b);
	return s;
}
