/* fleet.h — a store in a temporary folder, and windows of a small fleet that loses fusion when it is asked to: for the tests of api
 * and daemon.
 *
 *	struct fleet f;
 *	fleet_open(&f);
 *	fleet_deploy(&f, "v41", FLEET_START, 4, FLEET_FUSED);	 four hourly windows of each host
 */
#ifndef TESTS_SUPPORT_FLEET_H
#define TESTS_SUPPORT_FLEET_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "store/store.h"

/* 2026-11-01T00:00:00Z */
#define FLEET_START (INT64_C(1793491200) * NS_PER_S)

enum { FLEET_HOSTS = 3, FLEET_STEPS = 20, FLEET_OPS = 10 };
enum fleet_code { FLEET_FUSED, FLEET_EAGER };

struct fleet {
	char dir[64];
	struct metrics *metrics;
	struct store *store;
	uint64_t windows; /* made so far: also what makes their ids */
};

static inline void fleet_open(struct fleet *f)
{
	struct store_settings s = { .retention_raw_ns = 100000 * NS_PER_DAY, .retention_rollup_ns = 100000 * NS_PER_DAY };
	struct err e = { 0 };

	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/fleet.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	f->metrics = metrics_new();
	s.dir = f->dir;
	s.metrics = f->metrics;
	ck_assert_msg(store_open_sqlite(&f->store, &s, &e) == OK, "%s", e.text);
}

static inline void fleet_remove(const char *dir)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0); /* what a test leaves behind is killed with it */
}

static inline void fleet_close(struct fleet *f)
{
	store_close(f->store);
	metrics_free(f->metrics);
	fleet_remove(f->dir);
}

struct fleet_row {
	enum op_kind kind;
	const char *name;
	uint64_t calls;	      /* a step */
	int64_t ns;	      /* self device time a step */
	enum fleet_code only; /* where this code has it; FLEET_ALWAYS for both */
};

enum { FLEET_ALWAYS = 9, FLEET_GAP_NS = 12000 };

/* In op_summary_cmp order. Times of the published RMSNorm walk-through on Trainium, inside a model's other ops. */
static const struct fleet_row fleet_rows[] = {
	{ OP_STEP, "ProfilerStep#*", 1, 0, (enum fleet_code)FLEET_ALWAYS },
	{ OP_CPU_OP, "aten::_fused_rms_norm", 1, 403300, FLEET_FUSED },
	{ OP_CPU_OP, "aten::add", 1, 434600, FLEET_EAGER },
	{ OP_CPU_OP, "aten::bmm", 2, 1000000, (enum fleet_code)FLEET_ALWAYS },
	{ OP_CPU_OP, "aten::mean", 1, 340800, FLEET_EAGER },
	{ OP_CPU_OP, "aten::mm", 4, 4000000, (enum fleet_code)FLEET_ALWAYS },
	{ OP_CPU_OP, "aten::mul", 3, 1164500, FLEET_EAGER },
	{ OP_CPU_OP, "aten::rsqrt", 1, 415000, FLEET_EAGER },
	{ OP_GAP, "device", 1, FLEET_GAP_NS, (enum fleet_code)FLEET_ALWAYS },
};
_Static_assert(COUNT(fleet_rows) <= FLEET_OPS, "make room for every row");

static inline void fleet_op(struct op_summary *op, const struct fleet_row *row, int64_t step_ns)
{
	int64_t each = row->kind == OP_STEP ? step_ns : row->ns / (int64_t)row->calls;

	*op = (struct op_summary){ .kind = row->kind, .name = str_of(row->name), .calls = row->calls * FLEET_STEPS };
	op->cpu_total_ns = row->kind == OP_STEP ? step_ns * FLEET_STEPS : row->kind == OP_GAP ? 0 : 20000 * (int64_t)op->calls;
	op->cpu_self_ns = row->kind == OP_STEP ? op->cpu_total_ns / 10 : op->cpu_total_ns;
	if (row->kind != OP_STEP)
		op->device_total_ns = each * (int64_t)op->calls;
	if (row->kind != OP_GAP)
		op->device_self_ns = op->device_total_ns;
	op->basis = row->kind == OP_STEP ? OP_BASIS_CPU : OP_BASIS_DEVICE;
	op->min_ns = op->max_ns = each;
	hist_add_n(&op->hist, each, op->calls);
}

