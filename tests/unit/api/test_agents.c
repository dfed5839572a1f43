/* Agents that poll, captures that are asked for, the kill switch: as they come over the API. */
#include "tests/unit/api/ask.h"

#include <sqlite3.h>
#include <stdarg.h>

Suite *suite_agents(void);

static struct ask k;

static void start(void)
{
	ask_open(&k, false);
	ask_later_ns += 30 * NS_PER_S; /* long enough for all agents to be known */
}

static void stop(void)
{
	ask_close(&k);
}

static struct str text(const struct json_node *n, const char *key)
{
	return json_get_str(n, key);
}

/* agent: one hex digit. The worker's members besides source, service and worker; the list of what ended. */
static int poll_as(char agent, const char *worker, const char *ended)
{
	char path[100], body[2000];

	snprintf(path, sizeof(path), "/api/v1/agents/%032d/poll", 0);
	path[sizeof("/api/v1/agents/") - 1] = agent;
	snprintf(body, sizeof(body),
		"{\"host\":\"trn-%c\",\"version\":\"0.1.0\",\"start_ns\":5,\"later\":{},\"workers\":[{\"source\":\"kineto\","
		"\"service\":\"llm-decode\",\"worker\":\"0\",\"deploy\":\"v42\",\"more\":1%s}],\"ended\":[%s]}",
		agent, worker, ended);
	return ask_post_json(&k, path, body);
}

static size_t leases(void)
{
	return json_get(k.json, "leases")->n;
}

/* What the agent says of its only lease, as a text that lives on. */
static const char *ended_of(const char *how)
{
	static char out[400];
	const struct json_node *l;

	ck_assert_uint_eq(leases(), 1);
	l = &json_get(k.json, "leases")->items[0];
	snprintf(out, sizeof(out), "{\"lease\":\"%.*s\",\"capture\":%s%.*s%s,%s}", STR_ARG(text(l, "id")),
		str_empty(text(l, "capture")) ? "null" : "\"", STR_ARG(text(l, "capture")),
		str_empty(text(l, "capture")) ? "" : "\"", how);
	return out;
}

#define TAKEN "\"taken\":true,\"end\":\"taken\",\"window\":\"000000000000000000000000000000aa\""

START_TEST(an_agent_polls_gets_a_lease_and_ends_it)
{
	const struct json_node *l;

	ck_assert_int_eq(poll_as('1', "", ""), 200);
	ck_assert(!json_get_bool(k.json, "paused", true));
	ck_assert_int_eq(json_get_i64(k.json, "poll_ns", 0), 10 * NS_PER_S);
	ck_assert_uint_eq(leases(), 0);
	ck_assert_int_eq(poll_as('1', ",\"wants\":true", ""), 200);
	ck_assert_uint_eq(leases(), 1);
	l = &json_get(k.json, "leases")->items[0];
	ck_assert(str_eq(text(l, "source"), STR("kineto")) && str_eq(text(l, "service"), STR("llm-decode")));
	ck_assert(str_eq(text(l, "worker"), STR("0")));
	ck_assert_int_eq(json_get(l, "capture")->kind, JSON_K_NULL);
	ck_assert_int_eq(json_get_i64(l, "duration_ns", -1), 0);
	ck_assert_int_eq(json_get_i64(l, "iterations", -1), 0);
	ck_assert_int_eq(json_get_i64(l, "ttl_ns", -1), 60 * NS_PER_S);
	ck_assert(ask_metric(&k, "trainspotter_leases ") == 1);
	ask_later_ns += 10 * NS_PER_S;
	ck_assert_int_eq(poll_as('1', ",\"wants\":true", ""), 200); /* the answer was lost */
	ck_assert_int_eq(json_get_i64(&json_get(k.json, "leases")->items[0], "ttl_ns", -1), 50 * NS_PER_S);
	ck_assert_int_eq(poll_as('1', ",\"last_ns\":7", ended_of(TAKEN)), 200);
	ck_assert_uint_eq(leases(), 0);
	ck_assert(ask_metric(&k, "trainspotter_leases ") == 0);
	ck_assert(ask_metric(&k, "trainspotter_leases_granted_total ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_leases_ended_total{taken=\"yes\"} ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_agents ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_agent_workers ") == 1);
}
END_TEST

