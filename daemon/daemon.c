#include "daemon/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "api/api.h"
#include "api/desk.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/proc.h"
#include "daemon/tables.h"
#include "daemon/tick.h"
#include "net/http_server.h"
#include "notify/notify.h"
#include "store/store.h"

enum { DAEMON_FILES = 65536, PATH_BYTES = 4096 };
static const int64_t housekeep_ns = NS_PER_HOUR;

struct daemon {
	const struct options *o;
	int signals;
	struct metrics *metrics;
	struct store *store;
	struct desk *desk;
	struct api *api;
	struct notify *notify;
	struct tick *tick;
	struct http_server *server;
};

/* ---- from the configuration to each part's settings */

static struct notify_settings notify_of(const struct daemon_conf *c)
{
	return (struct notify_settings){
		.url = c->webhook_url,
		.token_file = c->webhook_token_file,
		.ca_file = c->webhook_ca_file,
		.timeout_ns = c->webhook_timeout_ns,
		.first_wait_ns = NS_PER_S,
		.max_wait_ns = 5 * NS_PER_MIN,
		.tries = c->webhook_tries,
	};
}

static struct tick_settings tick_of(const struct daemon_conf *c)
{
	return (struct tick_settings){
		.interval_ns = c->detect_interval_ns,
		.settle_ns = c->detect_settle_ns,
		.windows_before = c->detect_windows_before,
		.windows_after = c->detect_windows_after,
		.steps = c->detect_steps,
		.capture = c->capture_on_alert,
		.capture_every_ns = c->capture_on_alert_every_ns,
	};
}

static struct lease_limits leases_of(const struct daemon_conf *c)
{
	return (struct lease_limits){
		.max_per_service = c->capture_max_per_service,
		.max_share_percent = c->capture_max_share,
		.max_per_host = c->capture_max_per_host,
		.poll_ns = c->capture_poll_ns,
		.expire_ns = c->capture_expire_ns,
	};
}

/* ---- parts */

static int open_store(struct daemon *d, struct err *e)
{
	const struct daemon_conf *c = &d->o->conf;
	struct store_settings s = {
		.dir = c->store_dir,
		.retention_raw_ns = c->store_retention_ns,
		.retention_report_ns = c->store_retention_report_ns,
		.retention_rollup_ns = c->store_retention_rollup_ns,
		.max_bytes = c->store_max_bytes,
		.readers = (int)c->store_readers,
		.metrics = d->metrics,
	};

	return store_open_sqlite(&d->store, &s, e);
}

static int open_desk(struct daemon *d, struct err *e)
{
	struct desk_settings s = { .store = d->store, .metrics = d->metrics, .limits = leases_of(&d->o->conf) };

	return desk_open(&d->desk, &s, e);
}

/* The tick does not exist yet when the API is made: it is looked up when windows come. */
static void on_arrived(void *env)
{
	struct daemon *d = env;

	if (d->tick != NULL)
		tick_poke(d->tick);
}

static int open_api(struct daemon *d, struct err *e)
{
	const struct daemon_conf *c = &d->o->conf;
	struct api_settings s = {
		.store = d->store,
		.desk = d->desk,
		.metrics = d->metrics,
		.anonymous_reads = c->auth_allow_anonymous_reads,
		.wall_ns = clock_wall_ns,
		.arrived = on_arrived,
		.arrived_env = d,
		.version = "trainspotterd " PACKAGE_VERSION,
	};
	struct tables t;
	int rc = tables_load(&t, c, e);

	d->api = api_new(&s);
	if (rc == OK)
		rc = tables_give(&t, d->api, e);
	tables_fini(&t);
	return rc;
}

static int open_notify(struct daemon *d, struct err *e)
{
	struct notify_settings s = notify_of(&d->o->conf);
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/notified", d->o->conf.store_dir) >= (int)sizeof(path))
		return err_set(e, E_USAGE, "store.dir: is too long");
	return notify_open(&d->notify, &s, path, d->metrics, e);
}

static int open_tick(struct daemon *d, struct err *e)
{
	struct tick_settings s = tick_of(&d->o->conf);
	struct tick_parts parts = { d->store, d->api, d->notify, d->metrics, clock_wall_ns, d->desk };

	return tick_open(&d->tick, &parts, &s, e);
}

static int open_server(struct daemon *d, struct err *e)
{
	const struct daemon_conf *c = &d->o->conf;
	struct http_server_settings s = {
		.address = c->listen_address,
		.port = (int)c->listen_port,
		.max_header_bytes = (size_t)c->limit_header_bytes,
		.max_body_bytes = (size_t)c->limit_body_bytes,
		.threads = (int)c->limit_threads,
		.queue = (int)c->limit_queue,
		.connections = (int)c->limit_connections,
		.request_ns = c->limit_request_ns,
		.metrics = d->metrics,
	};

	return http_server_open(&d->server, &s, api_handle, d->api, e);
}

/* What fired, was resolved or expired and was perhaps not told: before the last stop, since all tries failed, since nobody
 * was named to tell it to. notify knows what was. */
