#include "base/vec.h"

#include <check.h>

Suite *suite_vec(void);

VEC(numbers, int);

START_TEST(a_vector_grows_to_its_ceiling_and_no_further)
{
	struct numbers v = VEC_INIT(100);
	int sum = 0;

	for (int i = 0; i < 100; i++) {
		int *p = vec_push(&v);

		ck_assert_ptr_nonnull(p);
		ck_assert_int_eq(*p, 0);
		*p = i;
	}
	ck_assert_ptr_null(vec_push(&v));
	ck_assert_uint_eq(v.n, 100);
	vec_each(p, &v)
		sum += *p;
	ck_assert_int_eq(sum, 4950);
	vec_fini(&v);
	ck_assert_uint_eq(v.n, 0);
}
END_TEST

START_TEST(a_vector_without_memory_keeps_what_it_has)
{
	struct numbers v = VEC_INIT(100);

	ck_assert_ptr_nonnull(vec_push(&v));
	v.v[0] = 7;
	for (int i = 1; i < 8; i++)
		ck_assert_ptr_nonnull(vec_push(&v));
	mem_fail_at(1);
	ck_assert_ptr_null(vec_push(&v));
	mem_fail_at(0);
	ck_assert_uint_eq(v.n, 8);
	ck_assert_int_eq(v.v[0], 7);
	ck_assert_ptr_nonnull(vec_push(&v));
	vec_fini(&v);
}
END_TEST

Suite *suite_vec(void)
{
	Suite *s = suite_create("base/vec");
	TCase *tc = tcase_create("vec");

	tcase_add_test(tc, a_vector_grows_to_its_ceiling_and_no_further);
	tcase_add_test(tc, a_vector_without_memory_keeps_what_it_has);
	suite_add_tcase(s, tc);
	return s;
}
