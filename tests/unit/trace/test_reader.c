#include "trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/trace/help.h"

Suite *suite_reader(void);

/* Events as the reader kept them, one a line, for comparing. */
static void show_events(const struct trace *t, struct buf *out)
{
	for (size_t i = 0; i < t->events.n; i++) {
		const struct trace_event *ev = &t->events.v[i];

		buf_fmt(out, "%d %u %" PRId64 "+%" PRId64 " flags %d ext %" PRIu64 " thread %.*s ", ev->cat,
			(unsigned)ev->name, ev->start_ns, ev->dur_ns, ev->flags, ev->ext,
			STR_ARG(intern_name(&t->threads, ev->thread)));
		buf_str(out, trace_name(t, ev->name));
		buf_byte(out, '\n');
	}
}

/* One of everything: header before and behind, numbers as texts, escapes, raw quotes, other phases, nested args. */
static const char everything[] =
	"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"C:\\work\\x\"}],\"baseTimeNanoseconds\":1727743122000000000,\n"
	" \"traceEvents\":[\n"
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"py\\\"thon\",\"traceEvents\":[1,{}]}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::m\\u00fcl\\n\",\"pid\":1,\"tid\":\"t 1\",\"ts\":100.125,\"dur\":10,"
	"\"args\":{\"External id\":7,\"Input Dims\":[[2,3],[]],\"Concrete Inputs\":[\"]}\",\"\"]}},\n"
	"{\"args\":{\"correlation\":9,\"External id\":\"9\"},\"dur\":\"0.5\",\"ts\":\"101.001\",\"tid\":2,\"pid\":\"CPU\","
	"\"name\":\"launch\",\"cat\":\"privateuse1_runtime\",\"ph\":\"X\"},\n"
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"say \"hi\" to\n me\",\"pid\":1,\"tid\":1,\"ts\":90,\"dur\":-1},\n"
	"{},\n"
	"{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":1,\"tid\":1,\"ts\":1}\n"
	"],\"host_name\":\"host-a\",\"distributedInfo\":{\"backend\":\"gloo\",\"rank\":3,\"pg\":[{}]},"
	"\"cuda_runtime_version\":12040,\"traceName\":\"/tmp/x.json\"}\n";

START_TEST(an_event_split_at_any_byte_is_the_same_event)
{
	struct str text = str_of(everything);
	struct trace *whole = help_read(text, 0, NULL);
	struct buf want, got;

	buf_init(&want, 1 << 20);
	buf_init(&got, 1 << 20);
	show_events(whole, &want);
	ck_assert_uint_eq(whole->events.n, 3);
	for (size_t at = 1; at < text.n; at++) {
		struct trace_reader *r = trace_reader_new(1000);
		struct trace_report report = { .bytes = text.n };
		struct trace *t = NULL;
		struct err e = { 0 };
		char *a = mem_dup(text.p, at), *b = mem_dup(text.p + at, text.n - at);

		ck_assert_int_eq(trace_reader_feed(r, str_make(a, at), &e), OK);
		mem_free(a); /* nobody looks at a block that was used up */
		ck_assert_int_eq(trace_reader_feed(r, str_make(b, text.n - at), &e), OK);
		mem_free(b);
		ck_assert_int_eq(trace_reader_end(r, &report, &t, &e), OK);
		buf_reset(&got);
		show_events(t, &got);
		ck_assert_msg(str_eq(buf_view(&got), buf_view(&want)), "cut at byte %zu:\n%s\n%s", at,
			buf_view(&got).p, buf_view(&want).p);
		ck_assert_int_eq(t->rank, 3);
		trace_free(t);
		trace_reader_free(r);
	}
	trace_free(whole);
	buf_fini(&want);
	buf_fini(&got);
}
END_TEST

START_TEST(blocks_of_any_size_give_the_same_events)
{
	struct trace *whole = help_read(str_of(everything), 0, NULL);
	struct buf want, got;

	buf_init(&want, 1 << 20);
	buf_init(&got, 1 << 20);
	show_events(whole, &want);
	for (size_t size = 1; size < 64; size++) {
		struct trace *t = help_read(str_of(everything), size, NULL);

		buf_reset(&got);
		show_events(t, &got);
		ck_assert_str_eq(buf_view(&got).p, buf_view(&want).p);
		trace_free(t);
	}
	trace_free(whole);
	buf_fini(&want);
	buf_fini(&got);
}
END_TEST

