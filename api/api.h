/* api.h — the REST API of doc/api.md as one http_handler: routes, parameters, who may do what, and a file per resource.
 * Runs on: the handler threads of net/http_server, several at once. */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stdint.h>

#include "api/desk.h"
#include "base/err.h"
#include "base/metric.h"
#include "detect/judge.h"
#include "net/auth.h"
#include "net/http_server.h"
#include "store/store.h"

struct api;

struct api_settings {
	struct store *store;	    /* borrowed */
	struct desk *desk;	    /* borrowed: leases and captures */
	struct metrics *metrics;    /* borrowed, may be NULL */
	bool anonymous_reads;	    /* from anywhere, where there is no tokens file */
	int64_t (*wall_ns)(void);   /* the clock; tests have their own */
	void (*arrived)(void *env); /* called after windows or a deploy were stored; NULL for nobody */
	void *arrived_env;
	const char *version;
};

struct api *api_new(const struct api_settings *s);
void api_free(struct api *api); /* when no handler runs any more; NULL is fine */

/* Both take *p and set it NULL (no auth: NULL means that there are no tokens); requests under way finish with what they began with. E_LIMIT after 1000 of them:
 * what was replaced is kept until api_free, since somebody may still look at it. Any thread, one at a time. */
int api_set_auth(struct api *api, struct auth **auth, struct err *e) MUST_USE;
int api_set_fusion(struct api *api, struct fusion_table **table, struct err *e) MUST_USE;
const struct fusion_table *api_fusion(const struct api *api);

/* The handler; env is the struct api. */
void api_handle(void *env, const struct http_request *rq, struct http_reply *rp);

/* The longest body any endpoint takes, for the server's settings. */
enum { API_BODY_MAX = 4 << 20 };

#endif
