#include "agent/kineto_wire.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/enc.h"
#include "base/file.h"

Suite *suite_kineto_wire(void);

static uint8_t datagram[1024];
static size_t n_datagram;
static struct kineto_message m;
static struct err e;

/* A poll as a job of four ancestors sends it. */
static void make_poll(uint32_t can, int32_t n, size_t pids)
{
	memset(datagram, 0, sizeof(datagram));
	memcpy(datagram + 8, "req", 3);
	enc_put32(datagram + 40, can);
	enc_put32(datagram + 44, (uint32_t)n);
	enc_put64(datagram + 48, 4242);
	for (size_t i = 0; i < pids; i++)
		enc_put32(datagram + 56 + 4 * i, (uint32_t)(21740 - i));
	n_datagram = 56 + 4 * pids;
	enc_put64(datagram, n_datagram - 40);
}

static int parse(void)
{
	err_clear(&e);
	return kineto_wire_parse(str_make(datagram, n_datagram), &m, &e);
}

START_TEST(a_poll_is_read_byte_for_byte)
{
	make_poll(2, 5, 5);
	ck_assert_msg(parse() == OK, "%s", e.text);
	ck_assert_int_eq(m.kind, KINETO_POLL);
	ck_assert_uint_eq(m.can, KINETO_CAN_TRACE);
	ck_assert_int_eq(m.job, 4242);
	ck_assert_uint_eq(m.n_pids, 5);
	ck_assert_int_eq(m.pids[0], 21740);
	ck_assert_int_eq(m.pids[4], 21736);
}
END_TEST

START_TEST(as_many_pids_as_there_can_be_are_read_and_not_one_more)
{
	make_poll(2, KINETO_PIDS_MAX, KINETO_PIDS_MAX);
	ck_assert_int_eq(parse(), OK);
	ck_assert_uint_eq(m.n_pids, KINETO_PIDS_MAX);
	ck_assert_uint_eq(n_datagram, KINETO_DATAGRAM_MAX);
	make_poll(2, KINETO_PIDS_MAX + 1, KINETO_PIDS_MAX + 1);
	ck_assert_int_eq(parse(), E_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "64"));
}
END_TEST

START_TEST(a_count_that_the_datagram_does_not_hold_is_refused)
{
	static const int32_t counts[] = { 0, -1, INT32_MIN, 4, 6, 64 };

	for (size_t i = 0; i < COUNT(counts); i++) {
		make_poll(2, counts[i], 5);
		ck_assert_int_eq(parse(), E_FORMAT);
		ck_assert_str_ne(e.text, "");
	}
	make_poll(2, INT32_MAX, 5);
	ck_assert_int_eq(parse(), E_LIMIT);
}
END_TEST

START_TEST(a_header_that_lies_about_the_size_is_refused)
{
	static const uint64_t sizes[] = { 0, 35, 37, UINT64_C(1) << 62, UINT64_MAX };

	for (size_t i = 0; i < COUNT(sizes); i++) {
		make_poll(2, 5, 5);
		enc_put64(datagram, sizes[i]);
		ck_assert_int_eq(parse(), E_FORMAT);
	}
}
END_TEST

START_TEST(a_poll_that_is_cut_anywhere_is_refused)
{
	make_poll(2, 5, 5);
	for (size_t n = n_datagram; n-- > 0;) {
		n_datagram = n;
		ck_assert_int_eq(parse(), E_FORMAT);
		if (n >= KINETO_HEADER) { /* with a header that is right for it, too */
			enc_put64(datagram, n - KINETO_HEADER);
			ck_assert_int_eq(parse(), E_FORMAT);
		}
	}
}
END_TEST

START_TEST(another_type_is_told_apart)
{
	make_poll(2, 1, 1);
	memcpy(datagram + 8, "reqs", 4);
	ck_assert_int_eq(parse(), E_UNSUPPORTED);
	memset(datagram + 8, 'x', 32);
	ck_assert_int_eq(parse(), E_UNSUPPORTED);
}
END_TEST

