#include "cli/pprof.h"

#include <check.h>

#include "tests/unit/cli/pprof_read.h"

Suite *suite_pprof(void);

static const struct pprof_type types[] = { { "calls", "count" }, { "device", "nanoseconds" } };

START_TEST(a_profile_has_types_samples_locations_functions_and_texts)
{
	const struct str in_op[] = { STR("kernel"), STR("aten::mm") };
	const int64_t values[] = { 3, 1000 }, other[] = { 1, -5 };
	const struct pprof_label label = { "on", STR("device") };
	const struct pprof_head head = { STR("t.json"), 5000, 70, 1 };
	struct pprof *p = pprof_new(types, COUNT(types));
	struct buf packed, message, said;
	struct err e = { 0 };

	buf_init(&packed, 1 << 20);
	buf_init(&message, 1 << 20);
	buf_init(&said, 1 << 20);
	pprof_sample(p, in_op, 2, values, &label, 1);
	pprof_sample(p, in_op + 1, 1, other, NULL, 0);
	ck_assert_int_eq(pprof_finish(p, &head, &packed, &e), OK);
	pprof_unpack(buf_view(&packed), &message);
	pprof_tell(buf_view(&message), &said);
	ck_assert_str_eq(buf_view(&said).p, "2{1{1 2 }\n2{3 1000 }\n3{1=1 2=2 }\n}\n" /* a kernel in an op */
					    "2{1{2 }\n2{1 -5 }\n}\n"
					    "1{1=3 2=4 }\n1{1=2 2=5 }\n"
					    "3{1=1 5=6 7=1 }\n" /* named, and nobody looks for its program */
					    "4{1=1 2=1 4{1=1 }\n}\n5{1=1 2=7 }\n"
					    "4{1=2 2=1 4{1=2 }\n}\n5{1=2 2=8 }\n"
					    "9=5000 10=70 14=2 "
					    "6{}\n6{on}\n6{device}\n6{calls}\n6{count}\n6{nanoseconds}\n6{t.json}\n6{kernel}\n6{aten::mm}\n");
	buf_fini(&packed);
	buf_fini(&message);
	buf_fini(&said);
	pprof_free(p);
}
END_TEST

START_TEST(names_have_a_line_each_and_something_on_it)
{
	static const struct str names[] = { STR(""), STR("two\nlines \033[31m"), STR("µ;\"x\"") };
	const int64_t values[] = { 1, 1 };
	struct pprof *p = pprof_new(types, COUNT(types));
	struct buf packed, message;
	struct err e = { 0 };

	buf_init(&packed, 1 << 20);
	buf_init(&message, 1 << 20);
	for (size_t i = 0; i < COUNT(names); i++)
		pprof_sample(p, &names[i], 1, values, NULL, 0);
	ck_assert_int_eq(pprof_finish(p, &(struct pprof_head){ 0 }, &packed, &e), OK);
	pprof_unpack(buf_view(&packed), &message);
	ck_assert(str_has_suffix(buf_view(&message), STR("2\2\"\"" "2\x0ftwo?lines ?[31m" "2\6µ;\"x\"")));
	buf_fini(&packed);
	buf_fini(&message);
	pprof_free(p);
}
END_TEST

START_TEST(a_large_profile_comes_back_whole)
{
	struct pprof *p = pprof_new(types, COUNT(types));
	struct buf packed, message;
	struct err e = { 0 };

	buf_init(&packed, 64 << 20);
	buf_init(&message, 64 << 20);
	for (int i = 0; i < 30000; i++) {
		char name[32];
		const int64_t values[] = { 1, i };
		struct str frame = { name, (size_t)snprintf(name, sizeof(name), "aten::op_%d", i * 7919 % 30000) };

		pprof_sample(p, &frame, 1, values, NULL, 0);
	}
	ck_assert_int_eq(pprof_finish(p, &(struct pprof_head){ 0 }, &packed, &e), OK);
	pprof_unpack(buf_view(&packed), &message);
	ck_assert_uint_gt(message.n, 1 << 20);
	ck_assert(str_contains(buf_view(&message), STR("aten::op_29999")));
	buf_fini(&packed);
	buf_fini(&message);
	pprof_free(p);
}
END_TEST

START_TEST(no_samples_are_a_profile_too)
{
	struct pprof *p = pprof_new(types, 1);
	struct buf packed;
	struct err e = { 0 };

	buf_init(&packed, 1 << 20);
	ck_assert_int_eq(pprof_finish(p, &(struct pprof_head){ 0 }, &packed, &e), OK);
	ck_assert_uint_gt(packed.n, 20);
	buf_fini(&packed);
	pprof_free(p);
	pprof_free(NULL);
}
END_TEST

Suite *suite_pprof(void)
{
	Suite *s = suite_create("cli/pprof");
	TCase *tc = tcase_create("pprof");

	tcase_add_test(tc, a_profile_has_types_samples_locations_functions_and_texts);
	tcase_add_test(tc, names_have_a_line_each_and_something_on_it);
	tcase_add_test(tc, a_large_profile_comes_back_whole);
	tcase_add_test(tc, no_samples_are_a_profile_too);
	suite_add_tcase(s, tc);
	return s;
}
