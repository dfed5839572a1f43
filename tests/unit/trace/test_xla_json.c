#include "trace/xla_json.h"

#include <check.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"
#include "tests/unit/trace/help_xla.h"
#include "trace/xla.h"

Suite *suite_xla_json(void);

static struct buf b, said;
static struct trace_report report;

static void begin(void)
{
	buf_init(&b, 1 << 20);
	buf_init(&said, 1 << 20);
}

static void over(void)
{
	buf_fini(&b);
	buf_fini(&said);
}

#define HEAD                                                                                    \
	"{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\"traceEvents\":["   \
	"{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}}," \
	"{\"ph\":\"M\",\"pid\":7,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"python\"}}"
#define TAIL ",{}]}\n"

static const char whole[] = HEAD
	",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":5.0000000000000002,\"dur\":20.5,\"name\":\"train\","
	"\"args\":{\"step_num\":\"6182\"}}"
	",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":5.5,\"dur\":19,\"name\":\"$a.py:3 \\\"f\\\"\"}"
	",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":6,\"dur\":65.819999999999993,\"name\":\"Execute\"}"
	",{\"ph\":\"X\",\"pid\":7,\"tid\":2,\"ts\":1e1,\"dur\":2.0004999999999997,\"name\":\"dot.1\","
	"\"args\":{\"_src\":\"x\","
	"\"hlo_op\":\"dot.1\",\"hlo_module\":\"jit_f\",\"run_id\":\"7\",\"program_id\":\"3\",\"device_"
	"ordinal\":\"0\"}}"
	",{\"ph\":\"X\",\"pid\":7,\"tid\":2,\"ts\":12.5,\"dur\":9.9999999999999995e-07,\"name\":\"end: "
	"dot.1\"}"
	",{\"ph\":\"X\",\"pid\":7,\"tid\":3,\"ts\":13,\"dur\":1e-06,\"name\":\"dot.1\",\"args\":{\"hlo_op\":"
	"\"dot.1\","
	"\"hlo_module\":\"jit_f\",\"run_id\":8,\"program_id\":3}}" TAIL;
static const char whole_said[] =
	"Execute 0 0 1 65820 65820 0 0\ndot.1 1 0 2 0 0 2001 2001\ntrain 0 1 1 20500 20500 0 0\n"
	"module jit_f 2 2001\nhlo jit_f dot.1 2 2001\nstep 6182\n";

static struct trace *read_text(struct str text, size_t piece)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct trace *t = NULL;
	struct err e = { 0 };
	struct input *in = NULL;
	struct tokens tokens;
	int rc;

	report = (struct trace_report){ 0 };
	ck_assert_int_eq(input_open_memory(&in, text, "x", &limits, &e), OK);
	tokens_init(&tokens, in, &report, &e);
	tokens.piece = piece == 0 ? tokens.piece : piece;
	rc = xla_json_tokens(&tokens, 1000, NULL, &t, &e);
	ck_assert((rc == OK) == (t != NULL));
	ck_assert(rc == OK || e.text[0] != '\0');
	tokens_fini(&tokens);
	input_close(in);
	return t;
}

static void say(struct trace *t)
{
	buf_reset(&said);
	help_xla_say(t, &said);
	trace_free(t);
}

static void expect(const char *text, const char *rows, const char *reported)
{
	struct trace *t = read_text(str_of(text), 0);

	ck_assert_ptr_nonnull(t);
	say(t);
	ck_assert_str_eq(buf_view(&said).p, rows);
	buf_reset(&said);
	help_report(&report, &said);
	ck_assert_str_eq(buf_view(&said).p, reported);
}

START_TEST(times_are_rounded_to_the_picosecond_they_were_printed_from)
{
	expect(whole, whole_said, " |");
}
END_TEST

/* Every underscore of a key as an escape. */
START_TEST(keys_mean_what_their_escapes_say)
{
	for (size_t i = 0; i + 1 < sizeof(whole); i++) {
		const char *quote = strchr(whole + i, '"');
		bool in_key = whole[i] == '_' && quote != NULL && quote[1] == ':';

		if (in_key)
			buf_text(&b, "\\u005f");
		else
			buf_byte(&b, whole[i]);
	}
	ck_assert(str_contains(buf_view(&b), STR("\"hlo\\u005fop\":")));
	expect(buf_view(&b).p, whole_said, " |");
}
END_TEST

START_TEST(text_in_pieces_of_any_size_is_the_same)
{
	for (size_t piece = 1; piece < sizeof(whole); piece++) {
		say(read_text(str_of(whole), piece));
		ck_assert_msg(str_eq(buf_view(&said), str_of(whole_said)), "pieces of %zu: %s", piece,
			buf_view(&said).p);
	}
}
END_TEST

