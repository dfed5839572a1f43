#include "trace/window.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "tests/unit/trace/help.h"
#include "trace/sidecar.h"

Suite *suite_window(void);

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
static struct arena arena;
static struct window w;
static struct trace_report report;
static struct err e;

static const char one_op[] = "{\"baseTimeNanoseconds\":1700000000000000000,\"host_name\":\"from-trace\",\"cuda_runtime_version\":12040,"
			     "\"distributedInfo\":{\"rank\":5},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
			     "\"pid\":1,\"tid\":1,\"ts\":2000.5,\"dur\":10}]}";

static void begin(void)
{
	arena_init(&arena, 16 << 20);
	w = (struct window){ 0 };
	e = (struct err){ 0 };
}

static void over(void)
{
	window_fini(&w);
	arena_fini(&arena);
	help_dir_drop();
}

static int read_window(const char *path, const struct window_origin *origin)
{
	window_fini(&w);
	return window_from_file(&arena, path, origin, &limits, &w, &report, &e);
}

START_TEST(a_trace_alone_names_itself)
{
	const struct window_origin nobody = { .source = STR("watch") };
	const char *path = help_write("a.json", str_of(one_op));

	ck_assert_msg(read_window(path, &nobody) == OK, "%s", e.text);
	ck_assert(str_eq(w.service, STR("unknown")));
	ck_assert(str_eq(w.host, STR("from-trace")));
	ck_assert(str_eq(w.worker, STR("5")));
	ck_assert(str_eq(w.source, STR("watch")));
	ck_assert(str_has_prefix(w.deploy, STR("fp-")));
	ck_assert_uint_eq(w.deploy.n, 15);
	ck_assert_int_eq(w.start_ns, INT64_C(1700000000002000500));
	ck_assert_int_eq(w.dur_ns, 10000);
	ck_assert_uint_eq(w.n_versions, 1);
	ck_assert_uint_eq(w.n_ops, 1);
	ck_assert_uint_eq(w.flags, 0);
}
END_TEST

START_TEST(who_reads_it_knows_better_and_the_sidecar_best)
{
	const struct window_origin origin = { .agent_id = STR("agent"), .source = STR("watch"), .service = STR("s1"),
		.deploy = STR("d1"), .host = STR("h1"), .worker = STR("w1") };
	const char *path = help_write("a.json", str_of(one_op));

	ck_assert_int_eq(read_window(path, &origin), OK);
	ck_assert(str_eq(w.service, STR("s1")) && str_eq(w.deploy, STR("d1")));
	ck_assert(str_eq(w.host, STR("h1")) && str_eq(w.worker, STR("w1")));
	help_write("a.json.meta.json", STR("{\"service\":\"s2\",\"deploy\":\"d2\",\"host\":\"h2\",\"worker\":\"w2\","
					   "\"start_ns\":1600000000123456789,\"labels\":{\"team\":\"x\"}}"));
	ck_assert_msg(read_window(path, &origin) == OK, "%s", e.text);
	ck_assert(str_eq(w.service, STR("s2")) && str_eq(w.deploy, STR("d2")));
	ck_assert(str_eq(w.host, STR("h2")) && str_eq(w.worker, STR("w2")));
	ck_assert_int_eq(w.start_ns, INT64_C(1600000000123456789));
	ck_assert_uint_eq(w.n_labels, 1);
	ck_assert(str_eq(w.labels[0].key, STR("team")) && str_eq(w.labels[0].value, STR("x")));
}
END_TEST

