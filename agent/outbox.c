#include "agent/outbox.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "agent/quarantine.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/mem.h"

enum { SEGMENT_BYTES = 1 << 20, SEGMENTS_WANTED = 16, PARTS_GOOD = 8 };

struct outbox {
	char *state_dir;
	struct spool *spool;
	struct ship *ship; /* NULL: held */
	bool out, gave_up; /* out: a batch is under way */
	int64_t spool_bytes, batch_bytes, quarantine_batches;
	size_t parts_max; /* windows in a batch: halved when one is refused, doubled after some that were not */
	unsigned parts_good;
	unsigned tries, unread; /* tries: 0: for ever; unread: so often in a row it could not be read */
	uint64_t dropped_said;
	struct outbox_counts counts;
};

int outbox_open(struct outbox **out, const char *state_dir, int64_t spool_bytes, struct err *e)
{
	const uint64_t cap = (uint64_t)spool_bytes;
	const struct spool_settings s = {
		.cap_bytes = cap,
		.segment_bytes = cap / SEGMENTS_WANTED < SEGMENT_BYTES ? cap / SEGMENTS_WANTED : SEGMENT_BYTES,
	};
	struct outbox *o = mem_get(sizeof(*o));
	char dir[PATH_MAX];
	int rc;

	*o = (struct outbox){ .state_dir = mem_dup_text(state_dir), .spool_bytes = spool_bytes, .parts_max = SHIP_PARTS_MAX };
	snprintf(dir, sizeof(dir), "%s/spool", state_dir);
	rc = spool_open(&o->spool, dir, &s, e);
	if (rc < 0) {
		outbox_close(o);
		return rc;
	}
	if (spool_state(o->spool)->torn > 0)
		log_info("spool.torn", "bytes=%" PRIu64 " dir=\"%s\"", spool_state(o->spool)->torn, dir);
	*out = o;
	return OK;
}

void outbox_hold(struct outbox *o)
{
	ship_stop(o->ship);
	o->ship = NULL;
	o->out = false;
}

void outbox_close(struct outbox *o)
{
	if (o == NULL)
		return;
	outbox_hold(o);
	spool_close(o->spool);
	mem_free(o->state_dir);
	mem_free(o);
}

int outbox_ship(struct outbox *o, const struct ship_settings *s, int64_t batch_bytes, int64_t quarantine_batches,
	struct err *e)
{
	outbox_hold(o);
	o->batch_bytes = batch_bytes;
	o->quarantine_batches = quarantine_batches;
	o->tries = s->tries;
	return ship_start(&o->ship, s, e);
}

/* ---- what comes in */

static void say_dropped(struct outbox *o)
{
	uint64_t dropped = spool_state(o->spool)->dropped;

	if (dropped == o->dropped_said)
		return;
	log_error("spool.dropped", "windows=%" PRIu64 " total=%" PRIu64 " reason=full max=%" PRId64,
		dropped - o->dropped_said, dropped, o->spool_bytes);
	o->dropped_said = dropped;
}

bool outbox_can_hold(const struct outbox *o, size_t windows, uint64_t bytes)
{
	return spool_can_hold(o->spool, windows, bytes);
}

int outbox_put(struct outbox *o, struct str batch, struct err *e)
{
	int rc = spool_append(o->spool, batch, e);

	say_dropped(o);
	return rc;
}

/* ---- what goes out */

/* As many records as fit into one batch. E_NOT_FOUND: there is none that can ever be read. */
static int fill_shipment(const struct outbox *o, struct shipment *s, struct err *e)
{
	struct spool_place at = spool_first(o->spool);
	size_t bytes = 0;
	int rc = OK;

	while (s->n_parts < o->parts_max) {
		struct buf *part = shipment_part(s);

		rc = spool_read(o->spool, &at, part, e);
		if (rc < 0 || (s->n_parts > 0 && bytes + part->n > (size_t)o->batch_bytes))
			break;
		bytes += part->n;
		s->n_parts++;
		s->upto = at;
	}
	return s->n_parts > 0 ? OK : rc;
}