START_TEST(a_text_that_ends_anywhere_gives_what_was_there)
{
	uint64_t before = 0;

	for (size_t n = 0; n + 1 < sizeof(whole) - 1; n++) {
		struct trace *t = read_text(str_upto(str_of(whole), n), 0);

		if (t == NULL) {
			ck_assert_uint_lt(n, 80);
			continue;
		}
		ck_assert_msg(trace_report_find(&report, TRACE_TRUNCATED) != NULL, "%zu bytes", n);
		ck_assert_uint_ge(report.events, before);
		before = report.events;
		trace_free(t);
	}
	ck_assert_uint_eq(before, 4);
}
END_TEST

START_TEST(what_is_no_event_is_counted)
{
	expect(HEAD ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"dur\":1,\"name\":\"no ts\"}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":1}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":\"x\",\"dur\":1,\"name\":\"bad ts\"}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":NaN,\"name\":\"bad dur\"}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":[\"odd\"]}"
		    ",17,[1,{}]"
		    ",{\"ph\":\"B\",\"pid\":7,\"tid\":1,\"ts\":1,\"name\":\"no end\"}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":5,\"name\":\"unfinished\",\"args\":{\"x\":{"
		    "\"hlo_op\":\"y\"}}}" TAIL,
		"unfinished 0 0 1 0 0 0 0\n",
		"1 no_time@215, 2 no_name@265, 2 bad_number@307, 2 bad_event@485 | 1 unfinished 1 "
		"non_numbers");
}
END_TEST

START_TEST(damage_costs_the_event_that_it_is_in)
{
	expect(HEAD ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":,\"name\":\"bad\"}"
		    ",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":5,\"dur\":2,\"name\":\"good\"}" TAIL,
		"good 0 0 1 2000 2000 0 0\n", "1 bad_json@254 |");
}
END_TEST

START_TEST(a_device_with_a_line_of_ops_has_only_that_one)
{
	static const char op[] =
		"\"ts\":1,\"dur\":2,\"name\":\"dot\",\"args\":{\"hlo_op\":\"dot\",\"hlo_module\":\"m\"}}";

	buf_text(&b,
		HEAD
		",{\"ph\":\"M\",\"pid\":9,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}}"
		",{\"ph\":\"M\",\"pid\":9,\"tid\":4,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA "
		"Ops\"}}");
	buf_fmt(&b, ",{\"ph\":\"X\",\"pid\":9,\"tid\":4,%s,{\"ph\":\"X\",\"pid\":9,\"tid\":5,%s", op, op);
	buf_fmt(&b, ",{\"ph\":\"X\",\"pid\":7,\"tid\":5,%s", op);
	buf_text(&b, TAIL);
	expect(buf_view(&b).p, "dot 1 0 2 0 0 4000 4000\nmodule m 2 4000\nhlo m dot 2 4000\n", " |");
}
END_TEST

/* Whichever comes first: the names of processes and lines, or the events. */
static const char *const named[] = {
	",{\"ph\":\"M\",\"pid\":9,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}}",
	",{\"ph\":\"M\",\"pid\":9,\"tid\":4,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}}"
	",{\"ph\":\"M\",\"pid\":9,\"tid\":5,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Modules\"}}",
	",{\"ph\":\"X\",\"pid\":9,\"tid\":4,\"ts\":1,\"dur\":2,\"name\":\"dot\"}"
	",{\"ph\":\"X\",\"pid\":9,\"tid\":5,\"ts\":1,\"dur\":3,\"name\":\"jit_f(1)\"}"
	",{\"ph\":\"X\",\"pid\":9,\"tid\":5,\"ts\":5,\"dur\":3,\"name\":\"dot\",\"args\":{\"hlo_op\":\"dot\"}}"
	",{\"ph\":\"X\",\"pid\":8,\"tid\":1,\"ts\":1,\"dur\":4,\"name\":\"Execute\"}",
};

START_TEST(names_of_processes_and_lines_may_stand_behind_their_events)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	buf_text(&b, HEAD);
	for (int i = 0; i < 3; i++)
		buf_text(&b, named[orders[_i][i]]);
	buf_text(&b, TAIL);
	expect(buf_view(&b).p, "Execute 0 0 1 4000 4000 0 0\ndot 1 0 1 0 0 2000 2000\nmodule jit_f 1 2000\nhlo jit_f dot 1 2000\n", " |");
}
END_TEST

