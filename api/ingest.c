/* ingest.c — POST /api/v1/windows: a batch is decoded whole, stored whole, and only then answered. */
#include "api/call.h"

#include <stdio.h>

#include "api/sides.h"
#include "base/clock.h"
#include "base/log.h"
#include "wire/wire.h"

void ingest_count(struct api *api)
{
	struct metrics *ms = api->set.metrics;

	api->accepted = metric_counter(ms, "trainspotter_ingest_windows_total", NULL, "Windows stored.");
	api->duplicates = metric_counter(ms, "trainspotter_ingest_duplicates_total", NULL,
		"Windows that came again and were stored already.");
	api->ahead = metric_counter(ms, "trainspotter_ingest_ahead_windows_total", NULL,
		"Windows dated more than ten minutes ahead of the daemon's clock: kept, and in no judgement until their time has come.");
	api->bytes = metric_counter(ms, "trainspotter_ingest_bytes_total", NULL, "Bytes of batches as they came.");
	for (size_t i = 0; i < PROBLEMS; i++) {
		char labels[64];

		snprintf(labels, sizeof(labels), "reason=\"%s\"", problem_word((enum problem)i));
		api->refused[i] = metric_counter(ms, "trainspotter_ingest_refused_total", labels,
			"Batches refused, by the problem's type.");
	}
}

/* Without parameters ("; charset=utf-8") and of any case. */
static bool media_is(struct str header, const char *type)
{
	struct str t = str_trim(str_upto(header, str_find_byte(header, ';')));

	return t.n == strlen(type) && strncasecmp(t.p, type, t.n) == 0;
}

static bool take_form(struct api_call *c, enum wire_form *form, bool *zstd)
{
	struct str type = http_header_get(c->rq, "Content-Type");
	struct str coding = http_header_get(c->rq, "Content-Encoding");

	*zstd = media_is(coding, "zstd");
	*form = media_is(type, "application/json") ? WIRE_JSON : WIRE_PROTOBUF;
	if (*form == WIRE_PROTOBUF && !media_is(type, "application/x-protobuf")) {
		call_problem(c, PROBLEM_MEDIA_TYPE, NULL,
			"Content-Type is \"%.*s\"; it must be application/x-protobuf or application/json",
			STR_ARG(str_upto(type, 80)));
		return false;
	}
	if (!*zstd && !str_empty(coding) && !media_is(coding, "identity")) {
		call_problem(c, PROBLEM_MEDIA_TYPE, NULL, "Content-Encoding is \"%.*s\"; it must be zstd, or not there",
			STR_ARG(str_upto(coding, 80)));
		return false;
	}
	return true;
}

static void refuse(struct api_call *c, int rc, const struct err *e)
{
	enum problem p = rc == E_LIMIT	     ? PROBLEM_TOO_LARGE :
			 rc == E_UNSUPPORTED ? PROBLEM_UNPROCESSABLE :
			 rc == E_NOMEM	     ? PROBLEM_BUSY :
					       PROBLEM_BODY;

	call_problem(c, p, NULL, "%s", e->text);
	log_warn("ingest.refused", "peer=%.*s reason=%s err=\"%s\"", STR_ARG(c->rq->peer), problem_word(p), e->text);
}

/* A host's clock is wrong, or ours. Nothing is lost, but somebody should know. */
static void tell_ahead(struct api_call *c, const struct wire_batch *b)
{
	int64_t until_ns = c->api->set.wall_ns() + SIDES_AHEAD_NS;

	for (size_t i = 0; i < b->n_windows; i++) {
		const struct window *w = &b->windows[i];
		char when[CLOCK_TEXT];

		if (w->start_ns < until_ns)
			continue;
		metric_add(c->api->ahead, 1);
		log_warn("ingest.ahead", "host=\"%.*s\" service=\"%.*s\" start=%.*s what=\"set the clock of that host\"",
			STR_ARG(w->host), STR_ARG(w->service), STR_ARG(clock_rfc3339(w->start_ns, when)));
	}
}

static void store_batch(struct api_call *c, const struct wire_batch *b)
{
	struct put_result put = { 0 };
	struct err e = { 0 };
	int rc = store_put(c->api->set.store, b->windows, b->n_windows, &put, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	metric_add(c->api->accepted, put.accepted);
	metric_add(c->api->duplicates, put.duplicates);
	tell_ahead(c, b);
	jw_object(&c->w);
	jw_key_u64(&c->w, "accepted", put.accepted);
	jw_key_u64(&c->w, "duplicates", put.duplicates);
	call_end(c);
	if (put.accepted > 0 && c->api->set.arrived != NULL)
		c->api->set.arrived(c->api->set.arrived_env);
}

void ingest_post(struct api_call *c)
{
	struct wire_limits limits = WIRE_LIMITS_DEFAULT;
	struct wire_batch b = { 0 };
	struct err e = { 0 };
	enum wire_form form;
	struct arena a;
	bool zstd;
	int rc;

	if (!take_form(c, &form, &zstd))
		return;
	metric_add(c->api->bytes, c->rq->body.n);
	arena_init(&a, 2 * limits.decoded_bytes);
	rc = wire_decode(&a, c->rq->body, form, zstd, &limits, &b, &e);
	if (rc == OK)
		store_batch(c, &b);
	else
		refuse(c, rc, &e);
	wire_batch_fini(&b);
	arena_fini(&a);
}
