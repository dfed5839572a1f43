#include "net/http_parse.h"

#include <check.h>

#include "base/rand.h"

Suite *suite_http_parse(void);

START_TEST(the_end_of_a_head_is_found_once_whatever_the_cuts)
{
	struct str all = STR("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody");

	for (size_t cut = 0; cut <= all.n; cut++) {
		size_t scanned = 0;
		int first = http_head_end(all.p, cut, &scanned);

		if (cut >= all.n - 4) {
			ck_assert_int_eq(first, (int)all.n - 4);
			continue;
		}
		ck_assert_int_eq(first, 0);
		ck_assert_int_eq(http_head_end(all.p, all.n, &scanned), (int)all.n - 4);
	}
}
END_TEST

START_TEST(the_framing_is_told)
{
	struct http_head h;
	struct arena a;
	enum problem why = PROBLEM_INTERNAL;
	struct err e = { 0 };

	arena_init(&a, 1 << 16);
	ck_assert_int_eq(http_head_parse(&a, STR("POST /a%2Fb?c=d HTTP/1.1\r\nhost: x\r\nContent-Length: 42\r\n\r\n"), &h, &why,
				 &e), OK);
	ck_assert_int_eq(h.method, HTTP_POST);
	ck_assert(str_eq(h.path, STR("/a/b")));
	ck_assert(str_eq(h.query, STR("c=d")));
	ck_assert_uint_eq(h.length, 42);
	ck_assert(h.keep_alive && !h.chunked && !h.expect_continue);
	ck_assert_int_eq(http_head_parse(&a, STR("PUT / HTTP/1.1\r\nhost: x\r\nConnection: te, Close\r\n"
						 "transfer-encoding: chunked\r\nExpect: 100-Continue\r\n\r\n"), &h, &why, &e), OK);
	ck_assert(!h.keep_alive && h.chunked && h.expect_continue);
	arena_fini(&a);
}
END_TEST

START_TEST(a_full_arena_is_headers_too_large)
{
	struct http_head h;
	struct arena a;
	enum problem why = PROBLEM_INTERNAL;
	struct err e = { 0 };

	arena_init(&a, 64);
	ck_assert_int_ne(http_head_parse(&a, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), &h, &why, &e), OK);
	ck_assert_int_eq(why, PROBLEM_HEADERS_TOO_LARGE);
	arena_fini(&a);
}
END_TEST

START_TEST(chunks_cut_anywhere_give_the_same_body)
{
	struct str all = STR("5\r\nhello\r\n1;a=\"b\"\r\n \r\nA\r\n0123456789\r\n000\r\nTrailer: x\r\nB: y\r\n\r\nNEXT");

	for (size_t cut = 0; cut <= all.n; cut++) {
		struct http_chunks c = { 0 };
		struct err e = { 0 };
		size_t used, more = 0;
		struct buf out;

		buf_init(&out, 100);
		ck_assert_int_eq(http_chunks_feed(&c, str_upto(all, cut), &used, &out, &e), OK);
		if (c.state != CHUNK_DONE)
			ck_assert_uint_eq(used, cut);
		ck_assert_int_eq(http_chunks_feed(&c, str_from(all, used), &more, &out, &e), OK);
		ck_assert_int_eq(c.state, CHUNK_DONE);
		ck_assert_uint_eq(used + more, all.n - 4);
		ck_assert(str_eq(buf_view(&out), STR("hello 0123456789")));
		buf_fini(&out);
	}
}
END_TEST

START_TEST(trailers_and_extensions_have_a_limit)
{
	struct http_chunks c = { 0 };
	struct err e = { 0 };
	struct buf in, out;
	size_t used;

	buf_init(&in, 1 << 20);
	buf_init(&out, 100);
	buf_text(&in, "0\r\nX: ");
	buf_fill(&in, 'x', 5000);
	ck_assert_int_eq(http_chunks_feed(&c, buf_view(&in), &used, &out, &e), E_LIMIT);
	buf_fini(&in);
	buf_fini(&out);
}
END_TEST

/* Bytes that look a little like requests: nothing but answers may come of them. */
START_TEST(random_heads_never_break_the_parser)
{
	static const char *const bits[] = { "GET ", "/", "%", "41", " HTTP/1.1", "\r\n", "\n", "Host: a", "Content-Length: ",
		"5", ":", " ", "Transfer-Encoding: chunked", "\r\n\r\n", "..", "?", "#", "\x80", "POST", "\t", "http://" };
	struct rand_gen g;

	rand_seed(&g, 7);
	for (int i = 0; i < 20000; i++) {
		enum problem why = PROBLEMS;
		struct http_head h;
		struct arena a;
		struct buf b;
		size_t scanned = 0;
		int end;

		buf_init(&b, 4096);
		arena_init(&a, 1 << 14);
		for (uint64_t n = rand_below(&g, 20); n > 0; n--)
			buf_text(&b, bits[rand_below(&g, COUNT(bits))]);
		buf_text(&b, "\r\n\r\n");
		end = http_head_end(b.p, b.n, &scanned);
		if (end > 0) {
			int rc = http_head_parse(&a, str_make(b.p, (size_t)end), &h, &why, NULL);

			ck_assert(rc == OK || why < PROBLEMS);
			ck_assert(rc != OK || (h.path.n > 0 && h.path.p[0] == '/'));
		}
		arena_fini(&a);
		buf_fini(&b);
	}
}
END_TEST

Suite *suite_http_parse(void)
{
	Suite *s = suite_create("net/http_parse");
	TCase *tc = tcase_create("http_parse");

	tcase_add_test(tc, the_end_of_a_head_is_found_once_whatever_the_cuts);
	tcase_add_test(tc, the_framing_is_told);
	tcase_add_test(tc, a_full_arena_is_headers_too_large);
	tcase_add_test(tc, chunks_cut_anywhere_give_the_same_body);
	tcase_add_test(tc, trailers_and_extensions_have_a_limit);
	tcase_add_test(tc, random_heads_never_break_the_parser);
	suite_add_tcase(s, tc);
	return s;
}
