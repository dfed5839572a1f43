/* pb_columns.h — the protobuf side of form_columns, and our enums ⇄ the proto's. */
#ifndef WIRE_PB_COLUMNS_H
#define WIRE_PB_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "profile/window.h"
#include "wire/form.h"
#include "wire/pb.h"

struct pb_column {
	size_t n_at, p_at; /* in pb_ops */
};

#define PB_COLUMN(field) { offsetof(pb_ops, n_##field), offsetof(pb_ops, field) }

/* In the order of form_columns. */
static const struct pb_column pb_columns[] = {
	PB_COLUMN(calls),	 PB_COLUMN(device_total_ns), PB_COLUMN(device_self_ns), PB_COLUMN(cpu_total_ns),
	PB_COLUMN(cpu_self_ns),	 PB_COLUMN(orphan_calls),    PB_COLUMN(orphan_ns),	PB_COLUMN(min_ns),
	PB_COLUMN(max_ns),	 PB_COLUMN(hist_zero),
};
_Static_assert(COUNT(pb_columns) == FORM_COLUMNS, "a place for every column");

static inline void pb_column_set(pb_ops *ops, size_t c, const uint64_t *column, size_t n)
{
	memcpy((char *)ops + pb_columns[c].n_at, &n, sizeof(n));
	memcpy((char *)ops + pb_columns[c].p_at, &column, sizeof(column));
}

static inline const uint64_t *pb_column_get(const pb_ops *ops, size_t c, size_t *n)
{
	const uint64_t *column;

	memcpy(n, (const char *)ops + pb_columns[c].n_at, sizeof(*n));
	memcpy(&column, (const char *)ops + pb_columns[c].p_at, sizeof(column));
	return column;
}

/* The proto's kinds are ours plus one: 0 is kept for "not said". The other two enums are the same numbers. */
_Static_assert((int)TRAINSPOTTER__V1__OP_KIND__OP_KIND_STEP == OP_STEP + 1, "kinds begin alike");
_Static_assert((int)TRAINSPOTTER__V1__OP_KIND__OP_KIND_RUNTIME == OP_RUNTIME + 1, "kinds are in one order");
_Static_assert((int)TRAINSPOTTER__V1__OP_KIND__OP_KIND_COLLECTIVE == OP_COLLECTIVE + 1, "kinds are in one order");
_Static_assert((int)TRAINSPOTTER__V1__OP_KIND__OP_KIND_GAP == OP_GAP + 1 && OP_GAP + 1 == OP_KINDS, "kinds end alike");
_Static_assert((int)TRAINSPOTTER__V1__OP_BASIS__OP_BASIS_DEVICE == OP_BASIS_DEVICE, "bases are alike");
_Static_assert((int)TRAINSPOTTER__V1__OP_BASIS__OP_BASIS_CPU == OP_BASIS_CPU && OP_BASIS_CPU + 1 == OP_BASES, "bases");
_Static_assert((int)TRAINSPOTTER__V1__STEPS_FROM__STEPS_FROM_OPTIMIZER == STEPS_OPTIMIZER, "steps are alike");
_Static_assert((int)TRAINSPOTTER__V1__STEPS_FROM__STEPS_FROM_ANCHOR == STEPS_ANCHOR && STEPS_ANCHOR + 1 == STEPS_FROMS,
	"steps end alike");

static inline Trainspotter__V1__OpKind pb_kind(enum op_kind kind)
{
	return (Trainspotter__V1__OpKind)((int)kind + 1);
}

static inline Trainspotter__V1__OpBasis pb_basis(enum op_basis basis)
{
	return (Trainspotter__V1__OpBasis)(int)basis;
}

static inline Trainspotter__V1__StepsFrom pb_steps_from(enum steps_from from)
{
	return (Trainspotter__V1__StepsFrom)(int)from;
}

#endif