START_TEST(leases_are_known_again_after_a_restart_and_still_count)
{
	char first[40];

	poll_as('1', ",\"wants\":true", "");
	poll_as('2', ",\"wants\":true", "");
	poll_as('3', "", "");
	poll_as('4', ",\"wants\":true", "");
	ck_assert_uint_eq(leases(), 0); /* two of a service */
	poll_as('1', ",\"wants\":true", "");
	snprintf(first, sizeof(first), "%.*s", STR_ARG(text(&json_get(k.json, "leases")->items[0], "id")));
	ask_restart_desk(&k);
	poll_as('4', ",\"wants\":true", "");
	ck_assert_uint_eq(leases(), 0);
	poll_as('1', ",\"wants\":true", "");
	ck_assert(str_eq(text(&json_get(k.json, "leases")->items[0], "id"), str_of(first)));
	poll_as('1', "", ended_of(TAKEN));
	ask_restart_desk(&k);
	poll_as('3', "", "");
	poll_as('4', ",\"wants\":true", "");
	ck_assert_uint_eq(leases(), 1);
}
END_TEST

START_TEST(agents_are_listed_with_their_workers_in_pages)
{
	const struct json_node *w;
	char path[300];

	poll_as('2', ",\"state\":\"busy\",\"why\":\"busy\",\"last_ns\":1793491200000000000,\"cost_ppm\":300,\"measured\":true,"
		     "\"every_nth\":2", "");
	poll_as('1', ",\"wants\":true,\"why\":\"due\"", "");
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents"), 200);
	ck_assert_uint_eq(ask_items(&k), 2);
	ck_assert(str_eq(text(ask_item(&k, 0), "host"), STR("trn-1")));
	ck_assert(str_eq(text(ask_item(&k, 0), "version"), STR("0.1.0")));
	ck_assert(json_get_bool(ask_item(&k, 0), "heard", false));
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "leases", -1), 1);
	ck_assert_int_eq(json_get_i64(ask_item(&k, 0), "polled_ns", 0), ask_now());
	w = &json_get(ask_item(&k, 0), "workers")->items[0];
	ck_assert(json_get_bool(w, "wants", false));
	ck_assert_int_eq(json_get(w, "cost_ppm")->kind, JSON_K_NULL); /* unmeasured */
	ck_assert_int_eq(json_get(w, "last_ns")->kind, JSON_K_NULL);
	w = &json_get(ask_item(&k, 1), "workers")->items[0];
	ck_assert(str_eq(text(w, "state"), STR("busy")) && str_eq(text(w, "why"), STR("busy")));
	ck_assert_int_eq(json_get_i64(w, "cost_ppm", 0), 300);
	ck_assert_int_eq(json_get_i64(w, "every_nth", 0), 2);
	ck_assert_int_eq(json_get_i64(w, "last_ns", 0), INT64_C(1793491200000000000));

	ck_assert_int_eq(ask_get(&k, "/api/v1/agents?limit=1"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	snprintf(path, sizeof(path), "/api/v1/agents?limit=1&cursor=%.*s", STR_ARG(text(k.json, "next")));
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert(str_eq(text(ask_item(&k, 0), "host"), STR("trn-2")));
	ck_assert_int_eq(json_get(k.json, "next")->kind, JSON_K_NULL);
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents?host=trn-2"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents?service=ranker"), 200);
	ck_assert_uint_eq(ask_items(&k), 0);
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents?cursor=abc"), 400);
	ask_later_ns += 31 * NS_PER_S;
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents"), 200);
	ck_assert(!json_get_bool(ask_item(&k, 0), "heard", true));
}
END_TEST

