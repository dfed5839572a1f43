#include "cli/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/table.h"
#include "net/http_client.h"
#include "net/token.h"

enum { URL_BYTES = 64 << 10, ANSWER_BYTES = 72 << 20, TREE_BYTES = 2000 << 20 };

const char *const ask_format_names[] = { [ASK_TABLE] = "table", [ASK_JSON] = "json", [ASK_FORMATS] = NULL };

static const struct {
	const char *name;
	size_t offset;
} parameters[] = {
	{ "service", offsetof(struct ask, service) }, { "deploy", offsetof(struct ask, deploy) },
	{ "host", offsetof(struct ask, host) },	      { "worker", offsetof(struct ask, worker) },
	{ "kind", offsetof(struct ask, kind) },	      { "op", offsetof(struct ask, op) },
	{ "from", offsetof(struct ask, from) },	      { "to", offsetof(struct ask, to) },
	{ "order", offsetof(struct ask, order) },     { "resolution", offsetof(struct ask, resolution) },
	{ "state", offsetof(struct ask, state) },     { "before", offsetof(struct ask, before) },
	{ "after", offsetof(struct ask, after) },
};

static struct str server_of(const struct ask *a)
{
	const char *named = a->server != NULL ? a->server : getenv("TRAINSPOTTER_SERVER");
	struct str s = str_trim(str_of(named));

	while (str_drop_suffix(&s, STR("/")))
		;
	return str_empty(s) ? STR("http://127.0.0.1:8940") : s;
}

static void put_url(const struct ask *a, const char *path, struct buf *url)
{
	struct str server = server_of(a);
	char before = '?';

	if (!str_contains(server, STR("://")))
		buf_text(url, "http://");
	buf_str(url, server);
	buf_text(url, path);
	for (size_t i = 0; i < COUNT(parameters); i++) {
		const char *value;

		memcpy(&value, (const char *)a + parameters[i].offset, sizeof(value));
		if (value == NULL)
			continue;
		buf_fmt(url, "%c%s=", before, parameters[i].name);
		http_encode(str_of(value), url);
		before = '&';
	}
	if (a->limit > 0)
		buf_fmt(url, "%climit=%" PRId64, before, a->limit);
}

/* A problem document (RFC 9457) as one sentence, or what came instead of one. */
static int refusal(const struct http_answer *answer, const char *url, struct arena *arena, struct err *e)
{
	const struct json_node *root = NULL;
	struct str detail, title;

	if (json_parse(arena, buf_view(&answer->body), &root, NULL) < 0)
		root = NULL;
	detail = json_get_str(root, "detail");
	title = json_get_str(root, "title");
	if (str_empty(detail) && str_empty(title))
		return err_set(e, E_NET, "%s: answered with status %d and no reason; is a Trainspotter server there?",
			url, answer->status);
	return err_set(e, E_USAGE, "%.*s (status %d)", STR_ARG(str_empty(detail) ? title : detail), answer->status);
}

static int no_answer(struct err *e)
{
	const struct err why = *e;

	return err_set(e, E_NET, "%.300s; is trainspotterd running there? --server names another", why.text);
}

static int exchange(const struct http_ask *ask, const char *token, struct reply *r, struct err *e)
{
	const struct http_client_settings settings = { .token = token, .connect_ns = 10 * NS_PER_S,
		.total_ns = 2 * NS_PER_MIN, .max_answer_bytes = ANSWER_BYTES,
		.user_agent = "trainspotter/" PACKAGE_VERSION };
	const struct http_answer *answer;
	int rc = http_client_open(&r->client, &settings, e);

	if (rc == OK)
		rc = http_exchange(r->client, ask, &answer, e);
	if (rc == E_NET)
		return no_answer(e);
	if (rc < 0)
		return rc;
	if (answer->status < 200 || answer->status > 299)
		return refusal(answer, ask->url, &r->arena, e);
	r->body = buf_view(&answer->body);
	rc = json_parse(&r->arena, r->body, &r->root, e);
	return rc < 0 ? err_add(e, "%s: no answer of a Trainspotter server", ask->url) : OK;
}

