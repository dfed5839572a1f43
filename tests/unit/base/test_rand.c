#include "base/rand.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *suite_rand(void);

START_TEST(a_seed_gives_the_published_sequence)
{
	struct rand_gen g;

	rand_seed(&g, 1234567); /* SplitMix64 reference outputs */
	ck_assert_uint_eq(rand_u64(&g), UINT64_C(6457827717110365317));
	ck_assert_uint_eq(rand_u64(&g), UINT64_C(3203168211198807973));
	ck_assert_uint_eq(rand_u64(&g), UINT64_C(9817491932198370423));
}
END_TEST

START_TEST(numbers_stay_in_their_range)
{
	struct rand_gen g;
	double sum = 0, squares = 0;
	unsigned seen[10] = { 0 };

	rand_seed(&g, 6);
	for (int i = 0; i < 100000; i++) {
		double u = rand_unit(&g), z = rand_normal(&g);

		ck_assert(u >= 0 && u < 1 && isfinite(z));
		seen[rand_below(&g, 10)]++;
		sum += z;
		squares += z * z;
	}
	for (int i = 0; i < 10; i++)
		ck_assert(seen[i] > 9500 && seen[i] < 10500);
	ck_assert(fabs(sum / 100000) < 0.02);
	ck_assert(fabs(squares / 100000 - 1) < 0.03);
	ck_assert_uint_eq(rand_below(&g, 0), 0);
	ck_assert_uint_eq(rand_below(&g, 1), 0);
}
END_TEST

START_TEST(the_kernel_gives_other_bytes_each_time)
{
	uint8_t a[16], b[16];

	rand_os_bytes(a, sizeof(a));
	rand_os_bytes(b, sizeof(b));
	ck_assert_mem_ne(a, b, 16);
}
END_TEST

Suite *suite_rand(void)
{
	Suite *s = suite_create("base/rand");
	TCase *tc = tcase_create("rand");

	tcase_add_test(tc, a_seed_gives_the_published_sequence);
	tcase_add_test(tc, numbers_stay_in_their_range);
	tcase_add_test(tc, the_kernel_gives_other_bytes_each_time);
	suite_add_tcase(s, tc);
	return s;
}
