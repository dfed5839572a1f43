#include "agent/ship.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#include "agent/courier.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rand.h"
#include "base/thread.h"
#include "json/num.h"
#include "json/tree.h"
#include "net/http_client.h"
#include "wire/wire.h"

enum { ANSWER_MAX = 64 << 10, JOIN_ARENA_MAX = 128 << 20, JOINED_MAX = 16 << 20 };

static const int64_t retry_after_max_ns = NS_PER_HOUR;

struct ship {
	struct errands *errands;
	struct ship_settings settings; /* numbers only: the courier has the texts */
	/* the ship thread's own */
	struct courier *courier;
	struct rand_gen rand;
	struct buf joined;
};

struct shipment *shipment_new(void)
{
	return mem_get(sizeof(struct shipment));
}

void shipment_free(struct shipment *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < SHIP_PARTS_MAX; i++)
		buf_fini(&s->parts[i]);
	mem_free(s);
}

struct buf *shipment_part(struct shipment *s)
{
	struct buf *part = &s->parts[s->n_parts];

	must(s->n_parts < SHIP_PARTS_MAX);
	if (part->cap == 0)
		buf_init(part, SPOOL_RECORD_MAX);
	buf_reset(part);
	return part;
}

/* ---- one batch of many */

static int append_windows(struct arena *a, struct str part, struct window *windows, struct wire_batch *all,
	struct err *e)
{
	const struct wire_limits limits = { SPOOL_RECORD_MAX, 64u << 20, 1 };
	struct wire_batch one;
	int rc = wire_decode(a, part, WIRE_PROTOBUF, true, &limits, &one, e);

	if (rc < 0)
		return rc;
	all->agent_id = one.agent_id;
	all->agent_version = one.agent_version;
	windows[all->n_windows++] = one.windows[0]; /* and its histograms */
	return OK;
}

int ship_join(const struct shipment *s, struct buf *out, struct err *e)
{
	struct wire_batch all = { .agent_id = STR("") };
	struct arena a;
	int rc = OK;

	arena_init(&a, JOIN_ARENA_MAX);
	all.windows = arena_get_array(&a, s->n_parts, sizeof(*all.windows));
	for (size_t i = 0; i < s->n_parts && rc == OK; i++)
		rc = append_windows(&a, buf_view(&s->parts[i]), all.windows, &all, e);
	if (rc == OK)
		rc = wire_encode(&all, out, e);
	wire_batch_fini(&all);
	arena_fini(&a);
	return rc;
}

/* ---- what an answer means */

enum ship_meaning ship_judge(int status)
{
	static const int never[] = { 400, 413, 415, 422 };

	if (status >= 200 && status < 300)
		return SHIP_TAKEN;
	for (size_t i = 0; i < COUNT(never); i++)
		if (status == never[i])
			return SHIP_NEVER;
	return SHIP_AGAIN;
}

static bool get_count(const struct json_node *root, const char *key, uint64_t *out)
{
	const struct json_node *n = json_get(root, key);

	*out = 0;
	return n != NULL && n->kind == JSON_K_NUMBER && json_u64(n->text, out) == OK;
}

/* A 2xx of something that is no daemon (a portal, a wrong port) must not make the agent forget: the answer has to say
 * of each window that it was taken. */
static int read_counts(struct shipment *s, struct str body)
{
	const struct json_node *root = NULL;
	uint64_t accepted = 0, duplicates = 0;
	struct arena a;
	int rc;

	arena_init(&a, ANSWER_MAX * 16);
	rc = json_parse(&a, body, &root, NULL);
	if (rc < 0 || !get_count(root, "accepted", &accepted))
		rc = err_set(&s->err, E_FORMAT, "status %d, but no {\"accepted\":…}: is that a Trainspotter daemon?",
			s->status);
	else if (json_get(root, "duplicates") != NULL && !get_count(root, "duplicates", &duplicates))
		rc = err_set(&s->err, E_FORMAT, "status %d, but its \"duplicates\" is no number from 0 on", s->status);
	else if (accepted > s->n_parts || duplicates != s->n_parts - accepted)
		rc = err_set(&s->err, E_FORMAT, "status %d, but accepted %" PRIu64 " and duplicates %" PRIu64 " of %zu windows",
			s->status, accepted, duplicates, s->n_parts);
	arena_fini(&a);
	if (rc < 0)
		return rc;
	s->accepted = accepted;
	s->duplicates = duplicates;
	return OK;
}

/* ---- exchanges */

