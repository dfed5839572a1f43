/* store_merged: everything that matches as one set of summaries. */
#include "base/mem.h"
#include "store/codec.h"
#include "store/inside.h"
#include "store/scan.h"

enum { MERGED_OPS_MAX = 400000 };

struct merging {
	struct reader *reader;
	const struct query *query;
	struct profile_merge *merge;
	struct op_summary op; /* room for one, decoded */
};

static bool wanted(const struct query *q, const struct op_summary *op)
{
	return (!q->has_kind || q->kind == op->kind) && (str_empty(q->op) || str_eq(q->op, op->name));
}

static int merge_op(struct merging *m, uint32_t id, struct str record, struct err *e)
{
	int rc = names_op(m->reader->names, id, &m->op.kind, &m->op.name, e);

	if (rc < 0 || !wanted(m->query, &m->op))
		return rc;
	rc = codec_get_op(record, &m->op, e);
	if (rc < 0)
		return rc;
	rc = profile_merge_add_op(m->merge, &m->op);
	return rc < 0 ? err_set(e, rc,
				"merging: more than %d different ops: ask for a shorter range or one service",
				MERGED_OPS_MAX)
		      : OK;
}

static int merge_row(void *arg, const struct scan_row *row, struct err *e)
{
	struct merging *m = arg;
	struct codec_ops ops;
	struct str record;
	uint32_t id;
	int rc = codec_ops_open(&ops, row->ops, e), more = 1;

	profile_merge_add_steps(
		m->merge, row->windows, row->steps, row->has_device, row->first_ns, row->last_ns);
	while (rc == OK && (more = codec_ops_next(&ops, &id, &record, e)) > 0)
		rc = merge_op(m, id, record, e);
	return rc < 0 ? rc : more;
}

static int merged_read(struct merging *m, int64_t *tier_ns, struct err *e)
{
	struct filter f;
	struct scan sc;
	int rc = filter_of(&f, m->query, m->reader->names, e);

	if (rc == OK)
		rc = scan_plan(&sc, &f, true, m->reader, e);
	if (rc == OK)
		rc = scan_run(&sc, m->reader, merge_row, m, e);
	*tier_ns = rc == OK && sc.hours ? NS_PER_HOUR : 0;
	return rc;
}

int store_merged(
	struct store *st, const struct query *q, struct profile_merge **out, int64_t *tier_ns, struct err *e)
{
	struct merging m = { .query = q };
	int rc = reader_take(&st->readers, &m.reader, e);

	*out = NULL;
	if (rc < 0)
		return rc;
	m.merge = profile_merge_new(MERGED_OPS_MAX);
	rc = merged_read(&m, tier_ns, e);
	reader_give(&st->readers, m.reader);
	op_summary_fini(&m.op);
	metric_add(st->queries, 1);
	if (rc < 0)
		profile_merge_free(m.merge);
	else
		*out = m.merge;
	return rc;
}
