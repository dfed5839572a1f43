#include "profile/verdict.h"

#include <math.h>

#include "profile/name.h"

static const char *const kind_name[] = {
	[VERDICT_NONE] = "none",
	[VERDICT_FUSION_LOST] = "fusion_lost",
	[VERDICT_FUSION_CHANGED] = "fusion_changed",
	[VERDICT_GRAPH_BREAKS] = "graph_breaks",
	[VERDICT_HOST_GAP] = "host_gap",
	[VERDICT_CPU_FALLBACK] = "cpu_fallback",
	[VERDICT_OP_SLOWER] = "op_slower",
	[VERDICT_STEP_SLOWER] = "step_slower",
};
_Static_assert(COUNT(kind_name) == VERDICTS, "name every kind of verdict");

const char *verdict_name(enum verdict_kind k)
{
	return kind_name[k];
}

int verdict_parse(struct str word, enum verdict_kind *out)
{
	int at = name_find(kind_name, COUNT(kind_name), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum verdict_kind)at;
	return OK;
}

/* Halves away from zero; what no 64-bit number can hold is null. */
static void write_ns(struct json_writer *w, const char *key, double ns)
{
	jw_key(w, key);
	if (isfinite(ns) && fabs(ns) < 9.2e18)
		jw_i64(w, (int64_t)llround(ns));
	else
		jw_null(w);
}

static void write_pair_ns(struct json_writer *w, const char *key, struct before_after pair)
{
	jw_key_object(w, key);
	write_ns(w, "before", pair.before);
	write_ns(w, "after", pair.after);
	jw_end(w);
}

static void write_pair(struct json_writer *w, const char *key, struct before_after pair)
{
	jw_key_object(w, key);
	jw_key_double(w, "before", pair.before);
	jw_key_double(w, "after", pair.after);
	jw_end(w);
}

static void write_change(struct json_writer *w, const struct op_change *c)
{
	jw_key_str(w, "op", c->op);
	write_pair(w, "calls_per_step", c->calls_per_step);
	write_pair_ns(w, "time_per_step_ns", c->time_per_step_ns);
}

/* Numbers that only some detectors have are left out elsewhere. */
static void write_if_known(struct json_writer *w, const char *key, double v)
{
	if (fpclassify(v) != FP_ZERO)
		jw_key_double(w, key, v);
}

static void write_finding(struct json_writer *w, const struct finding *f)
{
	jw_object(w);
	jw_key_text(w, "kind", verdict_name(f->kind));
	write_change(w, &f->op);
	jw_key_array(w, "replaced_by");
	for (size_t i = 0; i < f->n_replaced_by; i++) {
		jw_object(w);
		write_change(w, &f->replaced_by[i]);
		jw_end(w);
	}
	jw_end(w);
	write_ns(w, "net_ns_per_step", f->net_ns_per_step);
	jw_key_double(w, "share", f->share);
	write_if_known(w, "kappa", f->kappa);
	write_if_known(w, "pieces", f->pieces);
	write_if_known(w, "ratio", f->ratio);
	write_if_known(w, "z", f->z);
	jw_key_str(w, "why", f->why);
	jw_key_str(w, "sentence", f->sentence);
	jw_end(w);
}

void verdict_write_members(struct json_writer *w, const struct verdict *v)
{
	jw_key_text(w, "verdict", verdict_name(v->kind));
	jw_key_bool(w, "has_step", v->has_step);
	write_pair_ns(w, "step_ns", v->step_ns);
	write_pair(w, "launches_per_step", v->launches_per_step);
	jw_key_array(w, "findings");
	for (size_t i = 0; i < v->n_findings; i++)
		write_finding(w, &v->findings[i]);
	jw_end(w);
}
