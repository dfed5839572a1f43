/* ask.h — the API over a fleet's store, asked without HTTP in between. */
#ifndef TESTS_UNIT_API_ASK_H
#define TESTS_UNIT_API_ASK_H

#include "api/api.h"
#include "json/tree.h"
#include "tests/support/fleet.h"

struct ask {
	struct fleet fleet;
	struct desk *desk;
	struct api_settings settings;
	struct api *api;
	struct arena arena; /* of parsed answers */
	struct http_request rq; /* what the next call sends; reset behind it */
	struct http_header headers[4];
	struct http_reply rp;	/* of the last call */
	const struct json_node *json;
	int arrived;
};

void ask_open(struct ask *k, bool anonymous_reads);
void ask_close(struct ask *k);

void ask_header(struct ask *k, const char *name, const char *value); /* for the next call */
/* path with query; method GET where body is NULL. Returns the status; a JSON body is in k->json. */
int ask_call(struct ask *k, enum http_method method, const char *path, struct str body);
int ask_get(struct ask *k, const char *path);
int ask_post_json(struct ask *k, const char *path, const char *body);

size_t ask_items(const struct ask *k);
const struct json_node *ask_item(const struct ask *k, size_t i);
const char *ask_detail(struct ask *k); /* of a problem */
double ask_metric(const struct ask *k, const char *line_start);

/* The clock of the API: five hours into 2026-12-01, and what a test adds. */
int64_t ask_now(void);
extern _Atomic int64_t ask_later_ns;
void ask_restart_desk(struct ask *k); /* as a daemon that was killed and started again does */

#endif