START_TEST(the_header_may_stand_before_or_behind_the_events)
{
	struct trace *t = help_read(str_of(everything), 0, NULL);

	ck_assert(t->has_base && t->has_host_name && !t->bare_array);
	ck_assert_int_eq(t->base_ns, INT64_C(1727743122000000000));
	ck_assert(str_eq(t->host_name, STR("host-a")));
	ck_assert_int_eq(t->rank, 3);
	ck_assert_uint_eq(t->n_versions, 1);
	ck_assert(str_eq(t->versions[0].key, STR("runtime")) && str_eq(t->versions[0].value, STR("12040")));
	ck_assert_str_eq(t->device, "NEURON");
	trace_free(t);
}
END_TEST

START_TEST(names_are_what_the_program_wrote)
{
	struct trace *t = help_read(str_of(everything), 0, NULL);

	ck_assert(str_eq(trace_name(t, t->events.v[0].name), STR("aten::m\303\274l\n")));
	ck_assert(str_eq(trace_name(t, t->events.v[2].name), STR("say \"hi\" to\n me")));
	trace_free(t);
}
END_TEST

/* As programs name things: by JSON, by what Python prints of its values, by code. */
static const char *const raw_names[] = {
	"{\"op\": \"mm\"}",
	"{\"op\": \"mm\", \"n\": 2}",
	"{\"op\":\"mm\",\"kind\":\"x\",\"n\":2}",
	"{\"name\": \"fc1\", \"op\": \"linear\"}",
	"{\"op\": \"linear\", \"name\": \"fc1\"}",
	"{\"op\": \"x\", \"shape\": [1, 2], \"more\": {\"u\": \"v\"}}",
	"[{\"op\": \"a\"}, {\"op\": \"b\"}]",
	"[{\"op\": \"a\"}, {\"name\": \"b\"}, 3, \"c\"], []",
	"f([{\"op\": \"a\", \"n\": 1}], {\"u\": \"v\"}, \"w\")",
	"kwargs={'a': \"it's\"}, 'b': [\"it's\"]",
	"f(\"a\", \"b\": 1)",
	"f(\"a\", , \"b\": 1)",
	"say \"a\", \"pid\"",
	"\"}",
	"\"}]}",
	"\"]}, {",
	"\"",
	"C:\\dir\\",
};
static const struct { /* an event before its name and behind it: compact, one key a line, name in front, and last */
	const char *before, *behind;
} name_forms[] = {
	{ "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"", "\", \"pid\": 1, \"tid\": 2, \"ts\": 1, \"dur\": 2}" },
	{ "\n  {\n    \"ph\": \"X\",\n    \"cat\": \"cpu_op\",\n    \"name\": \"",
		"\",\n    \"pid\": 1,\n    \"tid\": 2,\n    \"ts\": 1,\n    \"dur\": 2\n    ,\n    \"args\": {\n      \"x\": \"y\"\n    }\n  }" },
	{ "{\"name\":\"", "\",\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2,\"args\":{\"Call stack\":\"a \"b\" c\"}}" },
	{ "{\"ts\":1,\"dur\":2,\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"name\":\"", "\"}" },
};

/* Every name in every form, between others, and what was read of it. In blocks of so many bytes, 0: one. */
static void check_raw_names(const char *tail, size_t block)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	for (size_t form = 0; form < COUNT(name_forms); form++)
		for (size_t i = 0; i < COUNT(raw_names); i++) {
			const char *other = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"other\",\"ts\":1,\"dur\":2}";
			struct trace_report report;
			struct trace *t;

			buf_reset(&text);
			buf_fmt(&text, "%s%s,%s%s%s,%s]%s", *tail ? "{\"traceEvents\":[" : "[", other, name_forms[form].before,
				raw_names[i], name_forms[form].behind, other, tail);
			t = help_read(buf_view(&text), block, &report);
			ck_assert_msg(t->events.n == 3 && report.n_skips == 0, "%s\ngives %zu events", text.p, t->events.n);
			ck_assert_msg(str_eq(trace_name(t, t->events.v[1].name), str_of(raw_names[i])), "%s\ngives %.*s",
				text.p, STR_ARG(trace_name(t, t->events.v[1].name)));
			trace_free(t);
		}
	buf_fini(&text);
}

