/* Sessions and their decoder, which is a script that is as strict as the real one is documented to be. */
#include "agent/decode.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "tests/unit/agent/folder.h"
#include "tests/unit/agent/session.h"
#include "trace/window.h"

Suite *suite_decode(void);

#define SESSION "out/i-0123456789_pid_4711/1790000000"

static struct decode_settings set;
static struct decode_result result;
static struct session session;
static char lock_path[PATH_MAX];

static void setup(void)
{
	folder_make();
	decoder_make();
	snprintf(lock_path, sizeof(lock_path), "%s/lock", folder);
	set = (struct decode_settings){ .program = "", .want_system = true, .want_summary = true, .input_max_bytes = 1 << 20,
		.output_max_bytes = 20 << 20, .memory_bytes = UINT64_C(4) << 30, .limit_ns = 30 * NS_PER_S, .lock = lock_path };
}

static void teardown(void)
{
	folder_remove();
}

static void decode_it(unsigned holds)
{
	session_make(SESSION, holds);
	ck_assert(session_read(folder_path(SESSION), &session));
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
}

/* It leaves nothing behind but what was asked for. */
static void expect(enum decode_end end, unsigned files)
{
	ck_assert_msg(result.end == end, "%s: %s", decode_end_word(result.end), result.why);
	ck_assert_uint_eq(result.files, files);
	ck_assert(folder_has("decoded") == (files > 0));
	ck_assert(!folder_has("decoded.work"));
	ck_assert(!folder_has("decoded.part"));
	ck_assert(end == DECODE_TAKEN || result.why[0] != '\0');
	ck_assert((decode_end_cure(end) == NULL) == (end == DECODE_TAKEN || end == DECODE_STOPPED));
}

/* Whatever went wrong, the next one works. */
static void expect_good_next(void)
{
	decoder_behaves("");
	ck_assert_int_eq(tree_remove(folder_path("decoded"), NULL), OK);
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
	expect(DECODE_TAKEN, session.n_ntff > 0 ? 2 : 1);
}

/* ---- decoding well */

START_TEST(a_session_is_decoded_by_the_documented_commands)
{
	char want[3 * PATH_MAX];

	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 2);
	ck_assert_str_eq(result.program, "neuron-explorer");
	ck_assert_str_eq(result.version, "neuron-explorer 2.31.24.0%kaena-tools/2.31@stand-in");
	snprintf(want, sizeof(want), "view -d %s --output-format json --output-file %s/decoded.work/system/system.json "
		"--ignore-device-profile --data-path %s/decoded.work/data --display-name system", session.dir, folder, folder);
	ck_assert(decoder_was_told(want));
	snprintf(want, sizeof(want), "view -d %s --output-format summary-json --output-file %s/decoded.work/summary/summary.json "
		"--ignore-system-profile", session.dir, folder);
	ck_assert(decoder_was_told(want));
	ck_assert(folder_has("decoded/system-0.json"));
	ck_assert(folder_has("decoded/summary-1.json"));
	ck_assert(folder_has("decoded/" DECODE_NOTE));
	ck_assert(folder_has("decoded/neff_42_vnc_0.neff")); /* its name tells the deploy */
}
END_TEST

START_TEST(a_session_without_device_profile_is_decoded_once)
{
	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_EMPTY_DEVICE);
	expect(DECODE_TAKEN, 1);
	ck_assert_uint_eq(decoder_views(), 1);
	ck_assert(!decode_is_device("system-0.json"));
	ck_assert(decode_is_device("summary-0.json"));
	ck_assert(decode_is_device("device-0.json"));
}
END_TEST

START_TEST(the_device_profile_takes_the_place_of_the_summary_where_it_is_wanted)
{
	set.want_device = true;
	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 2);
	ck_assert(folder_has("decoded/device-1.json"));
	ck_assert(decoder_was_told("--output-format json --output-file"));
	ck_assert(!decoder_was_told("summary-json"));
}
END_TEST

