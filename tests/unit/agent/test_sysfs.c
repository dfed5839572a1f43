#include "agent/sysfs.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/sysfs_walk.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/agent/folder.h"
#include "wire/wire.h"

Suite *suite_sysfs(void);

#define DEVICES "sys/devices/virtual/neuron_device/"

static struct sysfs_conf conf;
static struct sequence *seq;
static struct source src;
static struct arena arena;
static struct window got;
static size_t n_got;
static int64_t ahead_ns; /* how far the source is told that time has gone on */

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* A file below the devices' folder, with its folders; whoever reads it meanwhile sees the old text or the new. */
static void put(const char *path, const char *content)
{
	char name[512], *slash;

	snprintf(name, sizeof(name), DEVICES "%s", path);
	slash = strrchr(name, '/');
	*slash = '\0';
	ck_assert_int_eq(file_make_dirs(folder_path(name), 0755, NULL), OK);
	*slash = '/';
	folder_write(".new", str_of(content));
	ck_assert_int_eq(rename(folder_path(".new"), folder_path(name)), 0);
}

static void put_n(const char *path, long long n)
{
	char content[64];

	snprintf(content, sizeof(content), "%lld\n", n);
	put(path, content);
}

static void chmod_of(const char *path, mode_t mode)
{
	char name[512];

	snprintf(name, sizeof(name), DEVICES "%s", path);
	ck_assert_int_eq(chmod(folder_path(name), mode), 0);
}

static void put_core(const char *core)
{
	static const char *const counters[] = { "stats/status/success", "stats/status/timeout", "stats/other_info/flop_count",
		"stats/other_info/nc_time_in_use" };
	char path[256];

	for (size_t i = 0; i < COUNT(counters); i++) {
		snprintf(path, sizeof(path), "%s/%s/total", core, counters[i]);
		put_n(path, 1000);
		snprintf(path, sizeof(path), "%s/%s/present", core, counters[i]);
		put_n(path, 7);
	}
	snprintf(path, sizeof(path), "%s/stats/memory_usage/device_mem/tensors/total", core);
	put_n(path, 4096);
	snprintf(path, sizeof(path), "%s/stats/memory_usage/device_mem/tensors/present", core);
	put_n(path, -4096);
	snprintf(path, sizeof(path), "%s/stats/memory_usage/device_mem/tensors/peak", core);
	put_n(path, 8192);
	snprintf(path, sizeof(path), "%s/info/architecture/arch_type", core);
	put(path, "NCv2\n");
}

static void put_power(const char *status, int64_t at_ns)
{
	char content[128];

	snprintf(content, sizeof(content), "%s,%lld,10.50,30.25,20.00\n", status, (long long)(at_ns / NS_PER_S));
	put("neuron0/stats/power/utilization", content);
}

static void put_tree(void)
{
	put_n("neuron0/core_count", 2);
	put("neuron0/reset", "");
	put_n("neuron0/info/notify_delay", -1);
	put("neuron0/info/serial_number", "0123456789abcdef\n");
	put("neuron0/info/architecture/device_name", "Trainium1\n");
	put("neuron0/uevent", "MAJOR=245\n");
	put_n("neuron0/power/runtime_active_time", 5);
	put_n("neuron0/stats/hardware/mem_ecc_uncorrected/total", 3);
	put("neuron0/stats/hardware/health_status/unhealthy_components", "hbm,link_host\n");
	put_power("POWER_STATUS_VALID", clock_wall_ns());
	put_core("neuron0/neuron_core0");
	put_core("neuron0/neuron_core1");
	put_core("neuron12/neuron_core0");
	put("neuron12/info/architecture/device_name", "Trainium1\n");
	put("neuron12/info/serial_number", "fedcba\n");
	chmod_of("neuron0/reset", 0644);
	chmod_of("neuron0/core_count", 0444);
	chmod_of("neuron0/info/serial_number", 0444);
	chmod_of("neuron0/info/architecture/device_name", 0444);
	chmod_of("neuron12/info/architecture/device_name", 0444);
	chmod_of("neuron12/info/serial_number", 0444);
	ck_assert_int_eq(file_make_dirs(folder_path("sys/module/neuron"), 0755, NULL), OK);
	folder_write("sys/module/neuron/version", STR("2.24.7.0\n"));
}

static void setup(void)
{
	folder_make();
	conf = (struct sysfs_conf){ .enabled = true, .root = text(folder_path("sys")), .service = text("fleet"), .deploy = text(""),
		.interval_ns = NS_PER_HOUR };
	ahead_ns = 0;
	seq = sequence_new(folder, STR("an-agent"), 5);
	arena_init(&arena, 64 << 20);
	n_got = 0;
}