static int ask_server(const struct ask *a, const char *path, struct http_ask *ask, struct reply *r, struct err *e)
{
	char *token = NULL;
	struct buf url;
	int rc;

	*r = (struct reply){ 0 };
	arena_init(&r->arena, TREE_BYTES);
	buf_init(&url, URL_BYTES);
	put_url(a, path, &url);
	rc = buf_finish(&url, "the request", e);
	if (rc == OK)
		rc = token_load(a->token_file, &token, e);
	ask->url = url.p;
	ask->header = "Accept: application/json";
	if (rc == OK)
		rc = exchange(ask, token, r, e);
	mem_free(token);
	buf_fini(&url);
	return rc;
}

int remote_get(const struct ask *a, const char *path, struct reply *r, struct err *e)
{
	struct http_ask ask = { .method = "GET" };

	return ask_server(a, path, &ask, r, e);
}

int remote_post(const struct ask *a, const char *path, struct str body, const char *type, const char *encoding,
	struct reply *r, struct err *e)
{
	struct http_ask ask = { .method = "POST", .body = body, .content_type = type, .content_encoding = encoding };

	return ask_server(a, path, &ask, r, e);
}

void reply_close(struct reply *r)
{
	http_client_close(r->client);
	arena_fini(&r->arena);
	*r = (struct reply){ 0 };
}

/* The path to ask: the list's, or one item's where its id stands as operand. */
static int path_of(const struct remote_view *view, int n_operands, char **operands, struct buf *path, struct err *e)
{
	int most = view->show_one == NULL ? 0 : 1;

	if (n_operands > most)
		return err_set(e, E_USAGE, "\"%s\" is too much; --help tells what goes here", operands[most]);
	buf_text(path, view->path);
	if (n_operands == 1) {
		buf_byte(path, '/');
		http_encode(str_of(operands[0]), path);
	}
	return buf_finish(path, "the request", e);
}

int remote_command(const struct opt_command *c, int argc, char **argv, const struct remote_view *view)
{
	int n_operands, rc, status = EXIT_GOOD;
	struct ask a = { 0 };
	struct reply r = { 0 };
	struct err e = { 0 };
	struct buf path;

	buf_init(&path, URL_BYTES);
	rc = opt_parse(c, "trainspotter", argc, argv, &a, &n_operands, &e);
	if (rc == OK)
		rc = path_of(view, n_operands, argv, &path, &e);
	if (rc == OK)
		rc = remote_get(&a, path.p, &r, &e);
	if (rc < 0)
		status = cmd_trouble(c, &e);
	else if (a.format == ASK_JSON)
		printf("%.*s\n", STR_ARG(str_trim(r.body)));
	else
		(n_operands == 1 ? view->show_one : view->show)(&a, r.root);
	if (rc == OK && a.fail && view->found(r.root))
		status = EXIT_FOUND;
	reply_close(&r);
	buf_fini(&path);
	return status;
}

void remote_tell_more(const struct json_node *root)
{
	if (!str_empty(json_get_str(root, "next")))
		puts("(there is more; --limit N shows N)");
}

struct str remote_when(int64_t wall_ns, char out[CLOCK_TEXT])
{
	if (wall_ns < 0)
		return STR("-");
	clock_rfc3339(wall_ns / NS_PER_S * NS_PER_S, out);
	out[10] = ' ';
	out[19] = '\0';
	return (struct str){ out, 19 };
}

struct json_items remote_items(const struct json_node *root, const char *key)
{
	const struct json_node *list = json_get(root, key);

	if (list == NULL || list->kind != JSON_K_ARRAY)
		return (struct json_items){ 0 };
	return (struct json_items){ list->items, list->n };
}
