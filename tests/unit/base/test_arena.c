#include "base/arena.h"

#include <check.h>
#include <stdint.h>

#include "base/mem.h"

Suite *suite_arena(void);

START_TEST(an_arena_is_full_for_good_at_its_ceiling)
{
	struct arena a;

	arena_init(&a, 1000);
	ck_assert_ptr_nonnull(arena_get(&a, 900));
	ck_assert(!arena_full(&a));
	ck_assert_ptr_null(arena_get(&a, 200));
	ck_assert(arena_full(&a));
	ck_assert_ptr_null(arena_get(&a, 1)); /* would fit, but the answer must not depend on luck */
	ck_assert_uint_eq(arena_str(&a, STR("text")).n, 0);
	arena_fini(&a);
}
END_TEST

START_TEST(an_arena_gives_zeroed_aligned_memory_that_does_not_overlap)
{
	unsigned char *seen[200];
	struct arena a;

	arena_init(&a, 1 << 20);
	for (size_t i = 0; i < 200; i++) {
		size_t n = 1 + i * 7 % 300;

		seen[i] = arena_get(&a, n);
		ck_assert_ptr_nonnull(seen[i]);
		ck_assert_uint_eq((uintptr_t)seen[i] % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < n; k++)
			ck_assert_uint_eq(seen[i][k], 0);
		memset(seen[i], (int)(i + 1), n);
	}
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < 1 + i * 7 % 300; k++)
			ck_assert_uint_eq(seen[i][k], (unsigned char)(i + 1));
	arena_fini(&a);
}
END_TEST

START_TEST(an_arena_can_be_used_again_after_a_reset)
{
	struct arena a;

	arena_init(&a, 8192);
	for (int round = 0; round < 100; round++) {
		unsigned char *p = arena_get(&a, 8000);

		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq(p[0] | p[7999], 0);
		memset(p, 0xff, 8000);
		ck_assert_ptr_null(arena_get(&a, 8000));
		arena_reset(&a);
		ck_assert(!arena_full(&a));
	}
	arena_fini(&a);
}
END_TEST

START_TEST(a_product_that_overflows_is_refused)
{
	struct arena a;

	arena_init(&a, SIZE_MAX);
	ck_assert_ptr_null(arena_get_array(&a, SIZE_MAX / 2, 16));
	ck_assert(arena_full(&a));
	arena_fini(&a);
	arena_init(&a, SIZE_MAX);
	ck_assert_ptr_null(arena_get(&a, SIZE_MAX - 3));
	arena_fini(&a);
}
END_TEST

START_TEST(an_arena_without_memory_is_full)
{
	struct arena a;

	arena_init(&a, 1 << 20);
	mem_fail_at(1);
	ck_assert_ptr_null(arena_get(&a, 10));
	mem_fail_at(0);
	ck_assert(arena_full(&a));
	arena_fini(&a);
}
END_TEST

START_TEST(an_arena_formats_and_copies_texts)
{
	struct arena a;
	struct str s;

	arena_init(&a, 1 << 16);
	s = arena_fmt(&a, "%s-%d", "op", 7);
	ck_assert(str_eq(s, STR("op-7")));
	ck_assert_int_eq(s.p[s.n], '\0');
	s = arena_text(&a, "abc");
	ck_assert(str_eq(s, STR("abc")));
	ck_assert_int_eq(s.p[s.n], '\0');
	arena_fini(&a);
}
END_TEST

START_TEST(an_arena_takes_what_another_has_handed_out)
{
	struct arena a, from;
	struct str first, texts[40], more;

	arena_init(&a, 1 << 20);
	arena_init(&from, 1 << 20);
	for (int round = 0; round < 3; round++) {
		if (round > 0)
			first = arena_text(&a, "first");
		for (int i = 0; i < 40; i++)
			texts[i] = arena_fmt(&from, "%d %1000d", i, i); /* several chunks */
		ck_assert(arena_take(&a, &from));
		ck_assert_uint_eq(from.used, 0);
		ck_assert_uint_gt(a.used, 40000);
		more = arena_text(&a, "more");
		arena_text(&from, "of its own again");
		for (int i = 0; i < 40; i++)
			ck_assert_int_eq(texts[i].p[0] - '0', i < 10 ? i : i / 10);
		ck_assert(str_eq(more, STR("more")));
		ck_assert(round == 0 || str_eq(first, STR("first")));
		arena_reset(&a);
		arena_reset(&from);
	}
	ck_assert(arena_take(&a, &from)); /* nothing */
	arena_fini(&a);
	arena_fini(&from);
}
END_TEST

START_TEST(an_arena_takes_no_more_than_it_may_have)
{
	struct arena a, from;

	arena_init(&a, 100);
	arena_init(&from, 1000);
	ck_assert_ptr_nonnull(arena_get(&a, 32));
	ck_assert_ptr_nonnull(arena_get(&from, 96));
	ck_assert(!arena_take(&a, &from));
	ck_assert_uint_eq(from.used, 96);
	ck_assert_uint_eq(a.used, 32);
	ck_assert(!arena_full(&a));
	arena_reset(&a);
	ck_assert(arena_take(&a, &from));
	ck_assert_uint_eq(a.used, 96);
	ck_assert_ptr_null(arena_get(&a, 16));
	arena_fini(&a);
	arena_fini(&from);
}
END_TEST

Suite *suite_arena(void)
{
	Suite *s = suite_create("base/arena");
	TCase *tc = tcase_create("arena");

	tcase_add_test(tc, an_arena_is_full_for_good_at_its_ceiling);
	tcase_add_test(tc, an_arena_gives_zeroed_aligned_memory_that_does_not_overlap);
	tcase_add_test(tc, an_arena_can_be_used_again_after_a_reset);
	tcase_add_test(tc, a_product_that_overflows_is_refused);
	tcase_add_test(tc, an_arena_without_memory_is_full);
	tcase_add_test(tc, an_arena_formats_and_copies_texts);
	tcase_add_test(tc, an_arena_takes_what_another_has_handed_out);
	tcase_add_test(tc, an_arena_takes_no_more_than_it_may_have);
	suite_add_tcase(s, tc);
	return s;
}
