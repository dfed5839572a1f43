#include "trace/quick.h"

#include <check.h>
#include <inttypes.h>

#include "base/mem.h"
#include "tests/support/prop.h"
#include "tests/unit/trace/help.h"

Suite *suite_quick(void);

/* Events and report as text. */
static void show(struct trace *t, const struct trace_report *report, struct buf *out)
{
	for (size_t i = 0; i < t->events.n; i++) {
		const struct trace_event *ev = &t->events.v[i];

		buf_fmt(out, "%d %" PRId64 "+%" PRId64 " flags %d ext %" PRIu64 " thread %.*s ", ev->cat, ev->start_ns,
			ev->dur_ns, ev->flags, ev->ext, STR_ARG(intern_name(&t->threads, ev->thread)));
		buf_str(out, trace_name(t, ev->name));
		buf_byte(out, ' ');
		buf_str(out, trace_dims(t, ev));
		buf_byte(out, '\n');
	}
	vec_each(a, &t->allocs)
		buf_fmt(out, "%" PRId64 ": %" PRId64 " %" PRId64 "\n", a->at_ns, a->bytes[MEMORY_CPU], a->bytes[MEMORY_DEVICE]);
	for (int i = 0; i < COPY_DIRECTIONS; i++)
		buf_fmt(out, "%" PRIu64 " ", t->copy_bytes[i]);
	help_report(report, out);
	buf_fmt(out, " device %s", t->device == NULL ? "none" : t->device);
}

/* Reads text with a kernel, or token by token, in blocks of so many bytes. An error is text, too. */
static void read_with(const struct json_mask_kernel *kernel, struct str text, size_t block, unsigned want,
	struct buf *out)
{
	struct trace_reader *r = trace_reader_new(100000);
	struct trace_report report = { .bytes = text.n };
	struct trace *t = NULL;
	struct err e = { 0 };
	int rc = OK;

	trace_reader_kernel(r, kernel);
	trace_reader_want(r, want);
	for (size_t at = 0; rc == OK && at < text.n; at += block) {
		struct str part = str_upto(str_from(text, at), block);
		char *copy = mem_dup(part.p, part.n); /* a sanitizer sees a byte read too far */

		rc = trace_reader_feed(r, str_make(copy, part.n), &e);
		mem_free(copy);
	}
	if (rc == OK)
		rc = trace_reader_end(r, &report, &t, &e);
	trace_reader_free(r);
	if (rc == OK)
		show(t, &report, out);
	else
		buf_text(out, e.text);
	trace_free(t);
}

static bool all_agree_on(struct str text, size_t block, unsigned want)
{
	struct buf slow, quick;
	bool same = true;

	buf_init(&slow, 64 << 20);
	buf_init(&quick, 64 << 20);
	read_with(NULL, text, block, want, &slow);
	for (size_t i = 0; same && json_mask_kernels[i] != NULL; i++) {
		if (!json_mask_kernels[i]->runs_here())
			continue;
		buf_reset(&quick);
		read_with(json_mask_kernels[i], text, block, want, &quick);
		same = str_eq(buf_view(&slow), buf_view(&quick));
		if (same)
			continue;
		printf("# %s in blocks of %zu\n# of:\n%.*s\n# token by token:\n%.*s\n# quick:\n%.*s\n",
			json_mask_kernels[i]->name, block, STR_ARG(text), STR_ARG(buf_view(&slow)),
			STR_ARG(buf_view(&quick)));
		fflush(stdout); /* the test ends by a signal */
	}
	buf_fini(&slow);
	buf_fini(&quick);
	return same;
}

static bool all_agree(struct str text, size_t block)
{
	return all_agree_on(text, block, 0) && all_agree_on(text, block, TRACE_SHAPES | TRACE_MEMORY | TRACE_PYTHON | TRACE_COPIES);
}

