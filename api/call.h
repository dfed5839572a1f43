/* call.h — one request on its way through a resource's function. Inside api/ only. */
#ifndef API_CALL_H
#define API_CALL_H

#include <stdatomic.h>

#include "api/api.h"
#include "api/param.h"
#include "base/arena.h"
#include "json/write.h"
#include "net/problem.h"

enum { API_KEPT_MAX = 1000, API_ANSWER_BYTES = 64 << 20 };

/* A pointer that handlers read while somebody else replaces it; what was replaced stays until the end. */
struct kept {
	void *_Atomic now;
	void *all[API_KEPT_MAX];
	size_t n;
};

struct api {
	uint32_t magic;
	struct api_settings set;
	struct kept auth, fusion;
	struct metric *accepted, *duplicates, *ahead, *bytes, *refused[PROBLEMS];
};

struct api_call {
	struct api *api;
	const struct http_request *rq;
	struct http_reply *rp;
	struct arena arena; /* everything of this request; its ceiling is the answer's */
	struct params p;
	struct str tail;	/* what stands for the {id} of the route's path */
	struct json_writer w;	/* into rp->body */
	enum problem problem;	/* what was answered, where has_problem */
	bool has_problem;
};

typedef void api_fn(struct api_call *c);

/* The answer is this problem; what was written so far is dropped. */
void call_problem(struct api_call *c, enum problem p, const char *parameter, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* A failed call of the store or a detector as a problem. */
void call_failed(struct api_call *c, int rc, const struct err *e);

/* {"items":[ … call_list_end writes ],"next":…  and leaves the object open for more members. */
void call_list_begin(struct api_call *c);
void call_list_end(struct api_call *c, struct str next);
void call_end(struct api_call *c); /* closes the object; a full arena becomes a problem */

void call_write_labels(struct api_call *c, const char *key, const struct label *v, size_t n);
/* part / whole, null where whole is 0; the second rounds to whole nanoseconds. */
void call_write_ratio(struct api_call *c, const char *key, double part, double whole);
void call_write_mean_ns(struct api_call *c, const char *key, int64_t ns, uint64_t n);

/* One function a route; the table is in api.c. */
api_fn ingest_post, services_get, hosts_get, deploys_get, deploys_post, windows_get, window_get, top_get, trend_get,
	compare_get, alerts_get, alert_get, agents_get, poll_post, captures_get, captures_post, capture_get, policy_get, policy_post,
	openapi_get, healthy_get, ready_get, metrics_get, page_get;

void ingest_count(struct api *api); /* makes the metrics */

#endif