START_TEST(a_deploy_that_nobody_names_is_told_by_versions_and_compiled_graphs)
{
	const struct window_origin nobody = { .source = STR("watch") }, somebody = { .source = STR("watch"), .deploy = STR("d") };
	const char *path = help_write("a.json", str_of(one_op));
	char versions_alone[20], with_two[20];

	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(str_copy_to(w.deploy, versions_alone, sizeof(versions_alone)));
	ck_assert_str_eq(versions_alone, "fp-da21e54afc55"); /* of versions alone: must never change */
	help_write("graph.neff", STR("x"));
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(str_eq(w.deploy, str_of(versions_alone)));
	help_write("neff_22_vnc_0.neff", STR("x"));
	help_write("neff_11_vnc_0.neff", STR("x"));
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(str_copy_to(w.deploy, with_two, sizeof(with_two)));
	ck_assert_str_ne(with_two, versions_alone);
	help_write("neff_11_vnc_1.neff", STR("x")); /* the same graph on another core */
	help_write("neff_22.neff", STR("x"));
	help_write("xneff_33.neff", STR("x"));
	help_write("neff_.neff", STR("x"));
	help_write("neff_33.ntff", STR("x"));
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(str_eq(w.deploy, str_of(with_two)));
	help_write("neff_33.neff", STR("x"));
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(!str_eq(w.deploy, str_of(with_two)));
	ck_assert_int_eq(read_window(path, &somebody), OK);
	ck_assert(str_eq(w.deploy, STR("d")));
	path = help_write("b.json", STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]")); /* no versions */
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert(str_has_prefix(w.deploy, STR("fp-")));
}
END_TEST

static const struct {
	const char *text, *sentence;
} wrong[] = {
	{ "{\"service\":7}", "\"service\" must be a string" },
	{ "[]", "must be an object" },
	{ "{\"start_ns\":\"now\"}", "\"start_ns\" must be nanoseconds since 1970, a whole number" },
	{ "{\"start_ns\":-1}", "\"start_ns\" must be nanoseconds since 1970, a whole number" },
	{ "{\"labels\":{\"a\":1}}", "\"labels\": \"a\" must be a string" },
	{ "{\"service\":", NULL },
};

START_TEST(a_wrong_sidecar_is_refused_with_its_name_and_what_would_be_right)
{
	const struct window_origin origin = { .service = STR("s") };
	const char *path = help_write("a.json", str_of(one_op));
	const char *sidecar = help_write("a.json.meta.json", str_of(wrong[_i].text));
	char want[300];

	ck_assert_int_eq(read_window(path, &origin), E_FORMAT);
	snprintf(want, sizeof(want), "%s: %s", sidecar, wrong[_i].sentence == NULL ? "" : wrong[_i].sentence);
	ck_assert_msg(str_has_prefix(str_of(e.text), str_of(want)), "%s", e.text);
}
END_TEST

/* agent id, host, worker, source as texts with their lengths, then the hash of the file. */
START_TEST(the_id_is_made_as_the_wire_says)
{
	const struct window_origin origin = { .agent_id = STR("agent"), .source = STR("watch"), .host = STR("h"),
		.worker = STR("0") };
	struct hash128 *content = hash128_new(), *id = hash128_new();
	uint8_t digest[16], want[16];
	const char *path = help_write("a.json", str_of(one_op));

	hash128_add(content, one_op, sizeof(one_op) - 1);
	hash128_get(content, digest);
	hash128_add_str(id, STR("agent"));
	hash128_add_str(id, STR("h"));
	hash128_add_str(id, STR("0"));
	hash128_add_str(id, STR("watch"));
	hash128_add(id, digest, 16);
	hash128_get(id, want);
	ck_assert_int_eq(read_window(path, &origin), OK);
	ck_assert_mem_eq(w.id, want, 16);
	hash128_free(content);
	hash128_free(id);
}
END_TEST

START_TEST(the_same_trace_twice_is_the_same_window_and_any_other_is_another)
{
	struct window_origin origin = { .agent_id = STR("agent"), .source = STR("watch"), .host = STR("h") };
	uint8_t first[16];
	const char *a = help_write("a.json", str_of(one_op)), *b = help_write("b.json", str_of(one_op));
	const char *c = help_write("c.json", STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]"));

	ck_assert_int_eq(read_window(a, &origin), OK);
	memcpy(first, w.id, 16);
	ck_assert_int_eq(read_window(b, &origin), OK);
	ck_assert_mem_eq(w.id, first, 16);
	origin.host = STR("other");
	ck_assert_int_eq(read_window(b, &origin), OK);
	ck_assert_mem_ne(w.id, first, 16);
	origin.host = STR("h");
	ck_assert_int_eq(read_window(c, &origin), OK);
	ck_assert_mem_ne(w.id, first, 16);
}
END_TEST