static int tell_again(struct daemon *d, struct err *e)
{
	static const enum alert_state states[] = { ALERT_FIRING, ALERT_RESOLVED, ALERT_EXPIRED };
	struct query q = { .to_ns = INT64_MAX, .limit = NOTIFY_QUEUE / COUNT(states), .newest_first = true };
	struct alert_list list;
	struct arena a;
	int rc = OK;

	arena_init(&a, 64 << 20);
	for (size_t s = 0; s < COUNT(states) && rc == OK; s++) {
		memset(&list, 0, sizeof(list));
		rc = store_alerts(d->store, &q, false, states[s], &a, &list, e);
		for (size_t i = 0; rc == OK && i < list.n && notify_has_room(d->notify); i++)
			rc = notify_push(d->notify, &list.v[i], e);
	}
	arena_fini(&a);
	return rc;
}

static int open_parts(struct daemon *d, struct err *e)
{
	static int (*const open[])(struct daemon *, struct err *) = {
		open_store, open_desk, open_api, open_notify, tell_again, open_tick, open_server,
	};
	int rc = OK;

	for (size_t i = 0; i < COUNT(open) && rc == OK; i++)
		rc = open[i](d, e);
	return rc;
}

int daemon_open(struct daemon **out, const struct options *o, struct err *e)
{
	struct daemon *d = mem_get(sizeof(*d));
	int rc;

	*out = NULL;
	d->o = o;
	d->signals = -1;
	d->metrics = metrics_new();
	log_set_level((enum log_level)o->conf.log_level);
	rc = proc_signals_open(&d->signals, e);
	if (rc == OK && proc_limit_files(DAEMON_FILES, NULL) != OK)
		log_warn("daemon.files", "want=%d", DAEMON_FILES);
	if (rc == OK)
		rc = open_parts(d, e);
	if (rc != OK) {
		daemon_close(d);
		return rc;
	}
	*out = d;
	return OK;
}

/* ---- running */

/* All files are read before anything is changed: the old configuration stays whole where one is wrong. */
static int apply(struct daemon *d, const struct daemon_conf *c, struct err *e)
{
	struct notify_settings ns = notify_of(c);
	struct tick_settings ts = tick_of(c);
	struct lease_limits limits = leases_of(c);
	struct tables t;
	int rc = tables_load(&t, c, e);

	if (rc == OK)
		rc = notify_set(d->notify, &ns, e);
	if (rc == OK)
		rc = tables_give(&t, d->api, e);
	tables_fini(&t);
	if (rc == OK)
		rc = desk_set(d->desk, &limits, e);
	if (rc != OK)
		return rc;
	tick_set(d->tick, &ts);
	log_set_level((enum log_level)c->log_level);
	return OK;
}

static void catch_up(struct daemon *d)
{
	struct err e = { 0 };

	if (tell_again(d, &e) != OK)
		log_warn("notify.catch_up", "err=\"%s\"", e.text); /* in an hour again */
}

static void reload(struct daemon *d)
{
	struct daemon_conf c;
	struct err e = { 0 };
	int rc;

	proc_notify("RELOADING=1");
	rc = options_reread(d->o, &c, &e);
	if (rc == OK)
		rc = apply(d, &c, &e);
	if (rc == OK) {
		log_info("daemon.reloaded", "tokens=%s webhook=%s", c.auth_tokens_file[0] != '\0' ? "yes" : "no",
			c.webhook_url[0] != '\0' ? "yes" : "no");
		catch_up(d);
	} else {
		log_error("daemon.reload", "err=\"%s\" what=\"the old configuration stays in force\"", e.text);
	}
	conf_fini(&daemon_schema, &c);
	proc_notify("READY=1");
}

static void housekeep(struct daemon *d)
{
	struct err e = { 0 };

	catch_up(d);
	if (store_housekeep(d->store, clock_wall_ns(), &e) != OK)
		log_error("store.housekeep", "err=\"%s\"", e.text);
}

int daemon_run(struct daemon *d, struct err *e)
{
	int64_t due = clock_mono_ns() + NS_PER_MIN;

	(void)e;
	log_info("daemon.listening", "address=%s port=%d store=%s version=%s", d->o->conf.listen_address,
		http_server_port(d->server), d->o->conf.store_dir, PACKAGE_VERSION);
	proc_notify("READY=1");
	for (;;) {
		int64_t now = clock_mono_ns();

		if (now >= due) {
			housekeep(d);
			due = clock_mono_ns() + housekeep_ns;
			continue;
		}
		switch (proc_wait_signal(d->signals, due - now)) {
		case SIGHUP: reload(d); break;
		case SIGTERM:
		case SIGINT: log_info("daemon.stopping", "store=%s", d->o->conf.store_dir); return OK;
		default: break; /* SIGUSR1, or the time for housekeeping */
		}
	}
}

void daemon_close(struct daemon *d)
{
	if (d == NULL)
		return;
	proc_notify("STOPPING=1");
	http_server_close(d->server);
	tick_close(d->tick);
	notify_close(d->notify);
	api_free(d->api);
	desk_close(d->desk);
	store_close(d->store);
	metrics_free(d->metrics);
	if (d->signals >= 0)
		close(d->signals);
	mem_free(d);
}