/* Events as writers write them, and as no writer should. */
static const char *const events[] = {
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 2, \"ts\": 100.125, \"dur\": 7.5, "
	"\"args\": {\"External id\": 12,\"Record function id\": 0, \"Ev Idx\": 3}}",
	"{\n    \"ph\": \"X\",\n    \"cat\": \"kernel\",\n    \"name\": \"k<float, 4>\",\n    \"pid\": 0,\n    \"tid\": 7,\n"
	"    \"ts\": 5104148876816.506,\n    \"dur\": 12,\n    \"args\": {\n      \"External id\": 12,\n"
	"      \"correlation\": 12,\n      \"grid\": [1, 2, 3]\n    }\n  }",
	"{\"ph\":\"X\",\"cat\":\"privateuse1_runtime\",\"name\":\"nrt_execute\",\"pid\":1,\"tid\":\"a b\",\"ts\":\"1727\",\"dur\":-1,"
	"\"args\":{\"external id\":\"9\",\"correlation\":4,\"x\":null,\"y\":true,\"z\":[[\"a\",\"]}\"],[]],\"w\":-1.5e-3}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::cat\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":1,\"args\":"
	"{\"Input Dims\": [[[2,  64], [ ]], [-1,0,\n12]], \"Input type\": [\"TensorList\", \"\"]}}",
	"{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 2, \"ts\": 101.5, \"args\": "
	"{\"Total Reserved\": 0, \"Bytes\": -512, \"Device Id\": -1, \"Device Type\": 0, \"Addr\": 94261310664448}}",
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"python\"}}",
	"{\"ph\":\"s\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":100.125,\"cat\":\"ac2g\",\"name\":\"ac2g\"}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"say \"hi\" now\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"C:\\work\\x\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":2}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"gr\xc3\xbc\xc3\x9f\",\"pid\":1,\"tid\":2,\"ts\":NaN,\"dur\":2}",
	"{\"name\":\"last of two\",\"name\":\"aten::t\",\"dur\":01,\"ts\":3,\"tid\":2,\"pid\":1,\"cat\":\"cpu_op\",\"ph\":\"X\"}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"deep\",\"ts\":1,\"dur\":1,\"args\":{\"a\":{\"External id\":5},\"External id\":6}}",
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> Device)\",\"pid\":0,\"tid\":7,\"ts\":9,\"dur\":2,"
	"\"args\":{\"bytes\": 4096, \"External id\": 12}}",
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":\"7\",\"args\":{\"Bytes\":\"9223372036854775807\",\"Device Type\":20}}",
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":7,\"args\":{\"Bytes\":1.5}}",
	"{\"ph\":\"i\",\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\",\"ts\":7}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"odd\",\"ts\":5,\"dur\":1,"
	"\"args\":{\"Input Dims\": [[2, \"x, y\"], [1.5, true], {\"a\":[1]}]}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"odd\",\"ts\":5,\"dur\":1,\"args\":{\"Input Dims\": [[2,], [01]], \"Input Dims\": 4}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"odd\",\"ts\":5,\"dur\":1,\"args\":{\"Input Dims\": \"[[2]]\", \"Input Dims\": [[-]]}}",
	"{\"ph\":\"E\",\"cat\":\"cpu_op\",\"name\":\"odd\",\"ts\":5,\"dur\":1,\"args\":{\"Input Dims\": [[2,], [01]]}}",
	"{\"ph\":\"E\",\"cat\":\"cpu_op\",\"name\":\"odd\",\"ts\":5,\"dur\":1,\"args\":{\"Input Dims\": [[-]], \"Bytes\": [-, 01]}}",
	"{}",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"cat\":5,\"name\":\"text\",\"name\":1,\"ts\":1,\"dur\":1}",
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":1,\"tid\":2,\"ts\":90,\"dur\":100,\"more\":[{}]}",
	"{\"ph\":\"M\",\"name\":\"late\",\"ts\":1,\"dur\":2,\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ph\":\"X\"}",
	"{\"\\u0070h\":\"\\u0058\",\"c\\u0061t\":\"cpu\\u005fop\",\"name\":\"escaped\",\"ts\":\"\\u0031\",\"dur\":2,"
	"\"args\":{\"External\\u0020id\":12}}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"nowhere\",\"pid\":null,\"tid\":true,\"ts\":5,\"dur\":0.00059}",
	"17",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"{\"op\": \"mm\", \"n\": [{\"a\": \"b\"}]}\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":2}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2,\"name\":\"\"}, [{\"a\": \"b\"}, {\"name\": \"c\"}]\"}",
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"C:\\x\\\",\"pid\":null,\"tid\":2,\"ts\":1,\"dur\":2}",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"args\":{\"External id\": 12},\"args\":{\"stream\": 1}}",
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"args\":{\"External id\": 12},\"args\":null}",
	"{\"ph\":\"M\",\"args\":{\"labels\":[\"a\",\"b\"]}}",
	"\"text\"",
};

static const char strange[] = "\"\"\"\\{}[],:X \n\t0-.eEn\x01\x80\xff";