START_TEST(what_was_lost_is_in_the_window)
{
	const struct window_origin origin = { .service = STR("s") };
	struct buf b;
	const char *path = help_write("a.json", STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},"
						    "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"x\",\"dur\":1}]"));

	ck_assert_int_eq(read_window(path, &origin), OK);
	ck_assert_uint_eq(w.flags, WINDOW_DAMAGED);
	ck_assert_uint_eq(w.skipped, 1);
	ck_assert_uint_eq(w.events, 1);
	buf_init(&b, 1 << 20);
	help_gzip(STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1}]"), &b);
	path = help_write("b.json", str_upto(buf_view(&b), b.n - 12));
	ck_assert_msg(read_window(path, &origin) == OK, "%s", e.text);
	ck_assert_uint_eq(w.flags, WINDOW_TRUNCATED);
	ck_assert_uint_eq(w.skipped, 0);
	buf_fini(&b);
}
END_TEST

START_TEST(no_window_is_made_of_nothing)
{
	const struct window_origin origin = { .service = STR("s") };
	const char *path = help_write("a.json", STR("{\"traceEvents\":[]}"));
	char want[300];

	ck_assert_int_eq(read_window(path, &origin), E_FORMAT);
	snprintf(want, sizeof(want), "%s: no timed events", path);
	ck_assert_str_eq(e.text, want);
	ck_assert_int_eq(read_window("/nonexistent.json", &origin), E_NOT_FOUND);
	ck_assert_int_eq(read_window(help_write("b.json", STR("no trace")), &origin), E_FORMAT);
}
END_TEST

static const char neuron[] = "{\"trace_events\":[{\"name\":\"nc_exec_running\",\"timestamp\":1729888371056597613,\"duration\":5,"
			     "\"instance_id\":\"i-0b1e\",\"nc_idx\":0,\"model_name\":\"m\"}]}";

START_TEST(a_neuron_file_is_told_by_its_content_and_becomes_a_window)
{
	const struct window_origin nobody = { .source = STR("watch") };
	const char *path = help_write("named_like_a_trace.json", str_of(neuron));
	uint8_t id[WINDOW_ID];

	ck_assert_msg(read_window(path, &nobody) == OK, "%s", e.text);
	ck_assert(str_eq(w.host, STR("i-0b1e")));
	ck_assert(str_eq(w.service, STR("unknown")));
	ck_assert_int_eq(w.start_ns, INT64_C(1729888371056597613));
	ck_assert_ptr_nonnull(window_op(&w, OP_KERNEL, STR("m")));
	ck_assert_uint_eq(w.flags, 0);
	memcpy(id, w.id, WINDOW_ID);
	ck_assert_int_eq(read_window(path, &nobody), OK);
	ck_assert_mem_eq(id, w.id, WINDOW_ID);
}
END_TEST

START_TEST(the_sidecar_of_a_neuron_file_knows_better)
{
	const struct window_origin nobody = { .source = STR("watch") };
	const char *path = help_write("device.json",
		STR("{\"instruction\":[{\"label\":\"Vector\",\"opcode\":\"ADD\",\"duration\":5}],"
		    "\"neff_header\":[{\"hash\":\"h\",\"network_name\":\"n\"}]"));

	help_write("device.json.meta.json",
		STR("{\"host\":\"h9\",\"start_ns\":77,\"labels\":{\"network\":\"mine\",\"a\":\"b\"}}"));
	ck_assert_msg(read_window(path, &nobody) == OK, "%s", e.text);
	ck_assert(str_eq(w.host, STR("h9")));
	ck_assert_int_eq(w.start_ns, 77);
	ck_assert_uint_eq(w.n_labels, 3);
	ck_assert(str_eq(w.labels[0].value, STR("mine")));
	ck_assert(str_eq(w.labels[2].key, STR("neff_hash")));
	ck_assert_uint_eq(w.flags, WINDOW_TRUNCATED);
}
END_TEST

START_TEST(what_another_program_must_decode_first_is_said)
{
	const struct window_origin nobody = { .source = STR("watch") };

	ck_assert_int_eq(read_window(help_write("a.ntff", STR("x")), &nobody), E_FORMAT);
	ck_assert_ptr_nonnull(strstr(e.text, "a.ntff: this is no trace but a Neuron device profile as it was captured"));
}
END_TEST