START_TEST(names_with_raw_quotes_are_read_whole_whatever_they_are)
{
	check_raw_names(",\"traceName\":\"x.json\"}", 0);
	check_raw_names("}", 0);
	check_raw_names("", 0);
	for (size_t block = 1; block < 40; block++)
		check_raw_names(",\"traceName\":\"x.json\"}", block);
}
END_TEST

START_TEST(times_are_decimal_text_of_any_length)
{
	static const struct {
		const char *ts, *dur;
		int64_t start_ns, dur_ns;
	} times[] = {
		{ "100", "1", 100000, 1000 },
		{ "100.5", "0.001", 100500, 1 },
		{ "\"1767225600000109.900\"", "\"0.200\"", INT64_C(1767225600000109900), 200 },
		{ "1767225600000109.901", "0", INT64_C(1767225600000109901), 0 },
		{ "1e3", "2.5e-1", 1000000, 250 },
		{ "-5.25", "3", -5250, 3000 },
		/* no numbers of JSON, but plain all the same */
		{ "\" 12.5 \"", "\"+3\"", 12500, 3000 },
		{ "007.25", ".5", 7250, 500 },
		{ "\"-.5\"", "1.", -500, 1000 },
		{ "\"00\"", "\"-0.\"", 0, 0 },
	};

	for (size_t i = 0; i < COUNT(times); i++) {
		char text[400];
		struct trace *t;

		snprintf(text, sizeof(text), "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":%s,\"dur\":%s}]", times[i].ts, times[i].dur);
		t = help_read(str_of(text), 0, NULL);
		ck_assert_int_eq(t->events.v[0].start_ns, times[i].start_ns);
		ck_assert_int_eq(t->events.v[0].dur_ns, times[i].dur_ns);
		trace_free(t);
	}
}
END_TEST

/* What is in the list of events (or the whole file), how many events are kept, and what is said. */
static const struct {
	const char *text;
	size_t events;
	const char *said;
} odd[] = {
#define EVENT "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}"
#define WITH_CAT "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":1}"
	{ "[" EVENT "]", 1, " |" },
	{ "[]", 0, " |" },
	{ "{\"traceEvents\":[]}", 0, " |" },
	{ "\xef\xbb\xbf[" EVENT "]", 1, " | 1 byte_order_mark" },
	{ "[" EVENT ",]", 1, " | 1 extra_commas" },
	{ "[" EVENT ",\n", 1, " | 1 open_array" },
	{ "[" EVENT, 1, " | 1 open_array" },
	{ "[{}," EVENT ",{}]", 1, " | 2 empty_object" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-1}]", 1, " | 1 unfinished" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}]", 1, " | 1 unfinished" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":NaN}," EVENT "]", 1, "1 bad_number@1 | 1 non_numbers" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":Infinity,\"dur\":1}]", 0, "1 bad_number@1 | 1 non_numbers" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"soon\",\"dur\":1}]", 0, "1 bad_number@1 |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":null,\"dur\":1}]", 0, "1 bad_number@1 |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":99999999999999999999}]", 0, "1 bad_number@1 |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":9000000000000000,\"dur\":9000000000000000}]", 0, "1 bad_number@1 |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"dur\":1}," EVENT "]", 1, "1 no_time@1 |" },
	{ "[{\"ph\":\"X\",\"ts\":1,\"dur\":1}," EVENT "]", 1, "1 no_name@1 |" },
	{ "[{\"ph\":\"X\",\"name\":5,\"ts\":1,\"dur\":1}]", 0, "1 no_name@1 |" },
	{ "[" EVENT ",7,\"x\",[" EVENT "]," EVENT "]", 2, "3 bad_event@38 |" },
	{ "[" EVENT " " EVENT "]", 2, "1 bad_json@38 |" },
	{ "[" EVENT ",{\"ph\":\"X\",\"name\":bad}," EVENT "]", 2, "1 bad_json@55 |" },
	{ "{\"traceEvents\":[" WITH_CAT "],", 1, "1 truncated@69 |" },
	{ "{\"traceEvents\":[" WITH_CAT ",{\"ph\":\"X\",\"na", 1, "1 truncated@81 |" },
	{ "[" EVENT ",{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":1", 1, "1 truncated@73 |" },
	{ "{\"traceEvents\":[" WITH_CAT "],\"x\":bad worse}", 1, "1 bad_json@77 | 1 non_numbers" },
	{ "{\"x\":None,\"y\":,\"z\":{\"u\":True},\"traceEvents\":[" WITH_CAT "],\"v\":}", 1, " | 3 non_numbers" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"id\":,\"args\":{\"x\":none,\"y\":}}]", 1, " | 3 non_numbers" },
	/* damage in the header */
	{ "{\"x\":1 \"y\":2,\"traceEvents\" : [" WITH_CAT "]}", 1, "1 bad_json@7 |" },
	{ "{// c\n\"x\":{\"y\":1},\"traceEvents\":[" WITH_CAT "],\"host_name\":\"h\"}", 1, "1 bad_json@1 |" },
	{ "{\"baseTimeNanoseconds\":,\"traceEventsX\":\"traceEvents\",\"traceEvents\":[" WITH_CAT ",{}", 1,
		"1 truncated@122, 1 bad_json@23 | 1 empty_object" },
	{ "{\"traceEvents\":[" WITH_CAT "," WITH_CAT "],\"traceEvents\":[" WITH_CAT "]}", 1, " |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":\".\",\"dur\":1},{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":\"\"}]", 0, "2 bad_number@1 |" },
	{ "{\"traceEvents\":[" WITH_CAT "]} {\"traceEvents\":[" WITH_CAT "]}", 1, "1 bad_json@70 |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\\q\",\"ts\":1,\"dur\":1}]", 1, " | 1 bad_escapes" },
	{ "[{\"ph\":\"X\",\"name\":\"a\xff\",\"ts\":1,\"dur\":1}]", 1, " | 1 bad_utf8" },
	{ "[{\"ph\":\"X\",\"name\":\"a\x01\",\"ts\":1,\"dur\":1}]", 1, " | 1 raw_controls" },
	{ "{\"traceEvents\":[" EVENT "]}", 0, " |" }, /* without a category only in a bare array */
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"a\"}]}", 0, " |" }, /* gives no row, so needs nothing */
	{ "[{\"ph\":\"X\",\"name\":\"aten::is_leaf\",\"ts\":1,\"dur\":1}]", 0, " |" },
	{ "[{\"ph\":\"X\",\"name\":\"a\",\"name\":\"b\",\"ts\":1,\"ts\":2,\"dur\":1}]", 1, " |" },
};