START_TEST(a_service_tells_what_capturing_costs_it)
{
	const struct json_node *cost;

	fleet_deploy(&k.fleet, "v42", FLEET_START, 1, FLEET_FUSED);
	ck_assert_int_eq(ask_get(&k, "/api/v1/services"), 200);
	cost = json_get(ask_item(&k, 0), "capture");
	ck_assert_int_eq(json_get_i64(cost, "workers", -1), 0);
	ck_assert_int_eq(json_get(cost, "every_nth")->kind, JSON_K_NULL);
	poll_as('1', ",\"cost_ppm\":300,\"measured\":true", "");
	poll_as('2', ",\"cost_ppm\":500,\"measured\":true,\"every_nth\":4", "");
	poll_as('3', "", "");
	ck_assert_int_eq(ask_get(&k, "/api/v1/services"), 200);
	cost = json_get(ask_item(&k, 0), "capture");
	ck_assert_int_eq(json_get_i64(cost, "workers", -1), 3);
	ck_assert_int_eq(json_get_i64(cost, "measured", -1), 2);
	ck_assert_int_eq(json_get_i64(cost, "cost_ppm", -1), 400);
	ck_assert_int_eq(json_get_i64(cost, "cost_ppm_max", -1), 500);
	ck_assert_int_eq(json_get_i64(cost, "every_nth", -1), 4);
}
END_TEST