/* ---- archives */

static int visited(void *arg, const char *name, struct window *found, const struct trace_report *lost, struct err *why,
	struct err *into)
{
	struct buf *said = arg;

	(void)into;
	buf_fmt(said, "%s: ", strrchr(name, '/') + 1);
	if (found == NULL) {
		buf_fmt(said, "error %s\n", strrchr(why->text, '/') + 1);
		return OK;
	}
	buf_fmt(said, "%.*s worker %.*s %" PRId64 " ops %zu labels %zu skips %zu\n", STR_ARG(found->service), STR_ARG(found->worker),
		found->start_ns, found->n_ops, found->n_labels, lost->n_skips);
	window_fini(found);
	return str_contains(str_of(name), STR("last")) ? E_LIMIT : OK;
}

/* What is said of the windows of a file, then the answer. */
static void expect_windows(const char *path, const char *want)
{
	const struct window_origin origin = { .source = STR("send"), .service = STR("s") };
	struct buf said;
	const struct window_visit visit = { .window = visited, .arg = &said };
	int rc;

	buf_init(&said, 1 << 20);
	rc = windows_from_file(&arena, path, &origin, &limits, &visit, &e);
	buf_fmt(&said, "%d %s\n", rc, rc < 0 && e.text[0] ? strrchr(e.text, '/') + 1 : "");
	ck_assert_str_eq(buf_view(&said).p, want);
	buf_fini(&said);
}

static const char *write_archive(const char *name, bool packed, bool cut, const char *last)
{
	const char *path;
	struct buf tar, out;

	buf_init(&tar, 1 << 20);
	buf_init(&out, 1 << 20);
	help_tar_file(&tar, "rank0.json", str_of(one_op));
	help_tar_file(&tar, "._rank0.json", STR("resource fork"));
	help_tar_file(&tar, "notes.txt", STR("no trace"));
	help_tar_file(&tar, "rank0.json.meta.json", STR("{}"));
	help_tar_file(&tar, last, STR("{\"distributedInfo\":{\"rank\":6},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\","
				      "\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":5}]}"));
	help_tar_end(&tar);
	if (cut)
		buf_trim(&tar, tar.n - 1500);
	if (packed)
		help_gzip(buf_view(&tar), &out);
	path = help_write(name, packed ? buf_view(&out) : buf_view(&tar));
	buf_fini(&tar);
	buf_fini(&out);
	return path;
}

START_TEST(each_trace_of_an_archive_is_a_window)
{
	struct timespec when[2] = { { .tv_sec = 1650000000 }, { .tv_sec = 1650000000 } };

	for (int packed = 0; packed < 2; packed++) {
		const char *path = write_archive("a.tar", packed, false, "rank6.json");

		ck_assert_int_eq(utimensat(AT_FDCWD, path, when, 0), 0);
		expect_windows(path, "a.tar:rank0.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
				     "a.tar:notes.txt: error a.tar:notes.txt: line 1, column 1 (byte 0): expected a value, found \"no\"\n"
				     "a.tar:rank6.json: s worker 6 1650000000000000000 ops 2 labels 0 skips 0\n"
				     "0 \n");
	}
}
END_TEST

START_TEST(the_sidecar_of_an_archive_holds_for_all_but_when)
{
	const char *path = write_archive("a.tar", false, false, "rank6.json");
	struct timespec when[2] = { { .tv_sec = 1650000000 }, { .tv_sec = 1650000000 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, when, 0), 0);
	help_write("a.tar.meta.json", STR("{\"service\":\"other\",\"start_ns\":5,\"labels\":{\"team\":\"x\"}}"));
	expect_windows(path, "a.tar:rank0.json: other worker 5 1700000000002000500 ops 1 labels 1 skips 0\n"
			     "a.tar:notes.txt: error a.tar:notes.txt: line 1, column 1 (byte 0): expected a value, found \"no\"\n"
			     "a.tar:rank6.json: other worker 6 1650000000000000000 ops 2 labels 1 skips 0\n"
			     "0 \n");
}
END_TEST