/* One try: what is to be done next, and how long the daemon asks to wait. */
static enum ship_meaning try_once(struct ship *sh, struct shipment *s, struct str body, struct thread *self,
	int64_t *retry_after_ns)
{
	const struct http_answer *answer;
	enum ship_meaning meaning;

	s->status = 0;
	*retry_after_ns = 0;
	if (courier_post(sh->courier, body, "application/x-protobuf", "zstd", self, &answer, &s->err) < 0)
		return SHIP_AGAIN;
	s->status = answer->status;
	*retry_after_ns = answer->retry_after_ns;
	meaning = ship_judge(answer->status);
	if (meaning == SHIP_TAKEN)
		return read_counts(s, buf_view(&answer->body)) == OK ? SHIP_TAKEN : SHIP_AGAIN;
	courier_problem(answer, &s->err);
	return meaning;
}

static int64_t wait_ns(struct ship *sh, unsigned attempt, int64_t retry_after_ns)
{
	int64_t wait = http_backoff_ns(attempt, sh->settings.retry_first_ns, sh->settings.retry_max_ns,
		rand_unit(&sh->rand));

	if (retry_after_ns > retry_after_max_ns)
		retry_after_ns = retry_after_max_ns;
	return wait > retry_after_ns ? wait : retry_after_ns;
}

static enum ship_outcome ship_body(struct ship *sh, struct shipment *s, struct str body, struct thread *self)
{
	for (unsigned attempt = 0;; attempt++) {
		int64_t retry_after, wait;

		switch (try_once(sh, s, body, self, &retry_after)) {
		case SHIP_TAKEN: return SHIP_ACCEPTED;
		case SHIP_NEVER: return SHIP_REFUSED;
		case SHIP_AGAIN: break;
		}
		if (sh->settings.tries > 0 && attempt + 1 >= sh->settings.tries)
			return SHIP_GAVE_UP;
		wait = wait_ns(sh, attempt, retry_after);
		log_warn("ship.retry", "attempt=%u windows=%zu wait_ms=%" PRId64 " err=\"%s\"", attempt + 1, s->n_parts,
			wait / NS_PER_MS, s->err.text);
		if (thread_sleep(self, wait))
			return SHIP_STOPPED;
	}
}

static void ship_one(struct ship *sh, struct shipment *s, struct thread *self)
{
	struct str body = buf_view(&s->parts[0]);

	err_clear(&s->err);
	s->status = 0;
	if (s->n_parts > 1) {
		buf_reset(&sh->joined);
		if (ship_join(s, &sh->joined, &s->err) < 0) {
			s->outcome = SHIP_REFUSED; /* one of them is no batch: alone it will be refused */
			return;
		}
		body = buf_view(&sh->joined);
	}
	s->outcome = ship_body(sh, s, body, self);
}

static void on_run(struct errand *er, struct thread *self)
{
	struct shipment *s = (struct shipment *)er;

	ship_one(s->ship, s, self);
	if (s->n_parts <= 1)
		return;
	buf_fini(&s->ship->joined);
	malloc_trim(0);
}

static void on_free(struct errand *er)
{
	shipment_free((struct shipment *)er);
}

int ship_start(struct ship **out, const struct ship_settings *s, struct err *e)
{
	const struct courier_settings cs = { .server = s->server, .path = "/api/v1/windows", .token_file = s->token_file,
		.ca_file = s->ca_file, .timeout_ns = s->timeout_ns, .answer_max = ANSWER_MAX };
	struct ship *sh = mem_get(sizeof(*sh));
	int rc;

	sh->settings = *s;
	buf_init(&sh->joined, JOINED_MAX);
	rand_seed_os(&sh->rand);
	rc = courier_new(&sh->courier, &cs, e);
	if (rc == OK)
		rc = errands_start(&sh->errands, "ship", 1, e);
	if (rc < 0) {
		ship_stop(sh);
		return rc;
	}
	*out = sh;
	return OK;
}

void ship_stop(struct ship *sh)
{
	if (sh == NULL)
		return;
	errands_stop(sh->errands);
	buf_fini(&sh->joined);
	courier_free(sh->courier);
	mem_free(sh);
}

void ship_give(struct ship *sh, struct shipment **s)
{
	(*s)->errand = (struct errand){ on_run, on_free };
	(*s)->ship = sh;
	must(errands_give(sh->errands, &(*s)->errand));
	*s = NULL;
}

int ship_fd(struct ship *sh)
{
	return errands_fd(sh->errands);
}

struct shipment *ship_fetch(struct ship *sh)
{
	return (struct shipment *)errands_fetch(sh->errands);
}
