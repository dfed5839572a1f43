#include "wire/pack.h"

#include <check.h>
#include <stdlib.h>
#include <zstd.h>

Suite *suite_pack(void);

START_TEST(a_bomb_stops_at_the_ceiling)
{
	struct buf zeros, frame, out;
	struct err e = { 0 };

	buf_init(&zeros, 64u << 20);
	buf_init(&frame, 1u << 20);
	buf_init(&out, 1u << 20);
	buf_fill(&zeros, 0, 64u << 20);
	ck_assert_int_eq(pack_zstd(buf_view(&zeros), &frame, &e), OK);
	ck_assert_uint_lt(frame.n, 10000);
	ck_assert_int_eq(pack_open(buf_view(&frame), &out, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "decompressed batch: larger than 1048576 bytes");
	ck_assert_uint_le(out.room, 4u << 20);
	buf_fini(&out);
	buf_fini(&frame);
	buf_fini(&zeros);
}
END_TEST

START_TEST(content_as_large_as_the_ceiling_passes_and_one_byte_more_does_not)
{
	struct buf text, frame, out;

	buf_init(&text, 300000);
	buf_init(&frame, 1u << 20);
	for (int i = 0; i < 40000; i++)
		buf_fmt(&text, "%d,", i % 1000);
	ck_assert_int_eq(pack_zstd(buf_view(&text), &frame, NULL), OK);
	buf_init(&out, text.n);
	ck_assert_int_eq(pack_open(buf_view(&frame), &out, NULL), OK);
	ck_assert(str_eq(buf_view(&out), buf_view(&text)));
	buf_fini(&out);
	buf_init(&out, text.n - 1);
	ck_assert_int_eq(pack_open(buf_view(&frame), &out, NULL), E_LIMIT);
	buf_fini(&out);
	buf_fini(&frame);
	buf_fini(&text);
}
END_TEST

START_TEST(a_frame_that_wants_a_huge_window_is_refused)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t n = 12u << 20, room = ZSTD_compressBound(n);
	char *plain = calloc(1, n), *frame = malloc(room);
	struct buf out;
	struct err e = { 0 };
	ZSTD_inBuffer in = { plain, n, 0 };
	ZSTD_outBuffer o = { frame, room, 0 };

	buf_init(&out, 64u << 20);
	ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 27);
	ck_assert(!ZSTD_isError(ZSTD_compressStream2(z, &o, &in, ZSTD_e_flush)));
	ck_assert(!ZSTD_isError(ZSTD_compressStream2(z, &o, &in, ZSTD_e_end)));
	ck_assert_int_eq(pack_open(str_make(frame, o.pos), &out, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "zstd: wants a window of more than 8 MiB");
	ZSTD_freeCCtx(z);
	buf_fini(&out);
	free(frame);
	free(plain);
}
END_TEST

START_TEST(a_changed_byte_is_found)
{
	struct buf frame, out;

	buf_init(&frame, 1000);
	ck_assert_int_eq(pack_zstd(STR("op summaries, op summaries, op summaries"), &frame, NULL), OK);
	for (size_t i = 0; i < frame.n; i++) {
		buf_init(&out, 1000);
		frame.p[i] ^= 0x40;
		ck_assert_msg(pack_open(buf_view(&frame), &out, NULL) != OK ||
				      str_eq(buf_view(&out), STR("op summaries, op summaries, op summaries")),
			"byte %zu", i);
		frame.p[i] ^= 0x40;
		buf_fini(&out);
	}
	buf_fini(&frame);
}
END_TEST

START_TEST(two_frames_are_read_as_one_content_and_bytes_behind_are_refused)
{
	struct buf frames, out;

	buf_init(&frames, 1000);
	buf_init(&out, 1000);
	ck_assert_int_eq(pack_zstd(STR("one "), &frames, NULL), OK);
	ck_assert_int_eq(pack_zstd(STR("two"), &frames, NULL), OK);
	ck_assert_int_eq(pack_open(buf_view(&frames), &out, NULL), OK);
	ck_assert_str_eq(out.p, "one two");
	buf_text(&frames, "more");
	buf_reset(&out);
	ck_assert_int_eq(pack_open(buf_view(&frames), &out, NULL), E_FORMAT);
	buf_fini(&out);
	buf_fini(&frames);
}
END_TEST

Suite *suite_pack(void)
{
	Suite *s = suite_create("wire/pack");
	TCase *tc = tcase_create("pack");

	tcase_add_test(tc, a_bomb_stops_at_the_ceiling);
	tcase_add_test(tc, content_as_large_as_the_ceiling_passes_and_one_byte_more_does_not);
	tcase_add_test(tc, a_frame_that_wants_a_huge_window_is_refused);
	tcase_add_test(tc, a_changed_byte_is_found);
	tcase_add_test(tc, two_frames_are_read_as_one_content_and_bytes_behind_are_refused);
	suite_add_tcase(s, tc);
	return s;
}