static void close_it(void)
{
	if (src.type != NULL)
		src.type->close(src.self);
	src = (struct source){ 0 };
}

static void teardown(void)
{
	close_it();
	sequence_free(seq);
	arena_fini(&arena);
	folder_remove();
}

static void open_it(void)
{
	const struct sysfs_settings s = { .conf = &conf, .origin = { STR("an-agent"), STR("1"), STR("trn-1"), seq } };
	struct err e = { 0 };

	ck_assert_msg(sysfs_open(&src, &s, &e) == OK, "%s", e.text);
}

static void take_batches(int64_t now_ns)
{
	struct wire_batch b;
	struct buf bytes;

	buf_init(&bytes, 4 << 20);
	while (src.type->batch(src.self, now_ns, &bytes)) {
		ck_assert_int_eq(wire_decode(&arena, buf_view(&bytes), WIRE_PROTOBUF, true, &WIRE_LIMITS_DEFAULT, &b, NULL), OK);
		got = b.windows[0];
		n_got++;
		buf_reset(&bytes);
	}
	buf_fini(&bytes);
}

static void step(void)
{
	int64_t now = clock_mono_ns() + ahead_ns;

	src.type->look(src.self, now, clock_wall_ns());
	take_batches(now);
	clock_sleep_ns(2 * NS_PER_MS);
}

/* The next look is due at once, and none after it: however slow the machine is, a test has as many looks as it asks for. */
static void look_is_due(void)
{
	ahead_ns += conf.interval_ns;
}

/* The next window; got is it. */
static void next_window(void)
{
	size_t before = n_got;

	look_is_due();
	for (int i = 0; i < 2500 && n_got == before; i++)
		step();
	ck_assert_uint_eq(n_got, before + 1);
}

/* The next look, which finds no driver. */
static void next_look_in_vain(void)
{
	uint64_t before = sysfs_count(&src, SYSFS_ABSENT);

	look_is_due();
	for (int i = 0; i < 2500 && sysfs_count(&src, SYSFS_ABSENT) == before; i++)
		step();
	ck_assert_uint_eq(sysfs_count(&src, SYSFS_ABSENT), before + 1);
}

/* "name unit key=value…" or NULL. */
static const struct gauge *gauge_of(const char *what)
{
	for (size_t i = 0; i < got.n_gauges; i++) {
		const struct gauge *g = &got.gauges[i];
		struct buf b;
		bool same;

		buf_init(&b, 4096);
		buf_fmt(&b, "%.*s %.*s", STR_ARG(g->name), STR_ARG(g->unit));
		for (size_t k = 0; k < g->n_labels; k++)
			buf_fmt(&b, " %.*s=%.*s", STR_ARG(g->labels[k].key), STR_ARG(g->labels[k].value));
		same = str_eq(buf_view(&b), str_of(what));
		buf_fini(&b);
		if (same)
			return g;
	}
	return NULL;
}

static void has(const char *what, double value)
{
	const struct gauge *g = gauge_of(what);

	ck_assert_msg(g != NULL, "there is no %s", what);
	ck_assert_msg(g->value > value * 0.999999 && g->value < value * 1.000001, "%s is %g", what, g->value);
}

START_TEST(levels_power_and_health_are_told_as_they_are)
{
	put_tree();
	open_it();
	next_window();
	ck_assert(str_eq(got.service, STR("fleet")) && str_eq(got.source, STR("sysfs")));
	ck_assert_uint_eq(got.n_ops, 0);
	has("memory_usage/device_mem/tensors bytes device=0 core=1", 4096);
	has("memory_usage/device_mem/tensors bytes device=12 core=0", 4096);
	has("memory_usage/device_mem/tensors bytes device=0 core=0 stat=peak", 8192);
	has("power/utilization ratio device=0 stat=min", 0.105);
	has("power/utilization ratio device=0 stat=max", 0.3025);
	has("power/utilization ratio device=0 stat=avg", 0.2);
	has("hardware/health_status/unhealthy_components 1 device=0 component=hbm", 1);
	has("hardware/health_status/unhealthy_components 1 device=0 component=link_host", 1);
	has("core_count 1 device=0", 2);
	ck_assert_ptr_null(gauge_of("status/success 1/s device=0 core=0")); /* no rate yet */
	ck_assert_uint_eq(got.n_versions, 1);
	ck_assert(str_eq(got.versions[0].key, STR("driver")) && str_eq(got.versions[0].value, STR("2.24.7.0")));
	ck_assert_uint_eq(got.n_labels, 1); /* not the serial number, nor what anybody may write */
	ck_assert(str_eq(got.labels[0].key, STR("architecture/device_name")));
	ck_assert(str_eq(got.labels[0].value, STR("Trainium1")));
}
END_TEST

