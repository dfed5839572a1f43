/* store.h — what is remembered: windows, deploys, alerts, leases and captures; and the questions that can be asked of it.
 * One interface, engines behind it (SQLite now), one conformance suite over the interface (tests/unit/store).
 *
 * Every call blocks and may be made from any thread but an event loop. Answers live in the arena the caller gives
 * (its ceiling is the answer's ceiling: E_LIMIT); histograms inside answers are freed by the answers' own _fini.
 * Lists come in pages: next is the cursor for the following page, empty at the end; a cursor that the list did not give
 * out is E_USAGE. In every query to_ns 0 means no end, limit 0 the default one. A question that takes longer than 20
 * seconds is E_LIMIT, one that finds no reader free E_BUSY, and what the disk has damaged E_CORRUPT. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/metric.h"
#include "profile/alert.h"
#include "profile/capture.h"
#include "profile/query.h"
#include "profile/window.h"

struct store;

struct store_settings {
	const char *dir;	     /* made when missing */
	int64_t retention_raw_ns;    /* windows older than this (by their own time) are dropped; 0: never */
	int64_t retention_report_ns; /* windows without ops; 0: as the others */
	int64_t retention_rollup_ns; /* hourly rollups, which are kept as long as windows at least; 0: never */
	int64_t max_bytes; /* size of the database; windows without ops go first, then the oldest others, then the oldest hours; 0: no cap */
	int readers;	   /* reading connections; 0: one a core, two at least */
	struct metrics *metrics; /* may be NULL */
};

/* E_BUSY: another process has it open. E_CORRUPT: damaged, with what to do. E_UNSUPPORTED: written by a newer version. */
int store_open_sqlite(struct store **out, const struct store_settings *settings, struct err *e) MUST_USE;
void store_close(
	struct store *st); /* does the writes under way first; no call may be inside it; NULL is fine */

/* ---- writing: durable when the call returns OK. E_FULL when the disk is full, E_BUSY when the writer's queue is. */
struct put_result {
	uint64_t accepted, duplicates;
};
/* All of them or, on any error, none. E_FORMAT and E_LIMIT from window_check, with "windows[3]: " in front. */
int store_put(struct store *st, const struct window *windows, size_t n, struct put_result *out,
	struct err *e) MUST_USE;

struct deploy {
	struct str service, deploy;
	int64_t first_ns,
		last_ns; /* first and last window's start; without windows when it was announced (put: first_ns) */
	uint64_t windows, hosts;
	struct label *labels; /* as announced */
	size_t n_labels;
};
int store_put_deploy(
	struct store *st, const struct deploy *d, struct err *e) MUST_USE; /* announces; repeats update */
int store_put_alert(
	struct store *st, const struct alert *a, struct err *e) MUST_USE; /* by id: new or replaced */

/* All of it or nothing. Leases and captures by their ids: a repeat replaces. A target that has ended stays as it ended. */
int store_put_captures(struct store *st, const struct capture_changes *c, struct err *e) MUST_USE;

/* Drops what is past retention and over the size cap. now_ns: wall. */
int store_housekeep(struct store *st, int64_t now_ns, struct err *e) MUST_USE;

/* ---- asking. Windows without ops (reports of gauges) are kept as any other, and store_windows and store_window give them;
 * they are in no other answer and count nowhere: they say nothing about ops, and are not a moment in which none ran.
 *
 * Services, hosts and deploys: those whose life, from first to last window, meets the query's range; their numbers are of all their windows ever accepted (until the rollups go). */
struct service_item {
	struct str service;
	struct str deploy; /* the one whose first window began last, before the query's until_ns */
	uint64_t hosts, deploys, windows;
	int64_t first_ns, last_ns;
};
struct service_list {
	struct service_item *v;
	size_t n;
	struct str next;
};
int store_services(struct store *st, const struct query *q, struct arena *a, struct service_list *out,
	struct err *e) MUST_USE;

/* Of all services, in order: for whoever goes over them and asks about each. Cheap where store_services counts. */
struct name_list {
	struct str *v;
	size_t n;
};
int store_service_names(struct store *st, struct arena *a, struct name_list *out, struct err *e) MUST_USE;