static const char *archive_of(const char *const (*files)[2], size_t n)
{
	const char *path;
	struct buf tar;

	buf_init(&tar, 8 << 20);
	for (size_t i = 0; i < n; i++)
		help_tar_file(&tar, files[i][0], str_of(files[i][1]));
	help_tar_end(&tar);
	path = help_write("a.tar", buf_view(&tar));
	buf_fini(&tar);
	return path;
}

/* One behind its trace, one before it; one in a folder; and whose trace is not there, which matters to nobody. */
START_TEST(a_sidecar_beside_its_trace_in_an_archive_holds_in_either_order)
{
	static const char *const files[][2] = {
		{ "./rank0.json", one_op },
		{ "rank1.json.meta.json", "{\"service\":\"one\",\"worker\":\"w1\",\"start_ns\":7,\"labels\":{\"a\":\"b\",\"team\":\"y\"}}" },
		{ "rank1.json", one_op },
		{ "sub/rank2.json", one_op },
		{ "rank2.json.meta.json", "{\"service\":\"of-nobody\"}" },
		{ "._rank0.json.meta.json", "a resource fork" },
		{ "sub/rank2.json.meta.json", "{\"service\":\"two\"}" },
		{ "other.json.meta.json", "[]" },
		{ "rank0.json.meta.json", "{\"service\":\"of-before\"}" },
		{ "rank0.json.meta.json", "{\"service\":\"zero\"}" },
	};
	const char *path = archive_of(files, COUNT(files));

	expect_windows(path, "rank0.json: zero worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
			     "a.tar:rank1.json: one worker w1 7 ops 1 labels 2 skips 0\n"
			     "rank2.json: two worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
			     "0 \n");
	help_write("a.tar.meta.json", STR("{\"service\":\"all\",\"worker\":\"w\",\"start_ns\":5,\"labels\":{\"team\":\"x\",\"c\":\"d\"}}"));
	expect_windows(path, "rank0.json: zero worker w 1700000000002000500 ops 1 labels 2 skips 0\n"
			     "a.tar:rank1.json: one worker w1 7 ops 1 labels 3 skips 0\n"
			     "rank2.json: two worker w 1700000000002000500 ops 1 labels 2 skips 0\n"
			     "0 \n");
}
END_TEST

static int take_last(void *arg, const char *name, struct window *found, const struct trace_report *lost, struct err *why,
	struct err *into)
{
	(void)arg;
	(void)name;
	(void)lost;
	(void)into;
	ck_assert_msg(found != NULL, "%s", why->text);
	window_fini(&w);
	w = *found;
	return OK;
}

/* Whether the same two files lie in a folder or in an archive, it is the same window. */
START_TEST(a_window_of_an_archive_is_that_of_the_same_files_in_a_folder)
{
	static const char *const files[][2] = { { "r.json", one_op },
		{ "r.json.meta.json", "{\"host\":\"h9\",\"worker\":\"3\",\"labels\":{\"team\":\"x\"}}" } };
	const struct window_origin origin = { .agent_id = STR("agent"), .source = STR("watch") };
	const struct window_visit visit = { .window = take_last };
	uint8_t id[WINDOW_ID];

	help_write(files[1][0], str_of(files[1][1]));
	ck_assert_msg(read_window(help_write(files[0][0], str_of(files[0][1])), &origin) == OK, "%s", e.text);
	memcpy(id, w.id, sizeof(id));
	ck_assert_int_eq(windows_from_file(&arena, archive_of(files, COUNT(files)), &origin, &limits, &visit, &e), OK);
	ck_assert_mem_eq(w.id, id, sizeof(id));
	ck_assert(str_eq(w.host, STR("h9")));
	ck_assert(str_eq(w.labels[0].value, STR("x")));
}
END_TEST

struct told {
	size_t n, betweens, end_at; /* windows; calls of between; the window that is refused, 0 for none */
	bool stop;		    /* between says so, the third time */
	char service[3 * WINDOWS_WAITING][16], worker[3 * WINDOWS_WAITING][16];
};

