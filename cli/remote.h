/* remote.h — what all commands share that ask a server (doc/api.md): options, one GET, the answer as a tree.
 *
 *	static const struct opt opts[] = { ASK_SERVICE, ASK_LIMIT("hosts"), ASK_COMMON };
 *	static const struct remote_view view = { .path = "/api/v1/hosts", .show = show };
 *	return remote_command(&cmd_hosts, argc, argv, &view);
 *
 * Options that a command does not list stay unset and are not sent. Runs on: the main thread. */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/opt.h"
#include "json/tree.h"

enum ask_format { ASK_TABLE, ASK_JSON, ASK_FORMATS };
extern const char *const ask_format_names[];

struct ask {
	const char *server, *token_file; /* NULL: from the environment, or the default */
	int64_t format;
	const char *service, *deploy, *host, *worker, *kind, *op, *from, *to, *resolution, *order, *state;
	const char *before, *after;
	const char *name_rules; /* send only */
	int64_t limit; /* 0: not given */
	bool fail;
	/* trend only */
	struct opt_texts ops;
	int64_t show, width, height;
	bool ascii;
};

#define ASK_TEXT(option, field, value, help)                                                                        \
	{ option, 0, OPT_TEXT, offsetof(struct ask, field), 0, 0, value, help, NULL }
#define ASK_SERVICE ASK_TEXT("service", service, "NAME", "Only this service.")
#define ASK_DEPLOY ASK_TEXT("deploy", deploy, "NAME", "Only this deploy.")
#define ASK_HOST ASK_TEXT("host", host, "NAME", "Only this host.")
#define ASK_WORKER ASK_TEXT("worker", worker, "NAME", "Only this worker.")
#define ASK_KIND                                                                                                    \
	ASK_TEXT("kind", kind, "KIND",                                                                              \
		"Only ops of this kind: step, cpu_op, annotation, region, runtime, overhead, kernel, memcpy, memset, " \
		"collective, hlo, engine or gap.")
#define ASK_OP ASK_TEXT("op", op, "OP", "Only this op, by its whole name.")
#define ASK_FROM                                                                                                    \
	ASK_TEXT("from", from, "TIME",                                                                              \
		"Only windows from then on: 2026-11-29T14:00:00Z, Unix seconds, or now-7d.")
#define ASK_TO ASK_TEXT("to", to, "TIME", "Only windows before then; as --from.")
#define ASK_LIMIT(what) { "limit", 'n', OPT_INT, offsetof(struct ask, limit), 1, 10000, "N", what, NULL }
#define ASK_COMMON                                                                                                  \
	{ "format", 0, OPT_CHOICE, offsetof(struct ask, format), 0, 0, "FORMAT",                                    \
		"table for people, or json: the server's answer as it came.", ask_format_names },                   \
	ASK_TEXT("server", server, "URL", "The server; without, $TRAINSPOTTER_SERVER or http://127.0.0.1:8940."),   \
	ASK_TEXT("token-file", token_file, "FILE", "File with the bearer token; without, $TRAINSPOTTER_TOKEN.")

/* Exit statuses of a command that only shows. */
#define ASK_EXITS { EXIT_GOOD, "the server answered" }, { EXIT_TROUBLE, "wrong usage, no answer, or a refusal" }

struct http_client;

struct reply {
	struct http_client *client;
	struct arena arena;
	struct str body;
	const struct json_node *root;
};

/* GET of server + path with the options as its query. Anything but 2xx is an error, with the server's own sentence
 * (RFC 9457) where it has one. reply_close it in any case. */
int remote_get(const struct ask *a, const char *path, struct reply *r, struct err *e) MUST_USE;
int remote_post(const struct ask *a, const char *path, struct str body, const char *type, const char *encoding,
	struct reply *r, struct err *e) MUST_USE;
void reply_close(struct reply *r);

/* What a command asks for and how it shows the answer. */
struct remote_view {
	const char *path; /* of the list: "/api/v1/alerts" */
	void (*show)(const struct ask *a, const struct json_node *root);
	void (*show_one)(const struct ask *a, const struct json_node *root); /* of path/ID; NULL: no operand */
	bool (*found)(const struct json_node *root); /* --fail: is it there? NULL without that option */
};

/* A whole command: options, GET, then the answer as it came (--format json) or shown. The exit status. */
int remote_command(const struct opt_command *c, int argc, char **argv, const struct remote_view *view);

/* "more: …" under a list that does not end where the answer does. */
void remote_tell_more(const struct json_node *root);

/* A moment as the tables show it, UTC: "2026-11-29 14:00:05"; "-" for none (below 0). */
struct str remote_when(int64_t wall_ns, char out[CLOCK_TEXT]);

/* The items of a list answer, also where there are none. */
struct json_items {
	const struct json_node *v;
	size_t n;
};
struct json_items remote_items(const struct json_node *root, const char *key);

#endif