struct host_item {
	struct str host, service, deploy; /* of its newest window of those asked for; first seen before the query's until_ns, if any is */
	uint64_t workers, windows;
	int64_t first_ns, last_ns;
};
struct host_list {
	struct host_item *v;
	size_t n;
	struct str next;
};
int store_hosts(struct store *st, const struct query *q, struct arena *a, struct host_list *out,
	struct err *e) MUST_USE;

struct deploy_list { /* newest first_ns first */
	struct deploy *v;
	size_t n;
	struct str next;
};
int store_deploys(struct store *st, const struct query *q, struct arena *a, struct deploy_list *out,
	struct err *e) MUST_USE;

/* From the first to the last start of what the query names by service, deploy, host and worker; its range does not count. *any
 * false: no window of it was ever accepted. */
int store_life(struct store *st, const struct query *q, bool *any, int64_t *first_ns, int64_t *last_ns,
	struct err *e) MUST_USE;

/* Windows by start (then id), with or without their ops, labels and gauges. */
struct window_list {
	struct window *v;
	size_t n;
	struct str next;
};
int store_windows(struct store *st, const struct query *q, bool whole, struct arena *a,
	struct window_list *out, struct err *e) MUST_USE;
void window_list_fini(struct window_list *l);
/* One, whole. E_NOT_FOUND. */
int store_window(struct store *st, const uint8_t id[WINDOW_ID], struct arena *a, struct window *out,
	struct err *e) MUST_USE;

/* All windows that match, merged. The caller frees *out with profile_merge_free. *tier_ns tells what answered: 0 windows
 * alone, NS_PER_HOUR hourly rollups too. It is exact in both; only where windows are not kept any more the range's ends
 * are widened to whole hours. With q->op or q->has_kind only those ops. */
int store_merged(struct store *st, const struct query *q, struct profile_merge **out, int64_t *tier_ns,
	struct err *e) MUST_USE;

/* One op (q->op; q->kind where has_kind, else the first kind in the enum's order that has calls in the range) over time:
 * points of resolution_ns, aligned to multiples of it since 1970. Points without windows are left out; where the windows
 * of a point do not have the op, op.calls is 0. No points at all for an op that was never seen. E_USAGE without q->op,
 * E_LIMIT for more than 100,000 points. */
struct trend_point {
	int64_t t_ns;
	uint64_t windows, steps;
	struct op_summary op; /* merged over the windows of the point */
};
struct trend {
	struct trend_point *v;
	size_t n;
	int64_t resolution_ns; /* of the points, never finer than tier_ns */
	int64_t tier_ns;
};
int store_trend(
	struct store *st, const struct query *q, struct arena *a, struct trend *out, struct err *e) MUST_USE;
void trend_fini(struct trend *t);

struct alert_list { /* newest started_ns first */
	struct alert *v;
	size_t n;
	struct str next;
};
/* any_state true: all; else only those of state. service and deploy of the query count. */
int store_alerts(struct store *st, const struct query *q, bool any_state, enum alert_state state,
	struct arena *a, struct alert_list *out, struct err *e) MUST_USE;
int store_alert(struct store *st, struct str id, struct arena *a, struct alert *out,
	struct err *e) MUST_USE; /* E_NOT_FOUND */

struct capture_list { /* newest created_ns first; targets by host, service, source and worker */
	struct capture *v;
	size_t n;
	struct str next;
};
/* service of the query counts: named by the capture, or one of its targets'. open_only: those that have not ended, all of them
 * in one page. */
int store_captures(struct store *st, const struct query *q, bool open_only, struct arena *a, struct capture_list *out,
	struct err *e) MUST_USE;
int store_capture(struct store *st, struct str id, struct arena *a, struct capture *out,
	struct err *e) MUST_USE; /* E_NOT_FOUND */

struct lease_list {
	struct lease *v;
	size_t n;
};
int store_leases(struct store *st, struct arena *a, struct lease_list *out, struct err *e) MUST_USE;
int store_capture_policy(struct store *st, struct arena *a, struct capture_policy *out, struct err *e) MUST_USE;

/* Can it be written to? OK, or why not (E_FULL after a write failed for want of space, until one succeeds or there is
 * room again). For /-/ready. */
int store_ready(struct store *st, struct err *e) MUST_USE;

#endif