static void make_text(struct rand_gen *g, size_t size, struct buf *b)
{
	buf_text(b, "{\"traceEvents\":[");
	for (size_t i = 0; i < size; i++) {
		size_t usual = rand_below(g, 4) ? 7 : COUNT(events);

		buf_text(b, i == 0 ? "" : rand_below(g, 2) ? "," : ",\n  ");
		buf_text(b, events[rand_below(g, usual)]);
	}
	buf_text(b, "],\"host_name\":\"h\"}");
}

static void damage(struct rand_gen *g, struct buf *b)
{
	for (uint64_t n = rand_below(g, 4); n > 0; n--)
		b->p[rand_below(g, b->n)] = strange[rand_below(g, sizeof(strange) - 1)];
}

static bool quick_is_slow(struct rand_gen *g, size_t size, void *arg)
{
	struct buf b;
	bool same;

	(void)arg;
	buf_init(&b, 1 << 20);
	make_text(g, size, &b);
	damage(g, &b);
	same = all_agree(buf_view(&b), b.n) && all_agree(buf_view(&b), 1 + rand_below(g, b.n));
	buf_fini(&b);
	return same;
}

START_TEST(both_ways_of_reading_agree_whatever_is_in_the_file)
{
	prop_check("both ways of reading agree", 600, 60, quick_is_slow, NULL);
}
END_TEST

static const char *const members[] = {
	"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "External id", "external id", "correlation", "Input Dims",
	"Bytes", "Device Type", "bytes", "else",
};
static const char *const values[] = {
	"null", "true", "false", "7", "-7", "1.5e1", "\"X\"", "\"\"", "\"\\u0058\"", "[]", "[7]", "[[\"a\"], 1]", "{}", "{\"a\":1}",
};

/* Before all of a usual event, and behind it: the last of a key stands. */
START_TEST(any_value_of_any_member_is_read_alike)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	for (size_t i = 0; i < COUNT(members) * COUNT(values); i++) {
		const char *member = members[i / COUNT(values)], *value = values[i % COUNT(values)];

		for (int behind = 0; behind < 2; behind++) {
			buf_reset(&text);
			buf_text(&text, "{\"traceEvents\":[");
			for (int twice = 0; twice < 2; twice++) { /* the second goes by what the first taught */
				buf_text(&text, twice ? ",{" : "{");
				if (!behind)
					buf_fmt(&text, "\"%s\": %s,", member, value);
				buf_text(&text, "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":2,\"ts\":3,"
						"\"dur\":4,\"args\":{");
				if (!behind)
					buf_fmt(&text, "\"%s\": %s,", member, value);
				buf_text(&text, "\"External id\":5,\"Record function id\":0");
				if (behind)
					buf_fmt(&text, ",\"%s\": %s},\"%s\": %s", member, value, member, value);
				else
					buf_byte(&text, '}');
				buf_byte(&text, '}');
			}
			buf_fill(&text, ' ', 200); /* so that all of it is compared with what was learned */
			buf_text(&text, "]}");
			ck_assert_msg(all_agree(buf_view(&text), text.n), "%s: %s", member, value);
		}
	}
	buf_fini(&text);
}
END_TEST

START_TEST(a_long_trace_is_read_alike_in_blocks)
{
	struct rand_gen g;
	struct buf b;

	rand_seed(&g, 7);
	buf_init(&b, 16 << 20);
	make_text(&g, 20000, &b);
	ck_assert(all_agree(buf_view(&b), 262144));
	ck_assert(all_agree(buf_view(&b), 4099));
	buf_fini(&b);
}
END_TEST

START_TEST(shapes_and_allocations_cut_at_any_byte_are_the_same)
{
	struct buf text, whole, cut;

	buf_init(&text, 1 << 20);
	buf_init(&whole, 1 << 20);
	buf_init(&cut, 1 << 20);
	buf_text(&text, "{\"traceEvents\":[");
	for (size_t i = 0; i < COUNT(events); i++)
		buf_fmt(&text, "%s%s", i == 0 ? "" : ",", events[i]);
	buf_text(&text, "]}");
	read_with(json_mask_best(), buf_view(&text), text.n, TRACE_SHAPES | TRACE_MEMORY, &whole);
	ck_assert(str_find(buf_view(&whole), STR("aten::cat [[[2, 64], []], [-1, 0, 12]]\n")) < whole.n);
	ck_assert(str_find(buf_view(&whole), STR("odd [[2, \"x, y\"], [1.5, true], {}]\n")) < whole.n);
	ck_assert(str_find(buf_view(&whole), STR("101500: -512 9223372036854775807\n")) < whole.n);
	ck_assert(str_find(buf_view(&whole), STR("7000: 0 9223372036854775807\n")) < whole.n);
	for (size_t block = 1; block < text.n; block++) {
		buf_reset(&cut);
		read_with(json_mask_best(), buf_view(&text), block, TRACE_SHAPES | TRACE_MEMORY, &cut);
		ck_assert_msg(str_eq(buf_view(&whole), buf_view(&cut)), "blocks of %zu:\n%s\nnot\n%s", block,
			buf_view(&cut).p, buf_view(&whole).p);
	}
	buf_fini(&text);
	buf_fini(&whole);
	buf_fini(&cut);
}
END_TEST

