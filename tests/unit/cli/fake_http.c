#include "tests/unit/cli/fake_http.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/must.h"

struct fake_http fake_http;

struct http_client {
	struct http_answer answer;
};

int http_client_open(struct http_client **out, const struct http_client_settings *s, struct err *e)
{
	(void)e;
	snprintf(fake_http.token, sizeof(fake_http.token), "%s", s->token == NULL ? "" : s->token);
	*out = mem_get(sizeof(**out));
	buf_init(&(*out)->answer.body, 1 << 20);
	fake_http.open++;
	return OK;
}

void http_client_close(struct http_client *c)
{
	if (c == NULL)
		return;
	buf_fini(&c->answer.body);
	mem_free(c);
	fake_http.open--;
}

int http_exchange(struct http_client *c, const struct http_ask *ask, const struct http_answer **out, struct err *e)
{
	must(fake_http.asked < FAKE_ANSWERS);
	snprintf(fake_http.urls[fake_http.asked], sizeof(fake_http.urls[0]), "%s", ask->url);
	snprintf(fake_http.methods[fake_http.asked], sizeof(fake_http.methods[0]), "%s", ask->method);
	snprintf(fake_http.sent[fake_http.asked], sizeof(fake_http.sent[0]), "%.*s", STR_ARG(ask->body));
	if (fake_http.rc < 0)
		return err_set(e, fake_http.rc, "http://there: connection refused");
	c->answer.status = fake_http.status;
	buf_text(&c->answer.body, fake_http.bodies[fake_http.asked++]);
	*out = &c->answer;
	return OK;
}

void http_encode(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-')
			buf_byte(out, s.p[i]);
		else
			buf_fmt(out, "%%%02X", (unsigned char)s.p[i]);
}
