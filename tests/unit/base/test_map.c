#include "base/map.h"

#include <check.h>

#include "base/mem.h"
#include "base/rand.h"

Suite *suite_map(void);

enum { KEYS = 3000, OPS = 60000 };

START_TEST(a_map_answers_like_a_plain_array)
{
	static char text[KEYS][8];
	static bool there[KEYS];
	static uint32_t value[KEYS];
	struct rand_gen g;
	struct map m;
	size_t n = 0;

	rand_seed(&g, 5);
	map_init(&m, KEYS);
	for (size_t i = 0; i < KEYS; i++)
		snprintf(text[i], sizeof(text[i]), "k%zu", i);
	for (uint32_t i = 0; i < OPS; i++) {
		size_t k = rand_below(&g, KEYS);
		uint32_t *got = map_get(&m, str_of(text[k]));
		bool is_new;

		ck_assert_int_eq(got != NULL, there[k]);
		if (got != NULL)
			ck_assert_uint_eq(*got, value[k]);
		if (i % 3 != 0)
			continue;
		got = map_put(&m, str_of(text[k]), i, &is_new);
		ck_assert_int_eq(is_new, !there[k]);
		n += is_new;
		if (is_new)
			value[k] = i;
		there[k] = true;
		ck_assert_uint_eq(*got, value[k]);
		ck_assert_uint_eq(m.n, n);
	}
	map_fini(&m);
}
END_TEST

START_TEST(a_map_stops_at_its_ceiling_and_keeps_what_it_has)
{
	struct map m;

	map_init(&m, 2);
	ck_assert_ptr_nonnull(map_put(&m, STR("a"), 1, NULL));
	ck_assert_ptr_nonnull(map_put(&m, STR("b"), 2, NULL));
	ck_assert_ptr_null(map_put(&m, STR("c"), 3, NULL));
	ck_assert_uint_eq(*map_put(&m, STR("a"), 9, NULL), 1);
	ck_assert_ptr_null(map_get(&m, STR("c")));
	map_fini(&m);
}
END_TEST

START_TEST(a_map_without_memory_refuses_and_stays_whole)
{
	struct map m;

	map_init(&m, 100);
	mem_fail_at(1);
	ck_assert_ptr_null(map_put(&m, STR("a"), 1, NULL));
	mem_fail_at(0);
	ck_assert_ptr_nonnull(map_put(&m, STR("a"), 1, NULL));
	map_fini(&m);
}
END_TEST

START_TEST(names_get_dense_ids_in_order_of_first_sight)
{
	struct intern in;
	struct arena a;
	char name[16];

	arena_init(&a, 1 << 20);
	intern_init(&in, &a, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "op-%u", i);
		ck_assert_uint_eq(intern_id(&in, str_of(name)), i);
		ck_assert_uint_eq(intern_id(&in, STR("op-0")), 0);
	}
	ck_assert_uint_eq(intern_count(&in), 1000);
	ck_assert_uint_eq(intern_id(&in, STR("one more")), INTERN_NONE);
	ck_assert_uint_eq(intern_find(&in, STR("never")), INTERN_NONE);
	ck_assert(str_eq(intern_name(&in, 999), STR("op-999")));
	ck_assert_uint_eq(intern_id(&in, STR("")), INTERN_NONE);
	intern_fini(&in);
	arena_fini(&a);
}
END_TEST

START_TEST(a_full_arena_gives_no_id)
{
	struct intern in;
	struct arena a;

	arena_init(&a, 32);
	intern_init(&in, &a, 1000);
	ck_assert_uint_eq(intern_id(&in, STR("short")), 0);
	ck_assert_uint_eq(intern_id(&in, STR("much longer than there is room for")), INTERN_NONE);
	ck_assert_uint_eq(intern_count(&in), 1);
	intern_fini(&in);
	arena_fini(&a);
}
END_TEST

Suite *suite_map(void)
{
	Suite *s = suite_create("base/map");
	TCase *tc = tcase_create("map");

	tcase_add_test(tc, a_map_answers_like_a_plain_array);
	tcase_add_test(tc, a_map_stops_at_its_ceiling_and_keeps_what_it_has);
	tcase_add_test(tc, a_map_without_memory_refuses_and_stays_whole);
	tcase_add_test(tc, names_get_dense_ids_in_order_of_first_sight);
	tcase_add_test(tc, a_full_arena_gives_no_id);
	suite_add_tcase(s, tc);
	return s;
}
