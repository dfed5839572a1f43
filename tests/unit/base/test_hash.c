#include "base/hash.h"

#include <check.h>

Suite *suite_hash(void);

START_TEST(a_stream_hashes_the_same_in_any_pieces)
{
	const char *text = "a trace of some length, to be cut anywhere";
	size_t n = strlen(text);
	uint8_t whole[16], parts[16];
	struct hash128 *h = hash128_new();

	hash128_add(h, text, n);
	hash128_get(h, whole);
	hash128_free(h);
	for (size_t cut = 0; cut <= n; cut++) {
		h = hash128_new();
		hash128_add(h, text, cut);
		hash128_add(h, text + cut, n - cut);
		hash128_get(h, parts);
		ck_assert_mem_eq(whole, parts, 16);
		hash128_free(h);
	}
}
END_TEST

START_TEST(lists_of_texts_differ_where_their_borders_do)
{
	uint8_t one[16], two[16];
	struct hash128 *h = hash128_new();

	hash128_add_str(h, STR("ab"));
	hash128_add_str(h, STR("c"));
	hash128_get(h, one);
	hash128_free(h);
	h = hash128_new();
	hash128_add_str(h, STR("a"));
	hash128_add_str(h, STR("bc"));
	hash128_get(h, two);
	hash128_free(h);
	ck_assert_mem_ne(one, two, 16);
}
END_TEST

START_TEST(hashes_are_those_of_xxh3_and_never_change)
{
	static const uint8_t empty[16] = { 0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8, 0x60, 0x01, 0xc3, 0x24,
		0x46, 0x8d, 0x49, 0x7f };
	struct hash128 *h = hash128_new();
	uint8_t got[16];

	hash128_get(h, got);
	ck_assert_mem_eq(got, empty, 16);
	hash128_free(h);
	ck_assert_uint_eq(hash64("", 0, 0), UINT64_C(0x2d06800538d394c2));
	ck_assert_uint_ne(hash64("a", 1, 1), hash64("a", 1, 2));
}
END_TEST

Suite *suite_hash(void)
{
	Suite *s = suite_create("base/hash");
	TCase *tc = tcase_create("hash");

	tcase_add_test(tc, a_stream_hashes_the_same_in_any_pieces);
	tcase_add_test(tc, lists_of_texts_differ_where_their_borders_do);
	tcase_add_test(tc, hashes_are_those_of_xxh3_and_never_change);
	suite_add_tcase(s, tc);
	return s;
}
