#include "base/enc.h"

#include <check.h>

#include "base/rand.h"

Suite *suite_enc(void);

START_TEST(any_number_reads_back_from_its_varint_and_not_from_less)
{
	uint8_t bytes[ENC_VARINT_MAX];
	struct rand_gen g;

	rand_seed(&g, 2);
	for (int i = 0; i < 20000; i++) {
		uint64_t v = rand_u64(&g) >> (i % 64), back = 0;
		size_t n = enc_put_varint(bytes, v);

		ck_assert_uint_le(n, ENC_VARINT_MAX);
		ck_assert_uint_eq(enc_get_varint(bytes, n, &back), n);
		ck_assert_uint_eq(back, v);
		for (size_t cut = 0; cut < n; cut++)
			ck_assert_uint_eq(enc_get_varint(bytes, cut, &back), 0);
	}
}
END_TEST

START_TEST(varints_are_those_of_protobuf)
{
	uint8_t bytes[ENC_VARINT_MAX];
	static const uint8_t of_300[] = { 0xac, 0x02 };

	ck_assert_uint_eq(enc_put_varint(bytes, 300), 2);
	ck_assert_mem_eq(bytes, of_300, 2);
	ck_assert_uint_eq(enc_put_varint(bytes, 0), 1);
	ck_assert_uint_eq(bytes[0], 0);
	ck_assert_uint_eq(enc_put_varint(bytes, UINT64_MAX), 10);
}
END_TEST

START_TEST(a_varint_of_more_than_64_bits_is_refused)
{
	uint8_t eleven[11], large[10];
	uint64_t v;

	memset(eleven, 0x80, sizeof(eleven));
	eleven[10] = 0;
	ck_assert_uint_eq(enc_get_varint(eleven, sizeof(eleven), &v), 0);
	memset(large, 0xff, sizeof(large));
	large[9] = 0x02;
	ck_assert_uint_eq(enc_get_varint(large, sizeof(large), &v), 0);
	large[9] = 0x01;
	ck_assert_uint_eq(enc_get_varint(large, sizeof(large), &v), 10);
	ck_assert_uint_eq(v, UINT64_MAX);
}
END_TEST

START_TEST(zigzag_keeps_every_number_and_makes_small_ones_small)
{
	static const int64_t ends[] = { 0, -1, 1, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
	struct rand_gen g;

	rand_seed(&g, 3);
	for (int i = 0; i < 1000; i++) {
		int64_t v = (int64_t)rand_u64(&g);

		ck_assert_int_eq(enc_unzigzag(enc_zigzag(v)), v);
	}
	for (size_t i = 0; i < COUNT(ends); i++)
		ck_assert_int_eq(enc_unzigzag(enc_zigzag(ends[i])), ends[i]);
	ck_assert_uint_eq(enc_zigzag(-1), 1);
	ck_assert_uint_eq(enc_zigzag(1), 2);
	ck_assert_uint_eq(enc_zigzag(INT64_MIN), UINT64_MAX);
}
END_TEST

START_TEST(the_checksum_is_castagnoli_s_and_the_same_in_pieces)
{
	uint8_t data[32];
	const char *digits = "123456789";

	ck_assert_uint_eq(enc_crc32c(0, digits, 9), 0xe3069283);
	memset(data, 0, sizeof(data)); /* RFC 3720 B.4 */
	ck_assert_uint_eq(enc_crc32c(0, data, 32), 0x8a9136aa);
	memset(data, 0xff, sizeof(data));
	ck_assert_uint_eq(enc_crc32c(0, data, 32), 0x62a8ab43);
	for (size_t cut = 0; cut <= 9; cut++)
		ck_assert_uint_eq(enc_crc32c(enc_crc32c(0, digits, cut), digits + cut, 9 - cut), 0xe3069283);
}
END_TEST

START_TEST(hex_reads_back_and_refuses_the_rest)
{
	static const char *const bad[] = { "", "0", "00112g", "0011223344", "0011 2", "-01122" };
	uint8_t in[3] = { 0, 0xab, 0xff }, out[3];
	char text[7];

	enc_hex(in, 3, text);
	ck_assert_str_eq(text, "00abff");
	ck_assert_int_eq(enc_unhex(STR("00AbfF"), out, 3), OK);
	ck_assert_mem_eq(in, out, 3);
	for (size_t i = 0; i < COUNT(bad); i++)
		ck_assert_int_eq(enc_unhex(str_of(bad[i]), out, 3), E_FORMAT);
}
END_TEST

START_TEST(little_endian_numbers_read_back)
{
	uint8_t p[8];

	enc_put32(p, 0x01020304);
	ck_assert_uint_eq(p[0], 4);
	ck_assert_uint_eq(enc_get32(p), 0x01020304);
	enc_put64(p, UINT64_C(0xf102030405060708));
	ck_assert_uint_eq(p[0], 8);
	ck_assert_uint_eq(enc_get64(p), UINT64_C(0xf102030405060708));
}
END_TEST

Suite *suite_enc(void)
{
	Suite *s = suite_create("base/enc");
	TCase *tc = tcase_create("enc");

	tcase_add_test(tc, any_number_reads_back_from_its_varint_and_not_from_less);
	tcase_add_test(tc, varints_are_those_of_protobuf);
	tcase_add_test(tc, a_varint_of_more_than_64_bits_is_refused);
	tcase_add_test(tc, zigzag_keeps_every_number_and_makes_small_ones_small);
	tcase_add_test(tc, the_checksum_is_castagnoli_s_and_the_same_in_pieces);
	tcase_add_test(tc, hex_reads_back_and_refuses_the_rest);
	tcase_add_test(tc, little_endian_numbers_read_back);
	suite_add_tcase(s, tc);
	return s;
}
