#include "agent/courier.h"

#include "base/clock.h"
#include "base/mem.h"
#include "json/tree.h"
#include "net/token.h"

enum { URL_MAX = 4096, PROBLEM_MAX = 64 << 10, DETAIL_MAX = 300 };

static const int64_t connect_ns = 10 * NS_PER_S;

struct courier {
	struct http_client *client; /* NULL: not open */
	char *url, *token_file, *ca_file;
	int64_t timeout_ns;
	size_t answer_max;
	bool stale; /* the token was not good enough */
};

static char *url_of(const char *server, const char *path)
{
	struct str base = str_of(server);
	struct buf b;

	while (str_drop_suffix(&base, STR("/")))
		;
	buf_init(&b, URL_MAX);
	buf_fmt(&b, "%.*s%s", STR_ARG(base), path);
	if (b.rc == OK)
		return b.p;
	buf_fini(&b);
	return NULL;
}

int courier_new(struct courier **out, const struct courier_settings *s, struct err *e)
{
	struct courier *c = mem_get(sizeof(*c));

	c->url = url_of(s->server, s->path);
	c->token_file = mem_dup_text(s->token_file);
	c->ca_file = mem_dup_text(s->ca_file);
	c->timeout_ns = s->timeout_ns;
	c->answer_max = s->answer_max;
	if (c->url == NULL) {
		courier_free(c);
		return err_set(e, E_USAGE, "server: longer than 4000 bytes");
	}
	*out = c;
	return OK;
}

static void close_client(struct courier *c)
{
	http_client_close(c->client);
	c->client = NULL;
}

void courier_free(struct courier *c)
{
	if (c == NULL)
		return;
	close_client(c);
	mem_free(c->url);
	mem_free(c->token_file);
	mem_free(c->ca_file);
	mem_free(c);
}

static int open_client(struct courier *c, struct err *e)
{
	char *token = NULL;
	struct http_client_settings hs = {
		.ca_file = c->ca_file[0] == '\0' ? NULL : c->ca_file,
		.connect_ns = connect_ns < c->timeout_ns ? connect_ns : c->timeout_ns,
		.total_ns = c->timeout_ns,
		.max_answer_bytes = c->answer_max,
		.user_agent = PACKAGE_NAME "-agent/" PACKAGE_VERSION,
	};
	int rc;

	if (c->stale)
		close_client(c); /* the answer that said so was for the caller to read first */
	c->stale = false;
	if (c->client != NULL)
		return OK;
	rc = token_load(c->token_file, &token, e);
	if (rc == OK) {
		hs.token = token;
		rc = http_client_open(&c->client, &hs, e);
	}
	mem_free(token);
	return rc;
}

int courier_post(struct courier *c, struct str body, const char *content_type, const char *content_encoding,
	const struct thread *thread, const struct http_answer **out, struct err *e)
{
	const struct http_ask ask = { .method = "POST", .url = c->url, .body = body, .content_type = content_type,
		.content_encoding = content_encoding, .thread = thread };
	static const struct http_answer none;
	int rc = open_client(c, e);

	*out = &none;
	if (rc == OK)
		rc = http_exchange(c->client, &ask, out, e);
	c->stale = rc == OK && ((*out)->status == 401 || (*out)->status == 403);
	return rc;
}

int courier_problem(const struct http_answer *a, struct err *e)
{
	const struct json_node *root;
	struct str detail = STR("");
	struct arena arena;
	int rc;

	arena_init(&arena, PROBLEM_MAX * 16);
	if (a->body.n <= PROBLEM_MAX && json_parse(&arena, buf_view(&a->body), &root, NULL) == OK)
		detail = json_get_str(root, "detail");
	rc = err_set(e, E_NET, "status %d%s%.*s", a->status, str_empty(detail) ? "" : ": ",
		STR_ARG(str_upto(detail, DETAIL_MAX)));
	arena_fini(&arena);
	return rc;
}