static int tell(void *arg, const char *name, struct window *found, const struct trace_report *lost, struct err *why, struct err *into)
{
	struct told *told = arg;

	(void)name;
	(void)lost;
	(void)into;
	ck_assert_msg(found != NULL, "%s", why->text);
	str_copy_to(found->service, told->service[told->n], 16);
	str_copy_to(found->worker, told->worker[told->n++], 16);
	window_fini(found);
	if (told->n % 50 == 0)
		arena_reset(&arena);
	return told->n == told->end_at ? E_BUSY : OK;
}

static int tell_between(void *arg, struct err *into)
{
	struct told *told = arg;

	(void)into;
	return ++told->betweens == 3 && told->stop ? E_STOPPED : OK;
}

/* n traces with ranks from 0 on, and first of all the sidecar of the last one, last of all that of the first one. */
static const char *long_archive(size_t n)
{
	char name[64], text[256];
	const char *path;
	struct buf tar;

	buf_init(&tar, 8 << 20);
	snprintf(name, sizeof(name), "%zu.json.meta.json", n - 1);
	help_tar_file(&tar, name, STR("{\"service\":\"last\"}"));
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%zu.json", i);
		snprintf(text, sizeof(text), "{\"distributedInfo\":{\"rank\":%zu},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\","
					     "\"name\":\"a\",\"ts\":1,\"dur\":1}]}", i);
		help_tar_file(&tar, name, str_of(text));
	}
	help_tar_file(&tar, "0.json.meta.json", STR("{\"service\":\"first\"}"));
	help_tar_end(&tar);
	path = help_write("long.tar", buf_view(&tar));
	buf_fini(&tar);
	return path;
}

static int read_long(size_t n, struct told *told)
{
	const struct window_origin origin = { .source = STR("send"), .service = STR("s") };
	const struct window_visit visit = { .window = tell, .arg = told, .between = tell_between };

	return windows_from_file(&arena, long_archive(n), &origin, &limits, &visit, &e);
}

/* As many as wait, one more, and so many that most are read when all sidecars are known. */
static const size_t lengths[] = { 1, 2, WINDOWS_WAITING - 1, WINDOWS_WAITING, WINDOWS_WAITING + 1, 3 * WINDOWS_WAITING };

START_TEST(however_long_an_archive_is_every_sidecar_counts_and_the_order_is_its_own)
{
	struct told *told = calloc(1, sizeof(*told));
	size_t n = lengths[_i];

	ck_assert_ptr_nonnull(told);
	ck_assert_msg(read_long(n, told) == OK, "%s", e.text);
	ck_assert_uint_eq(told->n, n);
	ck_assert_uint_eq(told->betweens, n - 1);
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(told->service[i], i == 0 ? "first" : i == n - 1 ? "last" : "s");
		ck_assert_uint_eq(strtoul(told->worker[i], NULL, 10), i);
	}
	free(told);
}
END_TEST

START_TEST(whoever_refuses_a_window_of_an_archive_gets_no_more_of_it)
{
	static const size_t ends[] = { 1, 2, WINDOWS_WAITING, WINDOWS_WAITING + 1 };
	struct told *told = calloc(1, sizeof(*told));

	ck_assert_ptr_nonnull(told);
	told->end_at = ends[_i];
	ck_assert_int_eq(read_long(WINDOWS_WAITING + 5, told), E_BUSY);
	ck_assert_uint_eq(told->n, ends[_i]);
	free(told);
}
END_TEST

START_TEST(who_stops_between_two_files_of_an_archive_gets_none_that_waited)
{
	struct told *told = calloc(1, sizeof(*told));

	ck_assert_ptr_nonnull(told);
	told->stop = true;
	ck_assert_int_eq(read_long(10, told), E_STOPPED);
	ck_assert_uint_eq(told->n, 0);
	ck_assert_uint_eq(told->betweens, 3);
	free(told);
}
END_TEST

START_TEST(a_wrong_sidecar_in_an_archive_costs_its_own_trace_and_is_named)
{
	static const char *const files[][2] = {
		{ "rank0.json", one_op },
		{ "rank0.json.meta.json", "{\"service\":7}" },
		{ "rank1.json", one_op },
	};

	expect_windows(archive_of(files, COUNT(files)),
		"a.tar:rank0.json: error a.tar:rank0.json.meta.json: \"service\" must be a string\n"
		"a.tar:rank1.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
		"0 \n");
}
END_TEST

