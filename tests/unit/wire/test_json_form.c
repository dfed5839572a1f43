#include "wire/wire.h"

#include <check.h>

Suite *suite_json_form(void);

static struct arena arena;
static const struct wire_limits limits = { 4u << 20, 64u << 20, 3 };

static void setup(void)
{
	arena_init(&arena, 16u << 20);
}

static void teardown(void)
{
	arena_fini(&arena);
}

#define ID "\"id\":\"0123456789abcdef0123456789abcdef\""

START_TEST(what_a_person_leaves_out_is_empty)
{
	struct str text = STR("{\"windows\":[{" ID ",\"service\":\"llm\",\"host\":\"h1\",\"start_ns\":1790000000000000000,"
			      "\"ops\":[{\"kind\":\"cpu_op\",\"name\":\"aten::mul\",\"calls\":3,\"cpu_self_ns\":900}]}]}");
	struct wire_batch b;
	struct err e = { 0 };

	ck_assert_msg(wire_decode(&arena, text, WIRE_JSON, false, &limits, &b, &e) == OK, "%s", e.text);
	ck_assert_uint_eq(b.n_windows, 1);
	ck_assert(str_eq(b.windows[0].service, STR("llm")));
	ck_assert(str_empty(b.windows[0].deploy));
	ck_assert_uint_eq(b.windows[0].ops[0].calls, 3);
	ck_assert_int_eq(b.windows[0].ops[0].basis, OP_BASIS_NONE);
	wire_batch_fini(&b);
}
END_TEST

START_TEST(a_mistake_is_named_with_its_place)
{
	static const struct {
		const char *body, *text;
		int code;
	} cases[] = {
		{ "[]", "an array where an object belongs (byte 0)", E_FORMAT },
		{ "{\"window\":[]}", "unknown member \"window\"", E_FORMAT },
		{ "{\"windows\":{}}", "windows: an object where an array belongs (byte 11)", E_FORMAT },
		{ "{\"windows\":[{},{},{},{}]}", "windows: 4 values, at most 3", E_LIMIT },
		{ "{\"windows\":[{\"id\":\"12\"}]}", "windows[0]: id: \"12\", want 32 hex digits", E_FORMAT },
		{ "{\"windows\":[{\"service\":\"s\",\"host\":\"h\"}]}",
			"windows[0]: id: missing, want 32 hex digits, the same whenever the window is sent again",
			E_FORMAT },
		{ "{\"windows\":[{" ID ",\"steps\":-1}]}", "windows[0]: steps: -1, want a whole number from 0 on", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"steps\":1.5}]}", "windows[0]: steps: 1.5, want a whole number from 0 on", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"steps_from\":\"x\"}]}",
			"windows[0]: steps_from: \"x\", want none, marker, executions, optimizer or anchor", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"flags\":4294967296}]}",
			"windows[0]: flags: 4294967296, want a whole number below 2^32", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"ops\":[{\"name\":\"x\"}]}]}", "windows[0]: ops[0]: kind: missing", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"ops\":[{\"kind\":\"gpu\"}]}]}",
			"windows[0]: ops[0]: kind: \"gpu\", want a kind of op: cpu_op, kernel, …", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"ops\":[{\"kind\":\"cpu_op\",\"hist_delta\":[1]}]}]}",
			"windows[0]: ops[0]: hist_delta: 1 values, hist_count: 0", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"ops\":[{\"kind\":\"cpu_op\",\"hist_delta\":[1,\"2\"]}]}]}",
			"windows[0]: ops[0]: hist_delta[1]: a text where a number belongs (byte 93)", E_FORMAT },
		{ "{\"windows\":[{" ID ",\"labels\":{\"zone\":1}}]}",
			"windows[0]: labels: zone: a number where a text belongs (byte 70)", E_FORMAT },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct wire_batch b;
		struct err e = { 0 };

		ck_assert_int_eq(wire_decode(&arena, str_of(cases[i].body), WIRE_JSON, false, &limits, &b, &e), cases[i].code);
		ck_assert_str_eq(e.text, cases[i].text);
		wire_batch_fini(&b);
	}
}
END_TEST

START_TEST(a_document_that_grows_in_memory_stops_at_the_ceiling)
{
	struct wire_limits tight = { 4u << 20, 1u << 20, 10 };
	struct wire_batch b;
	struct buf text;

	buf_init(&text, 4u << 20);
	buf_text(&text, "{\"windows\":[{\"ops\":[");
	for (int i = 0; i < 200000; i++)
		buf_text(&text, "{},");
	buf_text(&text, "{}]}]}");
	ck_assert_int_eq(wire_decode(&arena, buf_view(&text), WIRE_JSON, false, &tight, &b, NULL), E_LIMIT);
	buf_fini(&text);
}
END_TEST

Suite *suite_json_form(void)
{
	Suite *s = suite_create("wire/json_form");
	TCase *tc = tcase_create("json_form");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_a_person_leaves_out_is_empty);
	tcase_add_test(tc, a_mistake_is_named_with_its_place);
	tcase_add_test(tc, a_document_that_grows_in_memory_stops_at_the_ceiling);
	suite_add_tcase(s, tc);
	return s;
}
