#include "trace/event.h"

#include <stdio.h>

#include "tests/unit/trace/help.h"

Suite *suite_event(void);

static const struct {
	const char *text;
	enum event_class class;
	bool annotation, executes;
	const char *device;
} known[] = {
	{ "cpu_op", EVENT_HOST_OP, false, false, NULL },
	{ "Operator", EVENT_HOST_OP, false, false, NULL },
	{ "user_annotation", EVENT_HOST_OP, true, false, NULL },
	{ "cuda_runtime", EVENT_HOST_CALL, false, false, "CUDA" },
	{ "hip_runtime", EVENT_HOST_CALL, false, false, "CUDA" },
	{ "privateuse1_runtime", EVENT_HOST_CALL, false, false, "NEURON" },
	{ "privateuse1_driver", EVENT_HOST_CALL, false, false, "NEURON" },
	{ "newcomer_runtime", EVENT_HOST_CALL, false, false, NULL },
	{ "overhead", EVENT_HOST_CALL, false, false, NULL },
	{ "kernel", EVENT_DEVICE, false, true, NULL },
	{ "gpu_memcpy", EVENT_DEVICE, false, true, NULL },
	{ "Memset", EVENT_DEVICE, false, true, NULL },
	{ "mtia_ccp_events", EVENT_DEVICE, false, true, "MTIA" },
	{ "cuda_sync", EVENT_DEVICE, false, false, "CUDA" },
	{ "gpu_user_annotation", EVENT_DEVICE, true, false, NULL },
	{ "python_function", EVENT_PYTHON, false, false, NULL },
};

START_TEST(categories_say_what_an_event_is)
{
	enum event_cat cat;

	for (size_t i = 0; i < COUNT(known); i++) {
		const char *device = event_cat_device(str_of(known[i].text));

		ck_assert_msg(event_cat_parse(str_of(known[i].text), &cat), "%s", known[i].text);
		ck_assert_int_eq(event_cat_info(cat)->class, known[i].class);
		ck_assert(event_cat_info(cat)->annotation == known[i].annotation);
		ck_assert(event_cat_info(cat)->executes == known[i].executes);
		ck_assert(str_eq(str_of(device), str_of(known[i].device)));
	}
	ck_assert(!event_cat_parse(STR("Trace"), &cat));
	ck_assert(!event_cat_parse(STR("ac2g"), &cat));
	ck_assert(!event_cat_parse(STR("cpu_instant_event"), &cat));
	ck_assert(!event_cat_parse(STR(""), &cat));
}
END_TEST

START_TEST(names_say_what_is_dropped_and_what_works)
{
	struct trace t;
	static const struct {
		const char *name;
		uint8_t flags;
	} names[] = {
		{ "ProfilerStep#7", NAME_STEP },	   { "aten::is_leaf", NAME_DROPPED },
		{ "[memory]", NAME_DROPPED },		   { "nccl:all_reduce", NAME_ASYNC },
		{ "gloo:broadcast", NAME_ASYNC },	   { "aten::view", NAME_NO_WORK },
		{ "aten::resize_", NAME_NO_WORK },	   { "aten::expand_as", NAME_NO_WORK },
		{ "aten::viewer", 0 },			   { "aten::mm", 0 },
		{ "view", 0 },
	};

	trace_init(&t, 10);
	for (size_t i = 0; i < COUNT(names); i++) {
		uint32_t id = trace_names_id(&t.names, str_of(names[i].name));

		ck_assert_msg(trace_name_flags(&t, id) == names[i].flags, "%s", names[i].name);
	}
	ck_assert_uint_eq(trace_names_id(&t.names, STR("ProfilerStep#8")), trace_names_id(&t.names, STR("ProfilerStep*")));
	trace_fini(&t);
}
END_TEST

START_TEST(a_thread_is_a_pid_and_a_tid_as_they_stand_in_the_file)
{
	struct trace t;
	uint32_t a, b, c;

	trace_init(&t, 10);
	a = trace_thread(&t, STR("1"), STR("2"));
	b = trace_thread(&t, STR("1"), STR("\"2\""));
	c = trace_thread(&t, STR("12"), STR(""));
	ck_assert(a != b && b != c && a != c);
	ck_assert_uint_eq(trace_thread(&t, STR("1"), STR("2")), a);
	ck_assert_uint_eq(trace_pid(&t, a), trace_pid(&t, b));
	ck_assert_uint_ne(trace_pid(&t, a), trace_pid(&t, c));
	for (int i = 0; i < 1000; i++) {
		char tid[16];

		snprintf(tid, sizeof(tid), "%d", 1000 + i);
		ck_assert_uint_eq(trace_pid(&t, trace_thread(&t, STR("1"), str_of(tid))), trace_pid(&t, a));
	}
	trace_fini(&t);
}
END_TEST

START_TEST(sums_stop_at_the_ends)
{
	ck_assert_int_eq(ns_add(INT64_MAX, 1), INT64_MAX);
	ck_assert_int_eq(ns_add(INT64_MIN, -1), INT64_MIN);
	ck_assert_int_eq(ns_sub(INT64_MIN, 1), INT64_MIN);
	ck_assert_int_eq(ns_sub(INT64_MAX, -1), INT64_MAX);
	ck_assert_int_eq(ns_add(ns_sub(5, 7), 3), 1);
}
END_TEST

Suite *suite_event(void)
{
	Suite *s = suite_create("trace/event");
	TCase *tc = tcase_create("event");

	tcase_add_test(tc, categories_say_what_an_event_is);
	tcase_add_test(tc, names_say_what_is_dropped_and_what_works);
	tcase_add_test(tc, a_thread_is_a_pid_and_a_tid_as_they_stand_in_the_file);
	tcase_add_test(tc, sums_stop_at_the_ends);
	suite_add_tcase(s, tc);
	return s;
}