START_TEST(a_sidecar_in_an_archive_has_a_ceiling)
{
	const char *text = "{\"service\":\"big\"}";
	char *big = malloc(SIDECAR_BYTES_MAX + 2);
	const char *const files[][2] = { { "rank0.json.meta.json", big }, { "rank0.json", one_op } };

	ck_assert_ptr_nonnull(big);
	memset(big, ' ', SIDECAR_BYTES_MAX + 1);
	memcpy(big, text, strlen(text));
	big[SIDECAR_BYTES_MAX] = '\0';
	expect_windows(archive_of(files, COUNT(files)), "a.tar:rank0.json: big worker 5 1700000000002000500 ops 1 labels 0 skips 0\n0 \n");
	big[SIDECAR_BYTES_MAX] = ' ';
	big[SIDECAR_BYTES_MAX + 1] = '\0';
	expect_windows(archive_of(files, COUNT(files)),
		"a.tar:rank0.json: error a.tar:rank0.json.meta.json: larger than 1048576 bytes\n0 \n");
	free(big);
}
END_TEST

START_TEST(a_cut_archive_gives_what_is_left_and_is_told)
{
	expect_windows(write_archive("a.tar", false, true, "x.json"),
		"a.tar:rank0.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
		"a.tar:notes.txt: error a.tar:notes.txt: line 1, column 1 (byte 0): expected a value, found \"no\"\n"
		"a.tar:x.json: error a.tar:x.json: this is no trace: it has no \"traceEvents\"\n"
		"-4 a.tar: the archive is damaged (truncated, first at byte 4644): what could be read of it is counted\n");
}
END_TEST

START_TEST(a_visitor_may_end_the_reading)
{
	const char *path = write_archive("a.tar", false, false, "last.json");
	struct timespec when[2] = { { .tv_sec = 1650000000 }, { .tv_sec = 1650000000 } };

	ck_assert_int_eq(utimensat(AT_FDCWD, path, when, 0), 0);
	expect_windows(path, "a.tar:rank0.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n"
			     "a.tar:notes.txt: error a.tar:notes.txt: line 1, column 1 (byte 0): expected a value, found \"no\"\n"
			     "a.tar:last.json: s worker 6 1650000000000000000 ops 2 labels 0 skips 0\n"
			     "-3 \n");
}
END_TEST

/* Whether to try again is the visitor's to say. */
START_TEST(also_of_a_damaged_archive_the_visitors_answer_is_the_answer)
{
	static const char *const files[][2] = { { "last.json", one_op }, { "more.json", one_op } };
	const char *path = archive_of(files, COUNT(files));

	ck_assert_int_eq(truncate(path, 1600), 0);
	expect_windows(path, "a.tar:last.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n-3 \n");
}
END_TEST

START_TEST(a_file_that_is_no_archive_is_one_window_or_an_error)
{
	expect_windows(help_write("a.json", str_of(one_op)),
		"a.json: s worker 5 1700000000002000500 ops 1 labels 0 skips 0\n0 \n");
	expect_windows(help_write("b.json", STR("no")), "b.json: error b.json: line 1, column 1 (byte 0): expected a value, found \"no\"\n0 \n");
	expect_windows("/no/such.json", "-6 such.json: No such file or directory\n");
}
END_TEST

START_TEST(where_one_trace_is_expected_an_archive_is_told_with_what_helps)
{
	const struct window_origin nobody = { .source = STR("watch") };

	ck_assert_int_eq(read_window(write_archive("a.json.gz", true, false, "x.json"), &nobody), E_FORMAT);
	ck_assert_ptr_nonnull(strstr(e.text, "a.json.gz: this is no trace but an archive of files (tar)"));
}
END_TEST

static const char *fifo(const char *name)
{
	const char *path = help_write(name, STR(""));

	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	return path;
}

