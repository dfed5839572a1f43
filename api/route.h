/* route.h — the table of endpoints: what a request is matched against, and what /api/v1/openapi.yaml is made of.
 * Inside api/ only. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/call.h"

enum need { NEED_NOTHING, NEED_READ, NEED_INGEST, NEED_ADMIN, NEEDS };

struct route {
	enum http_method method;
	const char *path; /* a segment {id} is any text, the call's tail */
	enum need need;
	uint32_t params; /* PARAM_BIT */
	api_fn *run;
	/* For the description: what it does; the body's and the answer's type, as schema.h writes them, NULL for none; an answer with
	 * a slash is a media type that is not JSON. */
	const char *summary, *body, *answer;
	int status; /* of success; 0: 200 */
};

extern const struct route routes[];
extern const size_t n_routes;

#endif
