#include "api/row.h"

#include "profile/sum.h"

void row_write_names(struct json_writer *w, const struct op_summary *op)
{
	jw_key_text(w, "kind", op_kind_name(op->kind));
	jw_key_str(w, "op", op->name);
	jw_key_u64(w, "calls", op->calls);
}

void row_write_sums(struct json_writer *w, const struct op_summary *op)
{
	jw_key_i64(w, "device_total_ns", op->device_total_ns);
	jw_key_i64(w, "device_self_ns", op->device_self_ns);
	jw_key_i64(w, "cpu_total_ns", op->cpu_total_ns);
	jw_key_i64(w, "cpu_self_ns", op->cpu_self_ns);
}

static const char *basis_name(enum op_basis b)
{
	switch (b) {
	case OP_BASIS_DEVICE: return "device";
	case OP_BASIS_CPU: return "cpu";
	case OP_BASIS_NONE:
	case OP_BASES: break;
	}
	return "none";
}

void row_write_per_call(struct json_writer *w, const struct op_summary *op)
{
	jw_key_text(w, "basis", basis_name(op->basis));
	if (op->basis == OP_BASIS_NONE || hist_empty(&op->hist)) {
		jw_key_null(w, "min_ns");
		jw_key_null(w, "max_ns");
		jw_key_null(w, "p50_ns");
		jw_key_null(w, "p99_ns");
		return;
	}
	jw_key_i64(w, "min_ns", op->min_ns);
	jw_key_i64(w, "max_ns", op->max_ns);
	jw_key_i64(w, "p50_ns", sum_round_ns(hist_quantile(&op->hist, 0.50)));
	jw_key_i64(w, "p99_ns", sum_round_ns(hist_quantile(&op->hist, 0.99)));
}

int64_t row_time_ns(const struct op_summary *op, bool has_device)
{
	if (op->kind == OP_STEP)
		return op->cpu_total_ns;
	if (op->kind == OP_GAP)
		return op->device_total_ns;
	return has_device ? op->device_self_ns : op->cpu_self_ns;
}

int64_t row_own_time_ns(const struct op_summary *op, bool has_device)
{
	if (op->kind == OP_STEP || op->kind == OP_GAP || op->kind == OP_ENGINE)
		return 0;
	if (!has_device)
		return op->cpu_self_ns;
	return op_is_device(op) ? op->orphan_ns : op->device_self_ns;
}

bool row_kind_is_extra(enum op_kind kind)
{
	return kind == OP_STEP || kind == OP_GAP || kind == OP_ENGINE || kind == OP_OVERHEAD;
}
