/* param.h — the parameters of a query string, checked against a table (doc/api.md, "Parameters"). */
#ifndef API_PARAM_H
#define API_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/alert.h"
#include "profile/query.h"

enum param_id {
	PARAM_SERVICE, PARAM_DEPLOY, PARAM_HOST, PARAM_WORKER, PARAM_OP, PARAM_KIND, PARAM_FROM, PARAM_TO,
	PARAM_RESOLUTION, PARAM_LIMIT, PARAM_CURSOR, PARAM_ORDER, PARAM_STATE, PARAM_BEFORE, PARAM_AFTER,
	PARAMS
};
const char *param_name(enum param_id id);
const char *param_help(enum param_id id); /* one sentence */

struct params {
	struct query q; /* from_ns 0 and to_ns INT64_MAX where not given */
	uint32_t given; /* bits 1 << param_id */
	bool has_state;
	enum alert_state state;
	struct str before, after;
};

#define PARAM_BIT(id) (UINT32_C(1) << (id))
static inline bool param_given(const struct params *p, enum param_id id)
{
	return (p->given & PARAM_BIT(id)) != 0;
}

/* query: as it stands behind '?'. allowed: bits. Texts are in the arena. On failure *name is the parameter, a text in the
 * arena; E_USAGE with a sentence, or E_LIMIT. */
int params_parse(struct arena *a, struct str query, uint32_t allowed, int64_t now_ns, struct params *out,
	const char **name, struct err *e) MUST_USE;

#endif