/* It escapes nothing there: the quote behind it opens a string. */
START_TEST(a_back_slash_outside_of_strings_is_read_alike)
{
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_fmt(&text, "{\"traceEvents\":[%s,", events[0]);
	buf_text(&text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{\"s\":[\"b\", \\\"]}},");
	buf_fmt(&text, "%s,%s]}", events[1], events[0]);
	ck_assert(all_agree(buf_view(&text), text.n));
	buf_fini(&text);
}
END_TEST

START_TEST(an_event_longer_than_the_marks_hold_is_read_all_the_same)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_text(&b, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"long\",\"ts\":1,\"dur\":2,\"args\":{\"s\":\"");
	buf_fill(&b, 'x', 100000);
	buf_text(&b, "\",\"External id\":5}},");
	buf_text(&b, events[0]);
	buf_text(&b, "]}");
	ck_assert(all_agree(buf_view(&b), b.n));
	buf_fini(&b);
}
END_TEST

START_TEST(usual_events_are_read_the_quick_way)
{
	struct trace_report report = { 0 };
	struct trace t;
	struct intake in;
	struct quick *q = quick_new(json_mask_best());
	struct json_unread u = { .text = str_of(" , {\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":1,\"dur\":2} ,"
						"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"ts\":3,\"dur\":\"4\"},{\"ph\":"),
		.offset = 100, .after_value = true };

	trace_init(&t, 10);
	intake_init(&in, &t, &report);
	ck_assert_uint_eq(quick_events(q, &in, &u), u.text.n - strlen(",{\"ph\":"));
	ck_assert_uint_eq(t.events.n, 2);
	ck_assert_int_eq(t.events.v[1].dur_ns, 4000);
	intake_fini(&in);
	trace_fini(&t);
	quick_free(q);
}
END_TEST

START_TEST(a_text_that_ends_anywhere_teaches_nothing_wrong)
{
	struct trace_report report = { 0 };
	struct trace t;
	struct intake in;
	struct buf b;

	buf_init(&b, 1 << 20);
	for (int i = 0; i < 40; i++) {
		buf_text(&b, ",\n  ");
		buf_text(&b, events[i % 2]);
	}
	buf_fill(&b, ' ', 200);
	trace_init(&t, 1000000);
	intake_init(&in, &t, &report);
	for (size_t cut = 1; cut < 600; cut++) {
		struct quick *q = quick_new(json_mask_best());
		struct json_unread u = { .text = str_upto(buf_view(&b), cut), .after_value = true };

		quick_events(q, &in, &u);
		u.text = buf_view(&b);
		ck_assert_msg(quick_events(q, &in, &u) == b.n - 200, "cut at %zu", cut);
		quick_free(q);
	}
	intake_fini(&in);
	trace_fini(&t);
	buf_fini(&b);
}
END_TEST

Suite *suite_quick(void)
{
	Suite *s = suite_create("trace/quick");
	TCase *tc = tcase_create("quick");

	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, usual_events_are_read_the_quick_way);
	tcase_add_test(tc, a_text_that_ends_anywhere_teaches_nothing_wrong);
	tcase_add_test(tc, both_ways_of_reading_agree_whatever_is_in_the_file);
	tcase_add_test(tc, any_value_of_any_member_is_read_alike);
	tcase_add_test(tc, a_long_trace_is_read_alike_in_blocks);
	tcase_add_test(tc, shapes_and_allocations_cut_at_any_byte_are_the_same);
	tcase_add_test(tc, a_back_slash_outside_of_strings_is_read_alike);
	tcase_add_test(tc, an_event_longer_than_the_marks_hold_is_read_all_the_same);
	suite_add_tcase(s, tc);
	return s;
}