/* Somebody who may write to a watched folder must not be able to stop whoever reads it. */
START_TEST(a_fifo_is_refused_and_not_waited_for)
{
	const struct window_origin nobody = { .source = STR("watch") };
	const char *path = fifo("a.json");

	ck_assert_int_eq(read_window(path, &nobody), E_UNSUPPORTED);
	ck_assert_msg(strstr(e.text, "a.json: is no regular file") != NULL, "%s", e.text);

	fifo("b.json.meta.json");
	ck_assert_int_eq(read_window(help_write("b.json", str_of(one_op)), &nobody), E_UNSUPPORTED);
	ck_assert_msg(strstr(e.text, "b.json.meta.json: is no regular file") != NULL, "%s", e.text);
	ck_assert_int_eq(read_window("/dev/null", &nobody), E_UNSUPPORTED);
}
END_TEST

START_TEST(without_a_base_time_a_window_starts_when_its_file_was_written)
{
	const struct window_origin origin = { .service = STR("s") };
	const char *path = help_write("a.json", STR("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]"));

	ck_assert_int_eq(read_window(path, &origin), OK);
	ck_assert_int_gt(w.start_ns, INT64_C(1600000000000000000));
	ck_assert(str_eq(w.deploy, STR("")));
	ck_assert(str_eq(w.host, STR("localhost")));
}
END_TEST

Suite *suite_window(void)
{
	Suite *s = suite_create("trace/window");
	TCase *tc = tcase_create("window");

	tcase_add_checked_fixture(tc, begin, over);
	tcase_add_test(tc, a_trace_alone_names_itself);
	tcase_add_test(tc, a_deploy_that_nobody_names_is_told_by_versions_and_compiled_graphs);
	tcase_add_test(tc, who_reads_it_knows_better_and_the_sidecar_best);
	tcase_add_loop_test(tc, a_wrong_sidecar_is_refused_with_its_name_and_what_would_be_right, 0, (int)COUNT(wrong));
	tcase_add_test(tc, the_id_is_made_as_the_wire_says);
	tcase_add_test(tc, the_same_trace_twice_is_the_same_window_and_any_other_is_another);
	tcase_add_test(tc, what_was_lost_is_in_the_window);
	tcase_add_test(tc, no_window_is_made_of_nothing);
	tcase_add_test(tc, a_neuron_file_is_told_by_its_content_and_becomes_a_window);
	tcase_add_test(tc, the_sidecar_of_a_neuron_file_knows_better);
	tcase_add_test(tc, what_another_program_must_decode_first_is_said);
	tcase_add_test(tc, each_trace_of_an_archive_is_a_window);
	tcase_add_test(tc, the_sidecar_of_an_archive_holds_for_all_but_when);
	tcase_add_test(tc, a_sidecar_beside_its_trace_in_an_archive_holds_in_either_order);
	tcase_add_test(tc, a_window_of_an_archive_is_that_of_the_same_files_in_a_folder);
	tcase_add_loop_test(tc, however_long_an_archive_is_every_sidecar_counts_and_the_order_is_its_own, 0, (int)COUNT(lengths));
	tcase_add_loop_test(tc, whoever_refuses_a_window_of_an_archive_gets_no_more_of_it, 0, 4);
	tcase_add_test(tc, who_stops_between_two_files_of_an_archive_gets_none_that_waited);
	tcase_add_test(tc, a_wrong_sidecar_in_an_archive_costs_its_own_trace_and_is_named);
	tcase_add_test(tc, a_sidecar_in_an_archive_has_a_ceiling);
	tcase_add_test(tc, a_cut_archive_gives_what_is_left_and_is_told);
	tcase_add_test(tc, a_visitor_may_end_the_reading);
	tcase_add_test(tc, also_of_a_damaged_archive_the_visitors_answer_is_the_answer);
	tcase_add_test(tc, a_file_that_is_no_archive_is_one_window_or_an_error);
	tcase_add_test(tc, where_one_trace_is_expected_an_archive_is_told_with_what_helps);
	tcase_add_test(tc, a_fifo_is_refused_and_not_waited_for);
	tcase_add_test(tc, without_a_base_time_a_window_starts_when_its_file_was_written);
	suite_add_tcase(s, tc);
	return s;
}
