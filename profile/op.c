#include "profile/op.h"

#include "profile/name.h"
#include "profile/sum.h"

static const char *const kind_name[] = {
	[OP_STEP] = "step",
	[OP_CPU_OP] = "cpu_op",
	[OP_ANNOTATION] = "annotation",
	[OP_REGION] = "region",
	[OP_RUNTIME] = "runtime",
	[OP_OVERHEAD] = "overhead",
	[OP_KERNEL] = "kernel",
	[OP_MEMCPY] = "memcpy",
	[OP_MEMSET] = "memset",
	[OP_COLLECTIVE] = "collective",
	[OP_HLO] = "hlo",
	[OP_ENGINE] = "engine",
	[OP_GAP] = "gap",
};
_Static_assert(COUNT(kind_name) == OP_KINDS, "name every kind of op");

const char *op_kind_name(enum op_kind kind)
{
	return kind_name[kind];
}

int op_kind_parse(struct str word, enum op_kind *out)
{
	int at = name_find(kind_name, COUNT(kind_name), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum op_kind)at;
	return OK;
}

bool op_kind_on_device(enum op_kind kind)
{
	switch (kind) {
	case OP_KERNEL:
	case OP_MEMCPY:
	case OP_MEMSET:
	case OP_HLO:
	case OP_ENGINE: return true;
	case OP_STEP:
	case OP_CPU_OP:
	case OP_ANNOTATION:
	case OP_REGION:
	case OP_RUNTIME:
	case OP_OVERHEAD:
	case OP_COLLECTIVE:
	case OP_GAP:
	case OP_KINDS: return false;
	}
	return false;
}

bool op_is_device(const struct op_summary *op)
{
	return op_kind_on_device(op->kind) || (op->kind == OP_COLLECTIVE && op->cpu_total_ns == 0);
}

static void merge_single_times(struct op_summary *into, const struct op_summary *from)
{
	if (from->basis == OP_BASIS_NONE || into->basis != from->basis)
		return;
	if (hist_empty(&into->hist)) {
		into->min_ns = from->min_ns;
		into->max_ns = from->max_ns;
	} else if (!hist_empty(&from->hist)) {
		into->min_ns = from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
		into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
	}
	hist_merge(&into->hist, &from->hist);
}

void op_summary_merge(struct op_summary *into, const struct op_summary *from)
{
	if (into->calls == 0) {
		into->basis = from->basis;
		hist_reset(&into->hist);
	}
	merge_single_times(into, from);
	into->calls = sum_counts(into->calls, from->calls);
	into->orphan_calls = sum_counts(into->orphan_calls, from->orphan_calls);
	into->device_total_ns = sum_ns(into->device_total_ns, from->device_total_ns);
	into->device_self_ns = sum_ns(into->device_self_ns, from->device_self_ns);
	into->cpu_total_ns = sum_ns(into->cpu_total_ns, from->cpu_total_ns);
	into->cpu_self_ns = sum_ns(into->cpu_self_ns, from->cpu_self_ns);
	into->orphan_ns = sum_ns(into->orphan_ns, from->orphan_ns);
}

void op_summary_fini(struct op_summary *s)
{
	if (s != NULL)
		hist_fini(&s->hist);
}

int op_summary_cmp(const struct op_summary *a, const struct op_summary *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return str_cmp(a->name, b->name);
}