START_TEST(what_is_odd_or_lost_is_told)
{
	struct trace_report report;
	struct trace *t = help_read(str_of(odd[_i].text), 0, &report);
	struct buf said;

	buf_init(&said, 4096);
	help_report(&report, &said);
	ck_assert_msg(t->events.n == odd[_i].events, "%s: %zu events", odd[_i].text, t->events.n);
	ck_assert_msg(str_eq(buf_view(&said), str_of(odd[_i].said)), "%s: %s", odd[_i].text, buf_view(&said).p);
	ck_assert_uint_eq(report.events, t->events.n);
	trace_free(t);
	buf_fini(&said);
}
END_TEST

static const struct {
	const char *text, *sentence;
} strangers[] = {
	{ "", "x: this is no trace: it is empty" },
	{ "hello", "x: line 1, column 1 (byte 0): expected a value, found \"hello\"" },
	{ "17", "x: this is no trace: it is neither an object with \"traceEvents\" nor an array" },
	{ "{\"nodes\":[],\"schema\":\"1.0\"}", "x: this is no trace: it has no \"traceEvents\"" },
	{ "{\"traceEvents\":{}}", "x: this is no trace: \"traceEvents\" is no array" },
	{ "[1,2,3]", "x: this is no trace: nothing in it is an event" },
	{ "{\"deviceProperties\":[", "x: this is no trace: it has no \"traceEvents\"" },
	{ "{\"x\":1 \"y\":2}", "x: line 1, column 8 (byte 7): expected ',' or the end, found '\"'" },
	{ "{\"x\":1 \"y\":2,\"traceEvents", "x: line 1, column 8 (byte 7): expected ',' or the end, found '\"'" },
	{ "{\"x\":1}\n{\"x\":1}", "x: line 2, column 1 (byte 8): expected nothing more, found '{'" },
};