START_TEST(a_hello_of_an_older_client_is_read)
{
	memset(datagram, 0, sizeof(datagram));
	memcpy(datagram + 8, "ctxt", 4);
	enc_put64(datagram, 16);
	enc_put32(datagram + 40, 3);
	enc_put32(datagram + 44, 77);
	enc_put64(datagram + 48, 4242);
	n_datagram = 56;
	ck_assert_int_eq(parse(), OK);
	ck_assert_int_eq(m.kind, KINETO_HELLO);
	ck_assert_int_eq(m.pids[0], 77);
	ck_assert_int_eq(m.job, 4242);
	enc_put64(datagram, 15);
	n_datagram = 55;
	ck_assert_int_eq(parse(), E_FORMAT);
}
END_TEST

START_TEST(answers_say_their_size_and_pad_their_type)
{
	struct buf b;

	buf_init(&b, 4096);
	kineto_wire_put_config(&b, STR("A=1\n"));
	ck_assert_uint_eq(b.n, 44);
	ck_assert_uint_eq(enc_get64((uint8_t *)b.p), 4);
	ck_assert_mem_eq(b.p + 8, "req\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
	ck_assert_mem_eq(b.p + 40, "A=1\n", 4);
	buf_reset(&b);
	kineto_wire_put_count(&b, 7);
	ck_assert_uint_eq(b.n, 44);
	ck_assert_mem_eq(b.p + 8, "ctxt", 5);
	ck_assert_uint_eq(enc_get32((uint8_t *)b.p + 40), 7);
	buf_fini(&b);
}
END_TEST

/* ---- datagrams of the real libkineto */

static bool captured(const char *name, struct buf *b)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");
	char path[PATH_MAX];

	if (data == NULL) {
		printf("# skipped: TRAINSPOTTER_TEST_DATA is not set: captured datagrams are not at hand\n");
		return false;
	}
	snprintf(path, sizeof(path), "%s/kineto/wire/%s", data, name);
	buf_reset(b);
	ck_assert_msg(file_read_all(path, b, &e) == OK, "%s", e.text);
	return true;
}

START_TEST(the_captured_polls_are_read)
{
	static const struct {
		const char *name;
		uint32_t can;
	} polls[] = { { "req_type2_job4242.bin", 2 }, { "req_type0_busy_job4242.bin", 0 } };
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < COUNT(polls) && captured(polls[i].name, &b); i++) {
		ck_assert_int_eq(kineto_wire_parse(buf_view(&b), &m, &e), OK);
		ck_assert_uint_eq(m.can, polls[i].can);
		ck_assert_int_eq(m.job, 4242);
		ck_assert_uint_eq(m.n_pids, 5);
		ck_assert_int_eq(m.pids[0], 0x54ec);
		ck_assert_int_eq(m.pids[4], 0x0a55);
	}
	buf_fini(&b);
}
END_TEST

START_TEST(answers_equal_the_captured_ones_that_worked)
{
	struct buf theirs, text, ours;

	buf_init(&theirs, 4096);
	buf_init(&text, 4096);
	buf_init(&ours, 4096);
	if (captured("reply_req_empty.bin", &theirs)) {
		kineto_wire_put_config(&ours, STR(""));
		ck_assert(str_eq(buf_view(&ours), buf_view(&theirs)));
		buf_reset(&ours);
		captured("reply_req_config.bin", &theirs);
		captured("cfgA.txt", &text);
		kineto_wire_put_config(&ours, buf_view(&text));
		ck_assert(str_eq(buf_view(&ours), buf_view(&theirs)));
	}
	buf_fini(&theirs);
	buf_fini(&text);
	buf_fini(&ours);
}
END_TEST

Suite *suite_kineto_wire(void)
{
	Suite *s = suite_create("agent/kineto_wire");
	TCase *tc = tcase_create("kineto_wire");

	tcase_add_test(tc, a_poll_is_read_byte_for_byte);
	tcase_add_test(tc, as_many_pids_as_there_can_be_are_read_and_not_one_more);
	tcase_add_test(tc, a_count_that_the_datagram_does_not_hold_is_refused);
	tcase_add_test(tc, a_header_that_lies_about_the_size_is_refused);
	tcase_add_test(tc, a_poll_that_is_cut_anywhere_is_refused);
	tcase_add_test(tc, another_type_is_told_apart);
	tcase_add_test(tc, a_hello_of_an_older_client_is_read);
	tcase_add_test(tc, answers_say_their_size_and_pad_their_type);
	tcase_add_test(tc, the_captured_polls_are_read);
	tcase_add_test(tc, answers_equal_the_captured_ones_that_worked);
	suite_add_tcase(s, tc);
	return s;
}
