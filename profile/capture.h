/* capture.h — windows that somebody asked for, and leases: the daemon's word that a worker may be profiled now.
 * Made by api/, kept by store/, shown by api/ and cli/. Texts live in the arena of whoever made or loaded them. */
#ifndef PROFILE_CAPTURE_H
#define PROFILE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"
#include "base/str.h"
#include "base/vec.h"
#include "json/write.h"

enum {
	CAPTURE_ID = 32, /* hex digits, of captures, leases and agents */
	CAPTURE_HOSTS_MAX = 1000,   /* named in one capture, and workers */
	CAPTURE_TARGETS_MAX = 10000, /* of one capture */
};
/* Of one window: longer ones are a way to stop a fleet. */
#define CAPTURE_DURATION_MAX_NS (60 * INT64_C(1000000000))
#define CAPTURE_ITERATIONS_MAX 10000

/* One worker of a capture. Only forward, but for a lease that ran out: then it waits again. */
enum target_state {
	TARGET_WAITING, /* for a lease */
	TARGET_LEASED,	/* the agent has its lease, or will get it */
	TARGET_TAKEN,
	TARGET_FAILED,
	TARGET_EXPIRED, /* the capture's time was over first */
	TARGET_STATES
};
const char *target_state_name(enum target_state s);
int target_state_parse(struct str word, enum target_state *out) MUST_USE;

struct capture_target {
	struct str host, service, source, worker; /* together its name */
	enum target_state state;
	struct str lease;  /* the last one, or empty */
	struct str end;	   /* the agent's word for how it ended, or empty */
	struct str window; /* hex, where the agent said it */
};

static inline bool target_is_open(const struct capture_target *t)
{
	return t->state == TARGET_WAITING || t->state == TARGET_LEASED;
}

enum capture_state {
	CAPTURE_WAITING, /* no worker has a lease yet */
	CAPTURE_RUNNING,
	CAPTURE_DONE,	 /* every target ended, at least one by itself */
	CAPTURE_EXPIRED, /* no target got that far in time */
	CAPTURE_STATES
};
const char *capture_state_name(enum capture_state s);
int capture_state_parse(struct str word, enum capture_state *out) MUST_USE;

struct capture {
	struct str id; /* hex */
	int64_t created_ns, expires_ns;
	int64_t join_ns;  /* workers that agents tell of until then become targets, too */
	int64_t ended_ns; /* 0: open */
	struct str service, source; /* empty: any */
	struct str *hosts, *workers; /* none: any */
	size_t n_hosts, n_workers;
	int64_t duration_ns, iterations; /* 0: as the agent's settings have it */
	struct str reason;
	struct str alert; /* its id, where an alert asked */
	struct capture_target *targets;
	size_t n_targets;
};

enum capture_state capture_state(const struct capture *c);
/* Is this worker one that the capture asks for? */
bool capture_wants(const struct capture *c, struct str host, struct str service, struct str source,
	struct str worker);
/* The object that GET /api/v1/captures lists (doc/api.md). */
void capture_write(struct json_writer *w, const struct capture *c);

/* A worker may be profiled: granted when an agent polled, told to it with every answer until begin_ns. It counts
 * against the limits until the agent says that it ended, or until until_ns: a minute after the end of a window
 * that began at begin_ns. */
struct lease {
	struct str id, agent;
	struct str capture; /* empty: of the schedule */
	struct str host, service, source, worker;
	int64_t duration_ns, iterations; /* 0: as the agent's settings have it */
	int64_t granted_ns, begin_ns, until_ns;
};

/* The kill switch. */
struct capture_policy {
	bool paused;
	struct str reason;
	int64_t changed_ns; /* 0: never */
};

/* What is to be made durable at once. */
struct target_change {
	struct str capture;
	struct capture_target target;
};
struct capture_end {
	struct str capture;
	int64_t ended_ns;
};
VEC(lease_vec, struct lease);
VEC(capture_vec, struct capture);
VEC(target_change_vec, struct target_change);
VEC(capture_end_vec, struct capture_end);
VEC(lease_id_vec, struct str);

struct capture_changes {
	struct lease_vec granted;
	struct lease_id_vec ended; /* leases */
	struct capture_vec captures; /* new ones */
	struct target_change_vec targets;
	struct capture_end_vec ends;
	const struct capture_policy *policy; /* NULL: as it is */
};

#endif