START_TEST(what_is_no_trace_is_refused_with_a_reason)
{
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct input *in = NULL;
	struct trace *t = NULL;
	struct trace_report report;
	struct err e = { 0 };

	ck_assert_int_eq(input_open_memory(&in, str_of(strangers[_i].text), "x", &limits, &e), OK);
	ck_assert_int_eq(trace_read(in, "x", &limits, NULL, &report, &t, &e), E_FORMAT);
	ck_assert_str_eq(e.text, strangers[_i].sentence);
	ck_assert_ptr_null(t);
	input_close(in);
}
END_TEST

START_TEST(no_more_events_are_kept_than_allowed)
{
	struct trace_reader *r = trace_reader_new(2);
	struct trace_report report = { 0 };
	struct trace *t = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(trace_reader_feed(r, STR("[" EVENT "," EVENT "," EVENT "," EVENT "]"), &e), OK);
	ck_assert_int_eq(trace_reader_end(r, &report, &t, &e), OK);
	ck_assert_uint_eq(t->events.n, 2);
	ck_assert_uint_eq(trace_report_find(&report, TRACE_TOO_MANY)->count, 2);
	trace_free(t);
	trace_reader_free(r);
}
END_TEST

START_TEST(an_own_id_is_told_from_a_link)
{
	struct buf b;
	struct trace *t;

	buf_init(&b, 1 << 16);
	help_begin(&b);
	help_event(&b, "kernel", "k", 7, 1, 1, "\"External id\":5,\"correlation\":5");
	help_event(&b, "kernel", "k", 7, 2, 1, "\"External id\":5,\"correlation\":6");
	help_event(&b, "kernel", "k", 7, 3, 1, "\"external id\":8,\"correlation\":8");
	help_event(&b, "kernel", "k", 7, 4, 1, "\"correlation\":8");
	help_event(&b, "kernel", "k", 7, 5, 1, "\"External id\":null,\"correlation\":8");
	help_event(&b, "kernel", "k", 7, 6, 1, "\"External id\":9,\"external id\":10");
	help_end(&b);
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_int_eq(t->events.v[0].flags, EVENT_HAS_EXT | EVENT_OWN_ID);
	ck_assert_int_eq(t->events.v[1].flags, EVENT_HAS_EXT);
	ck_assert_int_eq(t->events.v[2].flags, EVENT_HAS_EXT | EVENT_OWN_ID);
	ck_assert_int_eq(t->events.v[3].flags, 0);
	ck_assert_int_eq(t->events.v[4].flags, 0);
	ck_assert_uint_eq(t->events.v[5].ext, 9);
	trace_free(t);
	buf_fini(&b);
}
END_TEST

START_TEST(deep_nesting_in_arguments_costs_nothing)
{
	enum { DEEP = 90000 };
	struct buf b;
	struct trace *t;

	buf_init(&b, 1 << 20);
	buf_text(&b, "[{\"ph\":\"X\",\"args\":{\"x\":");
	buf_fill(&b, '[', DEEP);
	buf_fill(&b, ']', DEEP);
	buf_text(&b, "},\"name\":\"a\",\"ts\":1,\"dur\":1}]");
	t = help_read(buf_view(&b), 0, NULL);
	ck_assert_uint_eq(t->events.n, 1);
	trace_free(t);
	buf_fini(&b);
}
END_TEST

Suite *suite_reader(void)
{
	Suite *s = suite_create("trace/reader");
	TCase *tc = tcase_create("reader");

	tcase_add_test(tc, an_event_split_at_any_byte_is_the_same_event);
	tcase_add_test(tc, blocks_of_any_size_give_the_same_events);
	tcase_add_test(tc, the_header_may_stand_before_or_behind_the_events);
	tcase_add_test(tc, names_are_what_the_program_wrote);
	tcase_add_test(tc, names_with_raw_quotes_are_read_whole_whatever_they_are);
	tcase_add_test(tc, times_are_decimal_text_of_any_length);
	tcase_add_loop_test(tc, what_is_odd_or_lost_is_told, 0, (int)COUNT(odd));
	tcase_add_loop_test(tc, what_is_no_trace_is_refused_with_a_reason, 0, (int)COUNT(strangers));
	tcase_add_test(tc, no_more_events_are_kept_than_allowed);
	tcase_add_test(tc, an_own_id_is_told_from_a_link);
	tcase_add_test(tc, deep_nesting_in_arguments_costs_nothing);
	suite_add_tcase(s, tc);
	return s;
}