START_TEST(counters_become_rates_and_zeros_are_left_out)
{
	int64_t began_ns = clock_mono_ns();
	double seconds;

	put_tree();
	open_it();
	next_window();
	clock_sleep_ns(20 * NS_PER_MS);
	put_n("neuron0/neuron_core0/stats/status/success/total", 1600);
	put_n("neuron0/neuron_core1/stats/other_info/flop_count/total", 1000 + 500000000LL);
	put_n("neuron12/neuron_core0/stats/other_info/nc_time_in_use/total", 1000 + 50000);
	next_window();
	ck_assert_int_ge(got.dur_ns, 20 * NS_PER_MS);
	ck_assert_int_le(got.dur_ns, clock_mono_ns() - began_ns);
	seconds = (double)got.dur_ns / 1e9;
	has("status/success 1/s device=0 core=0", 600 / seconds);
	has("other_info/flop_count flops/s device=0 core=1", 5e8 / seconds);
	has("other_info/nc_time_in_use ratio device=12 core=0", 0.05 / seconds);
	ck_assert_ptr_null(gauge_of("status/timeout 1/s device=0 core=0"));
	next_window();
	ck_assert_ptr_null(gauge_of("status/success 1/s device=0 core=0"));
}
END_TEST

START_TEST(a_counter_that_went_back_has_no_rate_once)
{
	put_tree();
	open_it();
	next_window();
	put_n("neuron0/neuron_core0/stats/status/success/total", 10);
	next_window();
	ck_assert_ptr_null(gauge_of("status/success 1/s device=0 core=0"));
	ck_assert_uint_eq(sysfs_count(&src, SYSFS_BACK), 1);
	put_n("neuron0/neuron_core0/stats/status/success/total", 30);
	next_window();
	has("status/success 1/s device=0 core=0", 20 / ((double)got.dur_ns / 1e9));
	ck_assert_uint_eq(sysfs_count(&src, SYSFS_BACK), 1);
}
END_TEST

START_TEST(a_driver_that_comes_and_goes_is_waited_for)
{
	open_it();
	next_look_in_vain();
	next_look_in_vain();
	ck_assert_uint_eq(n_got, 0);
	put_tree();
	next_window();
	next_window();
	ck_assert_int_eq(rename(folder_path("sys/devices/virtual/neuron_device"), folder_path("away")), 0);
	next_look_in_vain();
	ck_assert_int_eq(rename(folder_path("away"), folder_path("sys/devices/virtual/neuron_device")), 0);
	put_n("neuron0/neuron_core0/stats/status/success/total", 5000);
	n_got = 0;
	next_window();
	ck_assert_ptr_null(gauge_of("status/success 1/s device=0 core=0")); /* over which time? nobody knows */
}
END_TEST

START_TEST(power_that_is_old_or_not_valid_says_nothing)
{
	put_tree();
	put_power("POWER_STATUS_VALID", clock_wall_ns() - NS_PER_HOUR);
	open_it();
	next_window();
	ck_assert_ptr_null(gauge_of("power/utilization ratio device=0 stat=avg"));
	put_power("POWER_STATUS_NO_DATA", clock_wall_ns());
	next_window();
	ck_assert_ptr_null(gauge_of("power/utilization ratio device=0 stat=avg"));
	ck_assert_uint_eq(sysfs_count(&src, SYSFS_ODD), 0);
	put("neuron0/stats/power/utilization", "POWER_STATUS_VALID,many\n");
	next_window();
	ck_assert_ptr_null(gauge_of("power/utilization ratio device=0 stat=avg"));
}
END_TEST

/* inotify sees every open, of whatever kind. */
START_TEST(nothing_is_written_and_what_acts_is_never_opened)
{
	static const char *const never[] = { "neuron0/reset", "neuron0/info/notify_delay", "neuron0/uevent", "neuron0/stats/reset",
		"neuron0/stats/trigger" };
	int fd = inotify_init1(IN_NONBLOCK), n;
	char name[256], events[4096];

	put_tree();
	put("neuron0/stats/reset", "0\n");
	snprintf(name, sizeof(name), DEVICES "neuron0/stats/trigger");
	ck_assert_int_eq(mkfifo(folder_path(name), 0644), 0);
	snprintf(name, sizeof(name), DEVICES "neuron0/stats/link");
	ck_assert_int_eq(symlink("../reset", folder_path(name)), 0);
	for (size_t i = 0; i < COUNT(never); i++) {
		snprintf(name, sizeof(name), DEVICES "%s", never[i]);
		ck_assert_int_ge(inotify_add_watch(fd, folder_path(name), IN_OPEN | IN_MODIFY | IN_ACCESS), 0);
	}
	snprintf(name, sizeof(name), DEVICES "neuron0/neuron_core0/stats/status/success/total");
	ck_assert_int_ge(inotify_add_watch(fd, folder_path(name), IN_MODIFY | IN_CLOSE_WRITE), 0);
	open_it();
	next_window();
	next_window();
	n = (int)read(fd, events, sizeof(events));
	ck_assert_int_lt(n, 0);
	/* and the watch does see it */
	snprintf(name, sizeof(name), DEVICES "neuron0/reset");
	fclose(fopen(folder_path(name), "r"));
	ck_assert_int_gt(read(fd, events, sizeof(events)), 0);
	close(fd);
}
END_TEST

