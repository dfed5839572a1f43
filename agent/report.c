#include "agent/report.h"

#include "wire/wire.h"

enum { BATCH_BYTES_MAX = 4 << 20 };

void report_queue_init(struct report_queue *q)
{
	*q = (struct report_queue){ .batches = VEC_INIT(2 * REPORT_BATCHES_MAX) };
}

void report_queue_fini(struct report_queue *q)
{
	for (size_t i = q->first; i < q->batches.n; i++)
		buf_fini(&q->batches.v[i]);
	vec_fini(&q->batches);
	q->first = 0;
}

static void drop_first(struct report_queue *q)
{
	buf_fini(&q->batches.v[q->first++]);
	if (q->first < q->batches.n && q->first < REPORT_BATCHES_MAX)
		return;
	q->batches.n -= q->first;
	memmove(q->batches.v, q->batches.v + q->first, q->batches.n * sizeof(*q->batches.v));
	q->first = 0;
}

static int encode(const struct report_origin *o, struct window *w, struct buf *out, struct err *e)
{
	const struct wire_batch b = { .agent_id = o->agent_id, .agent_version = o->agent_version, .windows = w, .n_windows = 1 };
	int rc = sequence_next(o->sequence, w->id, e);

	if (rc == OK)
		rc = window_check(w, e);
	return rc == OK ? wire_encode(&b, out, e) : rc;
}

int report_push(struct report_queue *q, const struct report_origin *o, const char *source, struct window *w, struct err *e)
{
	struct buf b, *place;
	int rc;

	w->host = o->host;
	w->source = str_of(source);
	if (w->service.n == 0)
		w->service = STR("unknown");
	buf_init(&b, BATCH_BYTES_MAX);
	rc = encode(o, w, &b, e);
	if (rc == OK && q->batches.n - q->first == REPORT_BATCHES_MAX) {
		drop_first(q);
		q->lost++;
	}
	place = rc == OK ? vec_push(&q->batches) : NULL;
	if (place == NULL) {
		buf_fini(&b);
		q->lost++;
		return rc == OK ? err_set(e, E_NOMEM, "no memory for a report") : rc;
	}
	*place = b;
	q->made++;
	return OK;
}

bool report_pop(struct report_queue *q, struct buf *out)
{
	if (q->first == q->batches.n)
		return false;
	buf_str(out, buf_view(&q->batches.v[q->first]));
	drop_first(q);
	return true;
}