START_TEST(profiles_are_taken_by_content_whatever_they_are_called)
{
	set.want_device = true;
	set.want_system = false;
	decoder_behaves("names:device");
	decode_it(HOLDS_INFO | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 2); /* settings.json is none */
	ck_assert(folder_has("decoded/device-0.json"));
	ck_assert(folder_has("decoded/device-1.json"));
}
END_TEST

START_TEST(the_decoders_environment_has_nothing_of_ours)
{
	struct buf b;

	setenv("TRAINSPOTTER_TOKEN", "secret", 1);
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_TAKEN, 1);
	buf_init(&b, 4096);
	folder_read("bin/environment", &b);
	ck_assert(!str_contains(buf_view(&b), STR("TOKEN")));
	ck_assert(str_contains(buf_view(&b), STR("HOME ")));
	ck_assert(str_contains(buf_view(&b), STR("TMPDIR ")));
	buf_fini(&b);
	unsetenv("TRAINSPOTTER_TOKEN");
}
END_TEST

START_TEST(the_older_program_gets_none_of_the_newer_options)
{
	ck_assert_int_eq(rename(folder_path("bin/neuron-explorer"), folder_path("bin/neuron-profile")), 0);
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_TAKEN, 1);
	ck_assert_str_eq(result.program, "neuron-profile");
	ck_assert(!decoder_was_told("--data-path"));
	ck_assert(!decoder_was_told("--display-name"));
}
END_TEST

START_TEST(the_program_can_be_named_and_need_not_tell_its_version)
{
	static char program[PATH_MAX];

	snprintf(program, sizeof(program), "%s/bin/neuron-explorer", folder);
	setenv("PATH", "/usr/bin:/bin", 1);
	set.program = program;
	decoder_behaves("version-fails");
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_TAKEN, 1);
	ck_assert_str_eq(result.version, "");
}
END_TEST

static void make_window_of(const char *name, struct window *w, struct arena *a)
{
	const struct window_origin origin = { .source = STR("exec"), .agent_id = STR("a") };
	struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace_report report;
	struct err e = { 0 };

	ck_assert_msg(window_from_file(a, folder_path(name), &origin, &limits, w, &report, &e) == OK, "%s", e.text);
}

START_TEST(what_it_made_becomes_windows_of_when_the_session_was)
{
	const struct utimbuf then = { 1700000000, 1700000000 };
	struct window w;
	struct arena a;

	arena_init(&a, 64 << 20);
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	ck_assert_int_eq(utime(folder_path(SESSION "/ntrace.pb"), &then), 0);
	ck_assert(session_read(folder_path(SESSION), &session));
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
	expect(DECODE_TAKEN, 2);
	make_window_of("decoded/system-0.json", &w, &a);
	ck_assert_int_eq(w.start_ns, INT64_C(1790000000000000000)); /* its own clock */
	ck_assert_uint_eq(w.launches, 1);
	ck_assert_ptr_nonnull(window_op(&w, OP_CPU_OP, STR("aten::mul")));
	ck_assert(str_has_prefix(w.deploy, STR("fp-"))); /* by the name of the model beside it */
	window_fini(&w);
	make_window_of("decoded/summary-1.json", &w, &a);
	ck_assert_int_eq(w.start_ns, 1700000000 * NS_PER_S);
	ck_assert_ptr_nonnull(window_op(&w, OP_ENGINE, STR("Tensor")));
	window_fini(&w);
	arena_fini(&a);
}
END_TEST

/* Files in the shape of real ones, where they are (TRAINSPOTTER_TEST_DATA). */
static const struct real {
	const char *file, *json; /* of the data; of the decoder */
	enum op_kind kind;
	const char *op, *gauge; /* that must be in the window; NULL: any */
} reals[] = {
	{ "system_profile_docs_shape.json", "system", OP_CPU_OP, "PjitFunction(matmul_allgather)", "host_memory_used" },
	{ "trnblas_mp2_summary_trn1.2xlarge.json", "summary", OP_ENGINE, "Vector", "hbm_read_bytes" },
	{ "device/rmsnorm_fused.json", "device", OP_ENGINE, "Vector", "mfu_estimated_ratio" },
	{ "device/rmsnorm_eager.json", "device", OP_ENGINE, "Vector", "peak_hbm_bandwidth" },
	{ "device/matmul_throttled.json", "device", OP_ENGINE, "Tensor", "throttle_events" },
};