START_TEST(what_is_odd_is_counted_and_the_rest_is_read)
{
	put_tree();
	put("neuron0/stats/tensor_engine/pe_cntrs", "row 0: 5 7 9\nrow 1: 1 2 3\n");
	put("neuron0/stats/status/strange/total", "many\n");
	open_it();
	next_window();
	ck_assert_uint_eq(sysfs_count(&src, SYSFS_ODD), 1); /* one look */
	has("memory_usage/device_mem/tensors bytes device=0 core=1", 4096);
}
END_TEST

static void count_value(void *arg, const struct sysfs_value *v)
{
	(void)v;
	++*(size_t *)arg;
}

START_TEST(a_tree_without_end_is_left_after_so_many_names)
{
	size_t n = 0;
	struct sysfs_walk w = { .visit = count_value, .arg = &n, .limit_ns = NS_PER_S };
	char path[512] = "neuron0/stats";

	put_tree();
	for (int i = 0; i < 2 * SYSFS_DEPTH_MAX; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/d");
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/total");
	put_n(path, 5);
	ck_assert_int_eq(sysfs_walk(&w, folder_path("sys"), NULL), OK);
	ck_assert(w.cut);
	ck_assert_uint_eq(w.devices, 2);
	ck_assert_uint_gt(n, 10);
	n = 0;
	w.limit_ns = 0; /* no time at all */
	ck_assert_int_eq(sysfs_walk(&w, folder_path("sys"), NULL), OK);
	ck_assert(w.cut);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(texts_are_told_apart)
{
	static const struct {
		const char *text;
		bool good;
		enum sysfs_kind kind;
	} cases[] = {
		{ "5\n", true, SYSFS_LEVEL }, { "-5", true, SYSFS_LEVEL }, { "1.5", true, SYSFS_LEVEL },
		{ "POWER_STATUS_VALID,1795960800,1,2,1.5", true, SYSFS_POWER },
		{ "POWER_STATUS_VALID,1795960800,1,2", false, SYSFS_KINDS }, { "POWER_STATUS_INVALID,0,0,0,0", false, SYSFS_KINDS },
		{ "POWER_STATUS_VALID,1e10,1,2,3", false, SYSFS_KINDS }, /* in nanoseconds more than 63 bits */
		{ "POWER_STATUS_VALID,1e300,1,2,3", false, SYSFS_KINDS }, { "POWER_STATUS_VALID,nan,1,2,3", false, SYSFS_KINDS },
		{ "hbm", true, SYSFS_PART }, { "hbm,sram, link_efa\n", true, SYSFS_PART }, { "hbm,,sram", true, SYSFS_TEXT },
		{ "a text", true, SYSFS_TEXT }, { "", false, SYSFS_KINDS }, { "\n", false, SYSFS_KINDS },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sysfs_value v = { .kind = SYSFS_KINDS };

		ck_assert_msg(sysfs_parse(str_of(cases[i].text), &v) == cases[i].good, "\"%s\"", cases[i].text);
		ck_assert_msg(!cases[i].good || v.kind == cases[i].kind, "\"%s\" is of kind %d", cases[i].text, (int)v.kind);
	}
}
END_TEST

Suite *suite_sysfs(void)
{
	Suite *s = suite_create("agent/sysfs");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 20);
	tcase_add_test(t, levels_power_and_health_are_told_as_they_are);
	tcase_add_test(t, counters_become_rates_and_zeros_are_left_out);
	tcase_add_test(t, a_counter_that_went_back_has_no_rate_once);
	tcase_add_test(t, a_driver_that_comes_and_goes_is_waited_for);
	tcase_add_test(t, power_that_is_old_or_not_valid_says_nothing);
	tcase_add_test(t, nothing_is_written_and_what_acts_is_never_opened);
	tcase_add_test(t, what_is_odd_is_counted_and_the_rest_is_read);
	tcase_add_test(t, a_tree_without_end_is_left_after_so_many_names);
	tcase_add_test(t, texts_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}
