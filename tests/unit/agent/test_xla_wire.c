#include "agent/xla_wire.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_xla_wire(void);

static struct err e;
static struct buf b;

static void setup(void)
{
	err_clear(&e);
	buf_init(&b, XLA_REQUEST_MAX);
}

static void teardown(void)
{
	buf_fini(&b);
}

static struct xla_request request(void)
{
	return (struct xla_request){ .root = STR("/tmp/r"), .session = STR("s1"), .host = STR("trn-1"),
		.duration_ns = 500 * NS_PER_MS, .host_level = 2 };
}

START_TEST(a_request_is_these_bytes)
{
	static const char wanted[] = "\x22\x09\x10\x02\x18\x01\x28\x01\x48\xf4\x03" /* 4: 2=2 3=1 5=1 9=500 */
				     "\x2a\x06/tmp/r"
				     "\x32\x02s1"
				     "\x3a\x05trn-1";
	struct xla_request rq = request();

	ck_assert_msg(xla_wire_put_request(&rq, &b, &e) == OK, "%s", e.text);
	ck_assert_msg(str_eq(buf_view(&b), str_make(wanted, sizeof(wanted) - 1)), "%zu bytes", b.n);
}
END_TEST

START_TEST(what_cannot_be_said_is_refused)
{
	struct xla_request wrong[] = { request(), request(), request(), request(), request(), request(), request(), request() };

	wrong[0].root = STR("tmp");
	wrong[1].root = STR("");
	wrong[2].session = STR("a/b");
	wrong[3].session = STR("..");
	wrong[4].host = STR("");
	wrong[5].host = STR("a\xff");
	wrong[6].root = STR("/tmp\n");
	wrong[7].duration_ns = NS_PER_MS - 1;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		ck_assert_int_eq(xla_wire_put_request(&wrong[i], &b, &e), E_USAGE);
		ck_assert_uint_eq(b.n, 0);
	}
}
END_TEST

START_TEST(an_answer_says_whether_there_was_anything)
{
	static const struct {
		struct str bytes;
		int rc;
		bool empty;
	} t[] = {
		{ { "", 0 }, OK, false },
		{ { "\x38\x01", 2 }, OK, true },
		{ { "\x38\x00", 2 }, OK, false },
		{ { "\x32\x05hello\x38\x01\x0a\x03xyz", 14 }, OK, true },
		{ { "\x32\x03\x38\x01\x38", 5 }, OK, false }, /* inside another field it is something else */
		{ { "\x38", 1 }, E_FORMAT, false },
		{ { "\x32\x09short", 7 }, E_FORMAT, false },
		{ { "<html>", 6 }, E_FORMAT, false },
		{ { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11 }, E_FORMAT, false },
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		struct xla_response rs;

		ck_assert_msg(xla_wire_parse_response(t[i].bytes, &rs, &e) == t[i].rc, "%zu", i);
		ck_assert_msg(rs.empty == t[i].empty, "%zu", i);
	}
}
END_TEST

START_TEST(any_text_becomes_a_name_of_a_file)
{
	static const struct {
		struct str text;
		const char *name;
	} t[] = {
		{ { "ip-10-0-0-1.ec2.internal", 24 }, "ip-10-0-0-1.ec2.internal" },
		{ { "..", 2 }, "_." },
		{ { "a/b c\0d\n", 8 }, "a_b_c_d_" },
		{ { "h\xc3\xb6st", 5 }, "h__st" },
		{ { "0123456789012345678901234567890", 31 }, "0123456789012345678901234567890" },
		{ { "01234567890123456789012345678901", 32 }, "0123456789012345678901234567890" },
	};
	char name[32];

	for (size_t i = 0; i < COUNT(t); i++) {
		xla_wire_name(t[i].text, name, sizeof(name));
		ck_assert_str_eq(name, t[i].name);
	}
}
END_TEST

Suite *suite_xla_wire(void)
{
	Suite *s = suite_create("agent/xla_wire");
	TCase *tc = tcase_create("xla_wire");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_request_is_these_bytes);
	tcase_add_test(tc, what_cannot_be_said_is_refused);
	tcase_add_test(tc, an_answer_says_whether_there_was_anything);
	tcase_add_test(tc, any_text_becomes_a_name_of_a_file);
	suite_add_tcase(s, tc);
	return s;
}