static const struct {
	const char *path, *body, *says;
	int status;
} bad[] = {
	{ "/api/v1/agents/12/poll", "{\"host\":\"h\"}", "32 hex digits", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{}", "host: must be a text of 1 to 256", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "[]", "must be an object", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{", "line 1", 400 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{\"host\":\"h\",\"workers\":{}}", "workers: must be a list", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{\"host\":\"h\",\"workers\":[1]}", "workers[0]: must be an object",
		422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{\"host\":\"h\",\"workers\":[{\"source\":\"x\",\"wants\":1}]}",
		"workers[0]: wants: must be true or false", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll",
		"{\"host\":\"h\",\"workers\":[{\"source\":\"x\",\"state\":\"odd\"}]}", "idle, busy and capturing", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{\"host\":\"h\",\"workers\":[{\"source\":\"x\",\"last_ns\":-1}]}",
		"last_ns: must be a whole number", 422 },
	{ "/api/v1/agents/00000000000000000000000000000001/poll", "{\"host\":\"h\",\"ended\":[{}]}", "ended[0]: lease", 422 },
	{ "/api/v1/captures", "{}", "service or hosts", 422 },
	{ "/api/v1/captures", "{\"host\":\"trn-1\"}", "host: not known; service, hosts, workers", 422 },
	{ "/api/v1/captures", "{\"hosts\":\"trn-1\"}", "hosts: must be a list", 422 },
	{ "/api/v1/captures", "{\"service\":\"s\",\"duration_ns\":60000000001}", "duration_ns: must be", 422 },
	{ "/api/v1/captures", "{\"service\":\"nobody\"}", "no agent that polls tells of such a worker (service nobody", 404 },
	{ "/api/v1/capture/policy", "{\"reason\":\"x\"}", "paused: must be true or false", 422 },
	{ "/api/v1/capture/policy", "{\"paused\":null}", "paused: must be true or false", 422 },
	{ "/api/v1/captures", "{\"service\":\"a\\u0000b\"}", "service: holds a NUL", 422 },
	{ "/api/v1/deploys", "{\"service\":\"a\\u0000b\",\"deploy\":\"d\"}", "service: holds a NUL", 422 },
	{ "/api/v1/deploys", "{\"service\":\"a\",\"deploy\":\"d\",\"labels\":{\"k\":\"\\u0000\"}}", "labels: \"k\" must be a text of at most 256 bytes, none of them NUL", 422 },
	{ "/api/v1/capture/policy", "{\"paused\":\"yes\"}", "paused: must be true or false", 422 },
};

START_TEST(what_cannot_be_is_refused_with_what_would_be_right)
{
	ck_assert_msg(ask_post_json(&k, bad[_i].path, bad[_i].body) == bad[_i].status, "%s: %d %s", bad[_i].body, k.rp.status,
		k.rp.body.p);
	ck_assert_msg(strstr(ask_detail(&k), bad[_i].says) != NULL, "%s: %s", bad[_i].body, ask_detail(&k));
	ck_assert(ask_metric(&k, "trainspotter_agents ") == 0);
}
END_TEST

START_TEST(a_capture_runs_from_asking_to_its_window)
{
	char path[100];
	const struct json_node *t;

	poll_as('1', "", "");
	poll_as('2', "", "");
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/captures",
				 "{\"service\":\"llm-decode\",\"hosts\":[\"trn-1\"],\"duration_ns\":500000000,\"reason\":\"why\"}"),
		201);
	ck_assert(str_eq(text(k.json, "state"), STR("waiting")));
	ck_assert_uint_eq(json_get(k.json, "targets")->n, 1);
	snprintf(path, sizeof(path), "/api/v1/captures/%.*s", STR_ARG(text(k.json, "id")));
	ck_assert(str_contains(buf_view(&k.rp.headers), str_of(path)));

	poll_as('2', "", "");
	ck_assert_uint_eq(leases(), 0);
	poll_as('1', "", "");
	ck_assert_int_eq(json_get_i64(&json_get(k.json, "leases")->items[0], "duration_ns", 0), 500 * NS_PER_MS);
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert(str_eq(text(k.json, "state"), STR("running")));
	ck_assert(ask_metric(&k, "trainspotter_captures{state=\"running\"} ") == 1);
	ask_restart_desk(&k); /* in the middle of it */
	poll_as('1', "", "");
	poll_as('1', "", ended_of(TAKEN));
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert_msg(str_eq(text(k.json, "state"), STR("done")), "%s", k.rp.body.p);
	t = &json_get(k.json, "targets")->items[0];
	ck_assert(str_eq(text(t, "host"), STR("trn-1")) && str_eq(text(t, "worker"), STR("0")));
	ck_assert(str_eq(text(t, "state"), STR("taken")) && str_eq(text(t, "end"), STR("taken")));
	ck_assert(str_eq(text(t, "window"), STR("000000000000000000000000000000aa")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/captures?service=llm-decode"), 200);
	ck_assert_uint_eq(ask_items(&k), 1);
	ck_assert(str_eq(text(ask_item(&k, 0), "reason"), STR("why")));
	ck_assert_int_eq(ask_get(&k, "/api/v1/captures/none"), 404);
	ck_assert(ask_metric(&k, "trainspotter_captures_asked_total ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_captures_ended_total{state=\"done\"} ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_captures{state=\"running\"} ") == 0);
}
END_TEST

START_TEST(a_capture_that_nobody_takes_expires_by_itself)
{
	char path[100];

	poll_as('1', "", "");
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/captures", "{\"hosts\":[\"trn-1\"]}"), 201);
	snprintf(path, sizeof(path), "/api/v1/captures/%.*s", STR_ARG(text(k.json, "id")));
	ask_later_ns += 10 * NS_PER_MIN;
	ck_assert_int_eq(ask_get(&k, "/api/v1/agents"), 200); /* whatever the desk does next, time has passed */
	ck_assert_int_eq(ask_get(&k, path), 200);
	ck_assert(str_eq(text(k.json, "state"), STR("expired")));
	ck_assert(str_eq(text(&json_get(k.json, "targets")->items[0], "state"), STR("expired")));
}
END_TEST

START_TEST(the_kill_switch_holds_over_a_restart_until_it_is_lifted)
{
	poll_as('1', ",\"wants\":true", "");
	ck_assert_int_eq(ask_get(&k, "/api/v1/capture/policy"), 200);
	ck_assert(!json_get_bool(k.json, "paused", true));
	ck_assert_int_eq(json_get(k.json, "changed_ns")->kind, JSON_K_NULL);
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/capture/policy", "{\"paused\":true,\"reason\":\"incident 12\"}"), 200);
	ck_assert(json_get_bool(k.json, "paused", false));
	ck_assert_int_eq(json_get_i64(k.json, "changed_ns", 0), ask_now());
	poll_as('1', ",\"wants\":true", "");
	ck_assert(json_get_bool(k.json, "paused", false));
	ck_assert(str_eq(text(k.json, "reason"), STR("incident 12")));
	ck_assert_uint_eq(leases(), 0);
	ask_restart_desk(&k);
	poll_as('1', ",\"wants\":true", "");
	ck_assert(json_get_bool(k.json, "paused", false));
	ck_assert(ask_metric(&k, "trainspotter_capture_paused ") == 1);
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/capture/policy", "{\"paused\":false}"), 200);
	poll_as('1', ",\"wants\":true", "");
	ck_assert_uint_eq(leases(), 1);
	ck_assert(str_empty(text(k.json, "reason")));
}
END_TEST

/* The disk is full: nothing is promised that would not be kept, and what is there goes on with room again. */
int store_limit_pages(struct store *st, unsigned pages, struct err *e);

START_TEST(what_could_not_be_made_durable_did_not_happen)
{
	struct err e = { 0 };
	int status = 201, kept = -1;

	poll_as('1', "", "");
	ck_assert_int_eq(store_limit_pages(k.fleet.store, 1, &e), OK);
	for (; kept < 2000 && status == 201; kept++)
		status = ask_post_json(&k, "/api/v1/captures", "{\"hosts\":[\"trn-1\"],\"reason\":\"fill fill fill fill fill fill\"}");
	ck_assert_int_eq(status, 507);
	ck_assert(ask_metric(&k, "trainspotter_captures{state=\"waiting\"} ") == kept);
	ck_assert_int_eq(store_limit_pages(k.fleet.store, 0, &e), OK);
	ck_assert_int_eq(poll_as('1', "", ""), 200);
	ck_assert_uint_eq(leases(), 1);
	ck_assert_int_eq(ask_get(&k, "/api/v1/captures?limit=10000"), 200);
	ck_assert_uint_eq(ask_items(&k), kept);
}
END_TEST

/* Each of another service, so that the limits do not come first; rows so long that the disk does. */
static bool poll_long(int agent)
{
	char path[100], body[2000], name[241];

	memset(name, 'x', 240);
	name[240] = '\0';
	snprintf(path, sizeof(path), "/api/v1/agents/%032d/poll", agent);
	snprintf(body, sizeof(body),
		"{\"host\":\"%s\",\"workers\":[{\"source\":\"kineto\",\"service\":\"%d-%s\",\"worker\":\"%s\",\"wants\":true}]}",
		name, agent, name, name);
	ck_assert_int_eq(ask_post_json(&k, path, body), 200);
	return leases() == 1;
}

START_TEST(on_a_full_disk_agents_are_answered_without_new_leases)
{
	struct err e = { 0 };
	int given = 0, later = 0;

	ck_assert_int_eq(store_limit_pages(k.fleet.store, 1, &e), OK);
	for (int round = 0; round < 2; round++) { /* in the first the fleet grows, and with it its share */
		given = 0;
		for (int i = 100; i < 160; i++)
			given += poll_long(i);
	}
	ck_assert_msg(given < 30, "%d leases", given); /* half of them by the limits */
	ck_assert(ask_metric(&k, "trainspotter_leases ") == given);
	ck_assert_int_eq(store_limit_pages(k.fleet.store, 0, &e), OK);
	for (int i = 100; i < 160; i++)
		later += poll_long(i);
	ck_assert_int_eq(later, 30);
}
END_TEST

/* Somebody else has the store: for one who polls that is no other than a disk without room. */
static sqlite3 *hold_store(void)
{
	sqlite3 *db = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/store.sqlite", k.fleet.dir);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

START_TEST(what_ended_is_told_again_until_it_is_kept)
{
	const char *ended;
	sqlite3 *db;

	poll_as('1', ",\"wants\":true", "");
	ended = ended_of(TAKEN);
	db = hold_store();
	ck_assert_int_eq(poll_as('1', "", ended), 200);
	ck_assert(!json_get_bool(k.json, "heard", true));
	ck_assert_int_eq(poll_as('2', "", ""), 200); /* it had nothing to say */
	ck_assert_ptr_null(json_get(k.json, "heard"));
	sqlite3_close(db);
	ck_assert_int_eq(poll_as('1', "", ended), 200);
	ck_assert_ptr_null(json_get(k.json, "heard"));
	ck_assert(ask_metric(&k, "trainspotter_leases ") == 0);
	ck_assert(ask_metric(&k, "trainspotter_leases_ended_total{taken=\"yes\"} ") == 1);
}
END_TEST

/* Nor does it matter to those who only look that what the table would write cannot be written. */
START_TEST(on_a_full_disk_who_only_reads_is_answered)
{
	static const char *const paths[] = { "/api/v1/agents", "/api/v1/services", "/api/v1/capture/policy", "/api/v1/captures" };
	struct err e = { 0 };

	ck_assert_int_eq(poll_as('1', ",\"wants\":true", ""), 200);
	ck_assert_uint_eq(leases(), 1);
	ck_assert_int_eq(store_limit_pages(k.fleet.store, 1, &e), OK);
	for (int status = 201; status == 201;)
		status = ask_post_json(&k, "/api/v1/captures", "{\"hosts\":[\"trn-1\"],\"reason\":\"fill fill fill fill fill fill\"}");
	ask_later_ns += NS_PER_HOUR / 2; /* lease and captures are over: there is something to write at every call */
	for (size_t i = 0; i < COUNT(paths); i++)
		ck_assert_msg(ask_get(&k, paths[i]) == 200, "%s: %s", paths[i], ask_detail(&k));
	ck_assert_int_eq(store_limit_pages(k.fleet.store, 0, &e), OK);
}
END_TEST

static const char sound[] =
	"{\"host\":\"trn-1\",\"version\":\"0.1.0\",\"start_ns\":5,\"workers\":[{\"source\":\"kineto\",\"service\":\"llm\","
	"\"worker\":\"0\",\"state\":\"capturing\",\"wants\":true,\"last_ns\":1793491200000000000,\"why\":\"due\",\"cost_ppm\":300,"
	"\"measured\":true,\"every_nth\":2}],\"ended\":[{\"lease\":\"abc\",\"capture\":null,\"taken\":true,\"end\":\"taken\","
	"\"window\":\"00\"}]}";

/* Bytes changed, left out, doubled: whatever comes, it is taken whole or refused with a reason, and the next sound one is taken. */
START_TEST(a_poll_of_any_bytes_is_taken_or_refused_and_does_no_harm)
{
	static const char bytes[] = "{}[]\",:0129-.eE\\u\0truefalsn \xff\x80";
	struct rand_gen r;
	char body[2 * sizeof(sound)];

	rand_seed(&r, 4);
	for (int i = 0; i < 3000; i++) {
		size_t n = sizeof(sound) - 1;

		memcpy(body, sound, n);
		for (uint64_t left = 1 + rand_below(&r, 3); left > 0; left--) {
			size_t at = (size_t)rand_below(&r, n);
			char c = bytes[rand_below(&r, sizeof(bytes) - 1)];

			switch (rand_below(&r, 3)) {
			case 0: body[at] = c; break;
			case 1: memmove(body + at, body + at + 1, --n - at); break;
			default:
				memmove(body + at + 1, body + at, n++ - at);
				body[at] = c;
			}
		}
		ask_header(&k, "Content-Type", "application/json");
		ask_call(&k, HTTP_POST, "/api/v1/agents/00000000000000000000000000000001/poll", str_make(body, n));
		ck_assert_msg(k.rp.status == 200 || ((k.rp.status == 400 || k.rp.status == 422) && !str_empty(text(k.json, "detail"))),
			"%d for %.*s", k.rp.status, (int)n, body);
	}
	ck_assert_int_eq(ask_post_json(&k, "/api/v1/agents/00000000000000000000000000000001/poll", sound), 200);
	ck_assert(ask_metric(&k, "trainspotter_agents ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_agent_workers ") == 1);
	ck_assert(ask_metric(&k, "trainspotter_leases ") <= 2);
}
END_TEST

Suite *suite_agents(void)
{
	Suite *s = suite_create("api/agents");
	TCase *tc = tcase_create("agents");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, an_agent_polls_gets_a_lease_and_ends_it);
	tcase_add_test(tc, leases_are_known_again_after_a_restart_and_still_count);
	tcase_add_test(tc, agents_are_listed_with_their_workers_in_pages);
	tcase_add_test(tc, a_service_tells_what_capturing_costs_it);
	tcase_add_loop_test(tc, what_cannot_be_is_refused_with_what_would_be_right, 0, COUNT(bad));
	tcase_add_test(tc, a_capture_runs_from_asking_to_its_window);
	tcase_add_test(tc, a_capture_that_nobody_takes_expires_by_itself);
	tcase_add_test(tc, the_kill_switch_holds_over_a_restart_until_it_is_lifted);
	tcase_add_test(tc, a_poll_of_any_bytes_is_taken_or_refused_and_does_no_harm);
	tcase_add_test(tc, what_ended_is_told_again_until_it_is_kept);
	tcase_add_test(tc, on_a_full_disk_agents_are_answered_without_new_leases);
	tcase_add_test(tc, on_a_full_disk_who_only_reads_is_answered);
	tcase_add_test(tc, what_could_not_be_made_durable_did_not_happen);
	suite_add_tcase(s, tc);
	return s;
}
