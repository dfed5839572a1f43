#include "store/reader.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/must.h"

static const int64_t reader_wait_ns = 10 * NS_PER_S; /* for an idle connection */
static const int64_t reader_deadline_ns = 20 *
	NS_PER_S; /* for all of a question: a snapshot held keeps the log growing */

static void reader_close(struct reader *r)
{
	if (r == NULL)
		return;
	names_free(r->names);
	db_close(r->db);
	mem_free(r);
}

int readers_open(struct readers *rs, const char *path, size_t n, struct err *e)
{
	int rc = OK;

	*rs = (struct readers){ .idle = chan_new(n), .held = chan_new(n) };
	while (rs->n < n && rc == OK) {
		struct reader *r = mem_get(sizeof(*r));

		rc = db_open(&r->db, path, DB_READER, e);
		if (rc < 0) {
			reader_close(r);
			break;
		}
		r->names = names_new(r->db);
		must(chan_try_push(rs->idle, r) == OK);
		rs->n++;
	}
	if (rc < 0)
		readers_close(rs);
	return rc;
}

void readers_close(struct readers *rs)
{
	void *p;

	if (rs->idle == NULL)
		return;
	while (rs->n > 0 && (chan_pop(rs->idle, &p, 0) == OK || chan_pop(rs->held, &p, 0) == OK)) {
		reader_close(p);
		rs->n--;
	}
	must(rs->n == 0);
	chan_free(rs->idle);
	chan_free(rs->held);
	rs->idle = rs->held = NULL;
}

int reader_take(struct readers *rs, struct reader **out, struct err *e)
{
	struct reader *r;
	void *p;
	int rc = chan_pop(rs->idle, &p, reader_wait_ns);

	if (rc == E_BUSY && atomic_load(&rs->gathers))
		rc = chan_pop(rs->idle, &p, reader_deadline_ns);
	*out = NULL;
	if (rc < 0)
		return err_set(
			e, E_BUSY, "store: %zu questions are being answered already, try again later", rs->n);
	r = p;
	db_deadline(r->db, clock_mono_ns() + reader_deadline_ns);
	rc = db_exec(r->db, "BEGIN", e);
	if (rc < 0) {
		reader_give(rs, r);
		return rc;
	}
	*out = r;
	return OK;
}

void reader_give(struct readers *rs, struct reader *r)
{
	if (r == NULL)
		return;
	db_deadline(r->db, 0);
	db_rollback(r->db);
	must(chan_try_push(atomic_load(&rs->gathers) ? rs->held : rs->idle, r) == OK);
}

bool readers_gather(struct readers *rs)
{
	void *p;

	atomic_store(&rs->gathers, true);
	while (chan_pop(rs->idle, &p, 0) == OK)
		must(chan_try_push(rs->held, p) == OK);
	return chan_count(rs->held) == rs->n;
}

void readers_let_go(struct readers *rs)
{
	void *p;

	atomic_store(&rs->gathers, false);
	while (chan_pop(rs->held, &p, 0) == OK)
		must(chan_try_push(rs->idle, p) == OK);
}