/* Damaged to the last byte, or what cannot be read now: that is tried at the next call, as often as sending is. */
static void take_unread(struct outbox *o, int rc, const struct err *e)
{
	if (rc == E_NOT_FOUND) {
		spool_forget(o->spool, spool_end(o->spool));
		return;
	}
	o->gave_up = o->tries > 0 && ++o->unread >= o->tries;
	log_error("spool.unread", "windows=%" PRIu64 " err=\"%s\" action=\"%s\"", spool_state(o->spool)->records, e->text,
		o->gave_up ? "given up" : "tried again");
}

void outbox_send(struct outbox *o)
{
	struct err e = { 0 };
	struct shipment *s;
	int rc;

	if (o->out || o->gave_up || o->ship == NULL || spool_state(o->spool)->records == 0)
		return;
	s = shipment_new();
	rc = fill_shipment(o, s, &e);
	if (rc < 0) {
		shipment_free(s);
		take_unread(o, rc, &e);
		return;
	}
	o->unread = 0;
	ship_give(o->ship, &s);
	o->out = true;
}

static void quarantine(struct outbox *o, const struct shipment *s)
{
	char dir[PATH_MAX];
	struct err e = { 0 };

	snprintf(dir, sizeof(dir), "%s/quarantine", o->state_dir);
	log_error("ship.refused", "status=%d dir=\"%s\" reason=\"%s\"", s->status, dir, s->err.text);
	o->counts.quarantined++;
	if (quarantine_put(dir, clock_wall_ns(), buf_view(&s->parts[0]), str_of(s->err.text),
		    (size_t)o->quarantine_batches, &e) < 0)
		log_error("ship.lost", "err=\"%s\"", e.text); /* it is refused all the same */
	crash_point("ship.quarantined");
}

static void grow_batches(struct outbox *o)
{
	if (o->parts_max == SHIP_PARTS_MAX || ++o->parts_good < PARTS_GOOD)
		return;
	o->parts_good = 0;
	o->parts_max = o->parts_max * 2 < SHIP_PARTS_MAX ? o->parts_max * 2 : SHIP_PARTS_MAX;
}

/* Half as many at a time, until the bad one stands alone (or the batch is small enough). */
static void split_batch(struct outbox *o, const struct shipment *s)
{
	o->parts_max = s->n_parts / 2;
	o->parts_good = 0;
	log_warn("ship.split", "windows=%zu status=%d reason=\"%s\"", s->n_parts, s->status, s->err.text);
}

static void take_accepted(struct outbox *o, const struct shipment *s)
{
	grow_batches(o);
	o->counts.shipped += s->accepted;
	o->counts.duplicates += s->duplicates;
	log_debug("ship.done", "accepted=%" PRIu64 " duplicates=%" PRIu64, s->accepted, s->duplicates);
	crash_point("ship.accepted");
	spool_forget(o->spool, s->upto);
}

static void take_refused(struct outbox *o, const struct shipment *s)
{
	if (s->n_parts > 1) {
		split_batch(o, s);
		return;
	}
	quarantine(o, s);
	spool_forget(o->spool, s->upto);
}

void outbox_take(struct outbox *o)
{
	struct shipment *s = o->ship == NULL ? NULL : ship_fetch(o->ship);

	if (s == NULL)
		return;
	o->out = false;
	switch (s->outcome) {
	case SHIP_ACCEPTED: take_accepted(o, s); break;
	case SHIP_REFUSED: take_refused(o, s); break;
	case SHIP_GAVE_UP:
		o->gave_up = true;
		log_error("ship.gave-up", "windows=%" PRIu64 " err=\"%s\"", spool_state(o->spool)->records, s->err.text);
		break;
	case SHIP_STOPPED:
	case SHIP_OUTCOMES: break;
	}
	shipment_free(s);
}

int outbox_fd(const struct outbox *o)
{
	return o->ship == NULL ? -1 : ship_fd(o->ship);
}

bool outbox_idle(const struct outbox *o)
{
	return !o->out;
}

bool outbox_gave_up(const struct outbox *o)
{
	return o->gave_up;
}

const struct spool_state *outbox_state(const struct outbox *o)
{
	return spool_state(o->spool);
}

const struct outbox_counts *outbox_counts(const struct outbox *o)
{
	return &o->counts;
}