START_TEST(files_in_the_shape_of_real_ones_become_windows)
{
	const struct real *r = &reals[_i];
	char path[PATH_MAX], name[64];
	struct window w;
	struct arena a;
	struct buf b;

	buf_init(&b, 64 << 20);
	arena_init(&a, 64 << 20);
	snprintf(path, sizeof(path), "%s/neuron/%s", getenv("TRAINSPOTTER_TEST_DATA"), r->file);
	ck_assert_int_eq(file_read_all(path, &b, NULL), OK);
	snprintf(name, sizeof(name), "bin/%s.json", r->json);
	folder_write(name, buf_view(&b));
	set.want_system = strcmp(r->json, "system") == 0;
	set.want_summary = strcmp(r->json, "summary") == 0;
	set.want_device = strcmp(r->json, "device") == 0;
	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 1);
	snprintf(name, sizeof(name), "decoded/%s-0.json", r->json);
	make_window_of(name, &w, &a);
	ck_assert_ptr_nonnull(window_op(&w, r->kind, str_of(r->op)));
	ck_assert_ptr_nonnull(window_gauge(&w, str_of(r->gauge)));
	window_fini(&w);
	arena_fini(&a);
	buf_fini(&b);
}
END_TEST

/* ---- and badly */

static const struct bad {
	const char *mode;
	enum decode_end end;
	const char *why;
} bads[] = {
	{ "fail", DECODE_FAILED, "neuron-explorer ended with status 1: FATA[0000] NTFF version 9 is not supported" },
	{ "crash", DECODE_FAILED, "neuron-explorer was ended by signal 11" },
	{ "hang", DECODE_TIMEOUT, "neuron-explorer did not end in time" },
	{ "stubborn", DECODE_TIMEOUT, "neuron-explorer did not end in time" },
	{ "fill", DECODE_TOO_LARGE, "neuron-explorer wrote 20971520 bytes or more" },
	{ "silent", DECODE_UNWRITTEN, "ended well and left no system profile as JSON" },
};

START_TEST(a_decoder_that_fails_is_counted_and_the_next_one_works)
{
	const struct bad *b = &bads[_i];

	if (b->end == DECODE_TIMEOUT)
		set.limit_ns = 3 * NS_PER_S; /* it must come as far as the step that hangs, on a busy machine, too */
	decoder_behaves(b->mode);
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(b->end, 0);
	ck_assert_msg(strstr(result.why, b->why) != NULL, "%s", result.why);
	set.limit_ns = 30 * NS_PER_S;
	expect_good_next();
}
END_TEST

START_TEST(what_worked_is_taken_where_another_output_failed)
{
	decoder_behaves("fail:summary");
	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 1);
	ck_assert_ptr_nonnull(strstr(result.why, "summary: neuron-explorer ended with status 1"));
	ck_assert(folder_has("decoded/system-0.json"));
	expect_good_next();
}
END_TEST

START_TEST(a_file_that_was_cut_short_says_so_when_it_is_read)
{
	struct window w;
	struct arena a;

	arena_init(&a, 64 << 20);
	decoder_behaves("cut");
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_TAKEN, 1);
	make_window_of("decoded/system-0.json", &w, &a);
	ck_assert(w.flags & WINDOW_TRUNCATED);
	window_fini(&w);
	arena_fini(&a);
	expect_good_next();
}
END_TEST

START_TEST(a_decoder_that_needs_too_much_memory_fails_alone)
{
	set.memory_bytes = 100 << 20;
	decoder_behaves("memory");
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_FAILED, 0);
	expect_good_next();
}
END_TEST

