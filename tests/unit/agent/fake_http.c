#include "tests/unit/agent/fake_http.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profile/window.h"
#include "net/http_client.h"

struct fake_http fake_http;

struct http_client {
	struct http_answer answer;
	char token[64];
};

int http_client_open(struct http_client **out, const struct http_client_settings *s, struct err *e)
{
	(void)e;
	*out = mem_get(sizeof(**out));
	snprintf((*out)->token, sizeof((*out)->token), "%s", s->token == NULL ? "" : s->token);
	buf_init(&(*out)->answer.body, 1 << 16);
	return OK;
}

void http_client_close(struct http_client *c)
{
	if (c == NULL)
		return;
	buf_fini(&c->answer.body);
	mem_free(c);
}

/* Looks into the batch; true when one of its windows is the one that is never taken. */
static bool look_into(const struct wire_batch *b, struct fake_ask *ask)
{
	bool never = false;

	ask->windows = b->n_windows;
	memcpy(ask->first_id, b->windows[0].id, sizeof(ask->first_id));
	for (size_t i = 0; i < b->n_windows; i++)
		never |= fake_http.never_first_byte != 0 && b->windows[i].id[0] == fake_http.never_first_byte;
	return never;
}

static void store_ids(const struct wire_batch *b)
{
	FILE *f = fopen(fake_http.store, "a");

	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < b->n_windows; i++) {
		char id[WINDOW_ID_TEXT];

		window_id_text(b->windows[i].id, id);
		fprintf(f, "%s\n", id);
	}
	ck_assert_int_eq(fclose(f), 0);
}

static int next_status(const struct fake_ask *ask, bool never)
{
	size_t turn = fake_http.n_asks;

	if (turn < fake_http.n_script)
		return fake_http.script[turn];
	if (fake_http.max_windows > 0 && ask->windows > fake_http.max_windows)
		return 413;
	return never || ask->windows == 0 ? 422 : 200;
}

/* What the daemon says to a body; a batch that it takes is stored before it says so. */
static int answer_to(struct str body, struct fake_ask *ask)
{
	struct wire_batch b;
	struct arena a;
	bool never = false;
	int status;

	arena_init(&a, 64u << 20);
	if (wire_decode(&a, body, WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL) == OK)
		never = look_into(&b, ask);
	status = next_status(ask, never);
	if (status == 200 && fake_http.store != NULL)
		store_ids(&b);
	wire_batch_fini(&b);
	arena_fini(&a);
	return status;
}

static int answer_poll(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
{
	int status = fake_http.poll_status;
	const char *answer = fake_http.poll_answer;

	snprintf(fake_http.poll_body, sizeof(fake_http.poll_body), "%.*s", STR_ARG(ask->body));
	snprintf(fake_http.poll_url, sizeof(fake_http.poll_url), "%s %s", ask->method, ask->url);
	snprintf(fake_http.poll_token, sizeof(fake_http.poll_token), "%s", c->token);
	buf_reset(&c->answer.body);
	buf_text(&c->answer.body, answer == NULL ? "" : answer);
	c->answer.status = status;
	c->answer.retry_after_ns = 0;
	*out = &c->answer;
	fake_http.n_polls++;
	return status == 0 ? err_set(e, E_NET, "daemon: connection refused") : OK;
}

int http_exchange(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
{
	struct fake_ask *seen = &fake_http.asks[fake_http.n_asks % FAKE_ASKS_MAX];
	int status;

	if (str_has_suffix(str_of(ask->url), STR("/poll")))
		return answer_poll(c, ask, out, e);
	*seen = (struct fake_ask){ .windows = 0 };
	status = answer_to(ask->body, seen);
	snprintf(seen->url, sizeof(seen->url), "%s %s", ask->method, ask->url);
	snprintf(seen->content_type, sizeof(seen->content_type), "%s", ask->content_type);
	snprintf(seen->content_encoding, sizeof(seen->content_encoding), "%s", ask->content_encoding);
	snprintf(seen->token, sizeof(seen->token), "%s", c->token);
	fake_http.n_asks++;
	if (status == 0)
		return err_set(e, E_NET, "daemon: connection refused");
	buf_reset(&c->answer.body);
	c->answer.status = status;
	c->answer.retry_after_ns = status == 200 ? 0 : fake_http.retry_after_ns;
	if (status != 200)
		buf_fmt(&c->answer.body, "{\"detail\":\"because of %d\"}", status);
	else if (fake_http.good_body != NULL)
		buf_text(&c->answer.body, fake_http.good_body);
	else
		buf_fmt(&c->answer.body, "{\"accepted\":%zu,\"duplicates\":0}", seen->windows);
	*out = &c->answer;
	return OK;
}

enum http_failure http_failure(const struct http_client *c)
{
	(void)c;
	return HTTP_BROKEN;
}

int64_t http_backoff_ns(unsigned attempt, int64_t first_ns, int64_t cap_ns, double unit_random)
{
	(void)first_ns;
	(void)cap_ns;
	ck_assert(unit_random >= 0 && unit_random < 1);
	if (attempt > fake_http.attempts_max)
		fake_http.attempts_max = attempt;
	return fake_http.backoff_ns;
}