START_TEST(times_since_1970_count_from_the_first)
{
	struct trace *t;

	buf_text(&b,
		HEAD
		",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1795964574961839.139,\"dur\":2.5,\"name\":\"a\"}"
		",{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1795964575961839.141,\"dur\":2.5,\"name\":"
		"\"a\"}" TAIL);
	t = read_text(buf_view(&b), 0);
	ck_assert_uint_eq(t->events.n, 2);
	ck_assert(t->has_base && t->base_ns == INT64_C(1795964574961839139));
	ck_assert_int_eq(t->events.v[1].start_ns, 1000000002);
	trace_free(t);
}
END_TEST

static const char names_behind[] =
	"{\"traceEvents\":[{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"a\"},{\"ph\":\"X\",\"pid\":9,\"tid\":1,\"ts\":1,"
	"\"dur\":2,\"name\":\"b\"},{\"ph\":\"M\",\"pid\":9,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}}]}";

static const struct {
	const char *text, *said;
} for_memory[] = { { whole, whole_said }, { names_behind, "a 0 0 1 2000 2000 0 0\n" } };

START_TEST(memory_that_gives_out_is_told)
{
	bool over_at_last = false;

	for (unsigned nth = 1; nth < 500 && !over_at_last; nth++) {
		struct trace *t;

		mem_fail_at(nth);
		t = read_text(str_of(for_memory[_i].text), 0);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		if (t != NULL && report.n_skips == 0) {
			say(t);
			ck_assert_msg(str_eq(buf_view(&said), str_of(for_memory[_i].said)), "allocation %u: %s", nth,
				said.p);
		} else {
			trace_free(t);
		}
	}
	ck_assert(over_at_last);
}
END_TEST

START_TEST(what_has_no_events_is_refused)
{
	static const char *const texts[] = { "", "{}", "17", "{\"traceEvents\":5}", "{\"metadata\":{}}",
		"{\"x\":" };

	for (size_t i = 0; i < COUNT(texts); i++)
		ck_assert_msg(read_text(str_of(texts[i]), 0) == NULL, "%s", texts[i]);
}
END_TEST

static const struct {
	const char *text;
	enum xla_json_answer answer;
} dialects[] = {
	{ whole, XLA_JSON_YES },
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"x\",\"args\":{\"hlo_op\":", XLA_JSON_YES },
	{ "{\"traceEvents\":[{\"ph\":\"M\",\"args\":{\"name\":\"/device:TPU:0\"}", XLA_JSON_YES },
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"name\":\"$train.py:12 step\"}", XLA_JSON_YES },
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"$train.py:12 step\",\"cat\":\"python_function\"}", XLA_JSON_NO },
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"$5 a piece\"}", XLA_JSON_UNKNOWN },
	/* Chrome's own header */
	{ "{\"metadata\":{\"highres-ticks\":true},\"traceEvents\":[{\"cat\":\"cpu_op\",\"args\":{\"name\":\"/"
	  "host:CPU\"}}",
		XLA_JSON_NO },
	{ "{\"schemaVersion\":1,\"cat\":{},\"traceEvents\":[{\"ph\":\"X\",\"name\":\"/host:CPU\"}",
		XLA_JSON_UNKNOWN },
	{ "", XLA_JSON_UNKNOWN },
};

START_TEST(the_dialect_is_told_by_events)
{
	ck_assert_int_eq(xla_json_is(str_of(dialects[_i].text)), dialects[_i].answer);
}
END_TEST

Suite *suite_xla_json(void)
{
	Suite *s = suite_create("xla_json");
	TCase *t = tcase_create("xla_json");

	tcase_add_checked_fixture(t, begin, over);
	tcase_add_test(t, times_are_rounded_to_the_picosecond_they_were_printed_from);
	tcase_add_test(t, keys_mean_what_their_escapes_say);
	tcase_add_test(t, text_in_pieces_of_any_size_is_the_same);
	tcase_add_test(t, a_text_that_ends_anywhere_gives_what_was_there);
	tcase_add_test(t, what_is_no_event_is_counted);
	tcase_add_test(t, damage_costs_the_event_that_it_is_in);
	tcase_add_test(t, a_device_with_a_line_of_ops_has_only_that_one);
	tcase_add_loop_test(t, names_of_processes_and_lines_may_stand_behind_their_events, 0, 6);
	tcase_add_test(t, times_since_1970_count_from_the_first);
	tcase_add_loop_test(t, memory_that_gives_out_is_told, 0, (int)COUNT(for_memory));
	tcase_add_test(t, what_has_no_events_is_refused);
	tcase_add_loop_test(t, the_dialect_is_told_by_events, 0, (int)COUNT(dialects));
	suite_add_tcase(s, t);
	return s;
}