START_TEST(a_session_too_large_is_not_given_to_the_decoder)
{
	set.input_max_bytes = 20;
	decode_it(HOLDS_INFO | HOLDS_SYSTEM | HOLDS_DEVICE);
	expect(DECODE_TAKEN, 1); /* the system profile is small */
	ck_assert_ptr_nonnull(strstr(result.why, "summary: 41 bytes to decode, more than 20"));
	set.input_max_bytes = 5;
	ck_assert_int_eq(tree_remove(folder_path("decoded"), NULL), OK);
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
	expect(DECODE_TOO_LARGE, 0);
	set.input_max_bytes = 1000;
	expect_good_next();
}
END_TEST

START_TEST(a_session_that_is_not_whole_or_empty_is_told_without_a_decoder)
{
	decode_it(HOLDS_SYSTEM);
	expect(DECODE_INCOMPLETE, 0);
	ck_assert_int_eq(tree_remove(folder_path("out"), NULL), OK);
	decode_it(HOLDS_INFO | HOLDS_EMPTY_DEVICE);
	expect(DECODE_NOTHING, 0);
	ck_assert_ptr_nonnull(strstr(result.why, "no ntrace.pb, 0 .ntff and 1 .neff"));
	ck_assert(!decoder_was_told("view"));
}
END_TEST

START_TEST(a_host_without_the_program_is_told_so)
{
	static char nowhere[] = "/nowhere/neuron-explorer";

	setenv("PATH", "/usr/bin:/bin", 1);
	decode_it(HOLDS_INFO | HOLDS_SYSTEM);
	expect(DECODE_NO_PROGRAM, 0);
	ck_assert_ptr_nonnull(strstr(result.why, "neither neuron-explorer nor neuron-profile"));
	set.program = nowhere;
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
	expect(DECODE_NO_PROGRAM, 0);
	ck_assert_ptr_nonnull(strstr(result.why, "/nowhere/neuron-explorer: No such file"));
}
END_TEST

struct other {
	struct decode_result result;
	int64_t took_ns;
};

static void decode_in_thread(struct thread *t, void *arg)
{
	struct other *o = arg;
	int64_t start_ns = clock_mono_ns();

	decode_session(&set, &session, folder_path("decoded"), t, &o->result);
	o->took_ns = clock_mono_ns() - start_ns;
}

START_TEST(an_agent_that_ends_ends_its_decoder_and_leaves_nothing)
{
	struct other o = { .took_ns = 0 };
	struct thread *t;

	decoder_behaves("hang");
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	ck_assert(session_read(folder_path(SESSION), &session));
	ck_assert_int_eq(thread_start(&t, "decode", decode_in_thread, &o, NULL), OK);
	for (int i = 0; i < 2000 && decoder_views() == 0; i++)
		clock_sleep_ns(5 * NS_PER_MS);
	thread_join(t);
	result = o.result;
	expect(DECODE_STOPPED, 0);
	ck_assert_int_lt(o.took_ns, 20 * NS_PER_S);
	expect_good_next();
}
END_TEST

START_TEST(one_decodes_at_a_time)
{
	struct other o = { .took_ns = 0 };
	struct thread *t;
	int fd;

	ck_assert_int_eq(file_lock(lock_path, &fd, NULL), OK);
	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	ck_assert(session_read(folder_path(SESSION), &session));
	ck_assert_int_eq(thread_start(&t, "decode", decode_in_thread, &o, NULL), OK);
	clock_sleep_ns(300 * NS_PER_MS);
	ck_assert(!decoder_was_told("--version"));
	close(fd);
	for (int i = 0; i < 2000 && !folder_has("decoded"); i++)
		clock_sleep_ns(5 * NS_PER_MS);
	thread_join(t);
	result = o.result;
	expect(DECODE_TAKEN, 1);
	ck_assert_int_ge(o.took_ns, 300 * NS_PER_MS);
}
END_TEST

