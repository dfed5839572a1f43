/* alert.h — a regression that somebody should know of: one per cause, kept with its evidence.
 * Texts live in the arena of whoever made or loaded it. */
#ifndef PROFILE_ALERT_H
#define PROFILE_ALERT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/write.h"
#include "profile/verdict.h"

enum alert_state {
	ALERT_INACTIVE,
	ALERT_PENDING,
	ALERT_FIRING,
	ALERT_RESOLVED,
	ALERT_ACCEPTED,
	ALERT_EXPIRED,
	ALERT_STATES
};
const char *alert_state_name(enum alert_state s);
int alert_state_parse(struct str word, enum alert_state *out) MUST_USE;

struct alert {
	struct str id;	    /* fingerprint: 32 hex digits of a hash of kind, service, deploy and root op */
	enum alert_state state;
	enum verdict_kind kind;
	struct str service;
	struct str deploy;	  /* the suspected one */
	struct str deploy_before; /* what it was compared with */
	struct str op;		  /* the root op's name, or empty */
	struct str sentence;
	int64_t started_ns;  /* when the deploy's first window began */
	int64_t fired_ns;    /* wall time of the evaluation that fired; 0 not yet */
	int64_t resolved_ns; /* 0 not yet */
	int64_t updated_ns;
	struct str *hosts; /* where it was seen */
	size_t n_hosts;
	uint64_t windows_before, windows_after;
	struct str evidence; /* JSON object: verdict_write_members */
};

void alert_id(enum verdict_kind kind, struct str service, struct str deploy, struct str op, struct arena *a,
	struct str *id);

/* The object that GET /api/v1/alerts lists and webhooks get (doc/api.md). */
void alert_write(struct json_writer *w, const struct alert *al);

#endif