/* A window with texts of the caller's and ops in the array given; free it with window_fini. */
static inline struct window fleet_window(struct fleet *f, const char *service, const char *deploy, const char *host,
	int64_t start_ns, enum fleet_code code, struct op_summary ops[FLEET_OPS])
{
	struct window w = {
		.service = str_of(service), .deploy = str_of(deploy), .host = str_of(host), .worker = STR("0"), .source = STR("watch"),
		.start_ns = start_ns, .dur_ns = 5 * NS_PER_S, .steps = FLEET_STEPS, .steps_from = STEPS_MARKER,
		.has_device = true, .events = 100, .ops = ops,
	};
	int64_t step_ns = 500000;
	uint64_t n = ++f->windows;

	memcpy(w.id, &n, sizeof(n));
	for (size_t i = 0; i < COUNT(fleet_rows); i++)
		if (fleet_rows[i].only == code || fleet_rows[i].only == (enum fleet_code)FLEET_ALWAYS)
			step_ns += fleet_rows[i].ns;
	for (size_t i = 0; i < COUNT(fleet_rows); i++) {
		if (fleet_rows[i].only != code && fleet_rows[i].only != (enum fleet_code)FLEET_ALWAYS)
			continue;
		fleet_op(&ops[w.n_ops++], &fleet_rows[i], step_ns);
		if (fleet_rows[i].kind == OP_CPU_OP)
			w.launches += fleet_rows[i].calls * FLEET_STEPS;
	}
	return w;
}

static inline void fleet_put_worker(struct fleet *f, const char *service, const char *deploy, const char *host,
	const char *worker, int64_t start_ns, enum fleet_code code)
{
	struct op_summary ops[FLEET_OPS];
	struct window w = fleet_window(f, service, deploy, host, start_ns, code, ops);
	struct put_result put = { 0 };
	struct err e = { 0 };

	w.worker = str_of(worker);
	ck_assert_msg(window_check(&w, &e) == OK, "%s", e.text);
	ck_assert_msg(store_put(f->store, &w, 1, &put, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(put.accepted, 1);
	window_fini(&w);
}

static inline void fleet_put(struct fleet *f, const char *service, const char *deploy, const char *host, int64_t start_ns,
	enum fleet_code code)
{
	fleet_put_worker(f, service, deploy, host, "0", start_ns, code);
}

/* Windows of gauges, without ops, one a minute, of each of the deploys in turn; 1,000 at most. */
static inline void fleet_reports(struct fleet *f, const char *const *deploys, size_t n_deploys, const char *host, int64_t from_ns,
	int64_t to_ns)
{
	static struct window w[1000];
	struct gauge g = { .name = STR("neuroncore_utilization_ratio"), .unit = STR("ratio"), .value = 0.5 };
	struct put_result put = { 0 };
	struct err e = { 0 };
	size_t n = 0;

	for (int64_t at = from_ns; at < to_ns && n < COUNT(w); at += NS_PER_MIN, n++) {
		uint64_t id = ++f->windows;

		w[n] = (struct window){ .service = STR("llm-decode"), .deploy = str_of(deploys[n % n_deploys]), .host = str_of(host),
			.source = STR("neuron-monitor"), .start_ns = at, .dur_ns = NS_PER_MIN, .gauges = &g, .n_gauges = 1 };
		memcpy(w[n].id, &id, sizeof(id));
	}
	ck_assert_msg(store_put(f->store, w, n, &put, &e) == OK, "%s", e.text);
}

static inline void fleet_deploy(struct fleet *f, const char *deploy, int64_t start_ns, int hours, enum fleet_code code)
{
	static const char *const hosts[FLEET_HOSTS] = { "trn-1", "trn-2", "trn-3" };

	for (int h = 0; h < hours; h++)
		for (int i = 0; i < FLEET_HOSTS; i++)
			fleet_put(f, "llm-decode", deploy, hosts[i], start_ns + h * NS_PER_HOUR + i * NS_PER_MIN, code);
}

#endif