/* What the stand-in refuses the real one is documented, or was seen, to refuse. */
static const struct refusal {
	const char *call, *says;
} refusals[] = {
	{ "view -d $S --output-format json --nonsense", "FATA[0000] unknown flag: --nonsense" },
	{ "view -d $S --ingest-only --disable-ui", "FATA[0000] Missing --display-name" },
	{ "view -d $S", "FATA[0000] Missing --display-name" },
	{ "view -d /nowhere --output-format json", "no such file or directory" },
	{ "view -d $S --output-format yaml", "invalid output format" },
	{ "look", "unknown command" },
};

START_TEST(the_stand_in_is_strict)
{
	const struct refusal *r = &refusals[_i];
	char line[5 * PATH_MAX];
	struct buf said;

	session_make(SESSION, HOLDS_INFO | HOLDS_SYSTEM);
	snprintf(line, sizeof(line), "#!/bin/sh\nS=%s HOME=%s\nexport HOME\nneuron-explorer %s > %s/said 2>&1 && echo well >> %s/said\n",
		folder_path(SESSION), folder, r->call, folder, folder);
	folder_write("call", str_of(line));
	ck_assert_int_eq(chmod(folder_path("call"), 0755), 0);
	set.program = folder_path("call"); /* any program is started the same way */
	ck_assert(session_read(folder_path(SESSION), &session));
	decode_session(&set, &session, folder_path("decoded"), NULL, &result);
	ck_assert_int_ne(result.end, DECODE_TAKEN);
	buf_init(&said, 4096);
	folder_read("said", &said);
	ck_assert_msg(str_contains(buf_view(&said), str_of(r->says)), "%.*s", STR_ARG(buf_view(&said)));
	buf_fini(&said);
}
END_TEST

Suite *suite_decode(void)
{
	Suite *s = suite_create("agent/decode");
	TCase *tc = tcase_create("decode");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_session_is_decoded_by_the_documented_commands);
	tcase_add_test(tc, a_session_without_device_profile_is_decoded_once);
	tcase_add_test(tc, the_device_profile_takes_the_place_of_the_summary_where_it_is_wanted);
	tcase_add_test(tc, profiles_are_taken_by_content_whatever_they_are_called);
	tcase_add_test(tc, the_decoders_environment_has_nothing_of_ours);
	tcase_add_test(tc, the_older_program_gets_none_of_the_newer_options);
	tcase_add_test(tc, the_program_can_be_named_and_need_not_tell_its_version);
	tcase_add_test(tc, what_it_made_becomes_windows_of_when_the_session_was);
	if (getenv("TRAINSPOTTER_TEST_DATA") != NULL)
		tcase_add_loop_test(tc, files_in_the_shape_of_real_ones_become_windows, 0, COUNT(reals));
	else
		printf("# skipped: files in the shape of real ones, without TRAINSPOTTER_TEST_DATA\n");
	tcase_add_loop_test(tc, a_decoder_that_fails_is_counted_and_the_next_one_works, 0, COUNT(bads));
	tcase_add_test(tc, what_worked_is_taken_where_another_output_failed);
	tcase_add_test(tc, a_file_that_was_cut_short_says_so_when_it_is_read);
	tcase_add_test(tc, a_decoder_that_needs_too_much_memory_fails_alone);
	tcase_add_test(tc, a_session_too_large_is_not_given_to_the_decoder);
	tcase_add_test(tc, a_session_that_is_not_whole_or_empty_is_told_without_a_decoder);
	tcase_add_test(tc, a_host_without_the_program_is_told_so);
	tcase_add_test(tc, an_agent_that_ends_ends_its_decoder_and_leaves_nothing);
	tcase_add_test(tc, one_decodes_at_a_time);
	tcase_add_loop_test(tc, the_stand_in_is_strict, 0, COUNT(refusals));
	suite_add_tcase(s, tc);
	return s;
}
