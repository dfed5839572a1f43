/* Tests of encode.c and decode.c through wire.h. */
#include "wire/wire.h"

#include <check.h>

#include "tests/unit/wire/batches.h"
#include "wire/pack.h"

Suite *suite_wire(void);

static struct arena arena, arena2;
static struct buf bytes, plain;
static struct rand_gen gen;
static const struct wire_limits limits = { 4u << 20, 64u << 20, 1000 };

static void setup(void)
{
	arena_init(&arena, 64u << 20);
	arena_init(&arena2, 64u << 20);
	buf_init(&bytes, 16u << 20);
	buf_init(&plain, 64u << 20);
	rand_seed(&gen, 7);
}

static void teardown(void)
{
	buf_fini(&plain);
	buf_fini(&bytes);
	arena_fini(&arena2);
	arena_fini(&arena);
}

/* The batch as plain protobuf bytes in plain. */
static void encode_plain(const struct wire_batch *b)
{
	struct err e = { 0 };

	buf_reset(&bytes);
	buf_reset(&plain);
	ck_assert_msg(wire_encode(b, &bytes, &e) == OK, "%s", e.text);
	ck_assert_msg(pack_open(buf_view(&bytes), &plain, &e) == OK, "%s", e.text);
}

START_TEST(a_batch_comes_back_as_it_was_sent)
{
	for (int i = 0; i < 60; i++) {
		struct wire_batch b = batch_make(&arena, &gen, 1 + (size_t)i % 7, (size_t)i * 3), got;
		struct err e = { 0 };

		buf_reset(&bytes);
		ck_assert_msg(wire_encode(&b, &bytes, &e) == OK, "%s", e.text);
		ck_assert_msg(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &limits, &got, &e) == OK, "%s",
			e.text);
		batch_assert_equal(&b, &got);
		wire_batch_fini(&got);
		wire_batch_fini(&b);
	}
}
END_TEST

START_TEST(the_json_form_means_the_same_as_the_protobuf_form)
{
	for (int i = 0; i < 60; i++) {
		struct wire_batch b = batch_make(&arena, &gen, 1 + (size_t)i % 5, (size_t)i), got;
		struct err e = { 0 };

		buf_reset(&plain);
		batch_json(&b, &plain);
		ck_assert_msg(wire_decode(&arena2, buf_view(&plain), WIRE_JSON, false, &limits, &got, &e) == OK, "%s",
			e.text);
		batch_assert_equal(&b, &got);
		wire_batch_fini(&got);
		wire_batch_fini(&b);
	}
}
END_TEST

START_TEST(the_json_form_may_be_compressed)
{
	struct wire_batch b = batch_make(&arena, &gen, 2, 20), got;
	struct err e = { 0 };

	batch_json(&b, &plain);
	ck_assert_int_eq(pack_zstd(buf_view(&plain), &bytes, &e), OK);
	ck_assert_msg(wire_decode(&arena2, buf_view(&bytes), WIRE_JSON, true, &limits, &got, &e) == OK, "%s", e.text);
	batch_assert_equal(&b, &got);
	wire_batch_fini(&got);
	wire_batch_fini(&b);
}
END_TEST

START_TEST(every_truncation_of_a_compressed_batch_is_refused)
{
	struct wire_batch b = batch_make(&arena, &gen, 3, 30), got;

	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	for (size_t n = 0; n < bytes.n; n++) {
		struct err e = { 0 };

		ck_assert_int_eq(wire_decode(&arena2, str_make(bytes.p, n), WIRE_PROTOBUF, true, &limits, &got, &e),
			E_FORMAT);
		ck_assert(e.text[0] != '\0');
		ck_assert_uint_eq(got.n_windows, 0);
		arena_reset(&arena2);
	}
	wire_batch_fini(&b);
}
END_TEST

/* Without a frame around it a message that ends between two windows is a message too: it is then a shorter batch of
 * whole windows, never a damaged one. */
START_TEST(every_truncation_of_a_plain_batch_is_refused_or_has_fewer_windows)
{
	struct wire_batch b = batch_make(&arena, &gen, 3, 12), got;
	size_t taken = 0;

	encode_plain(&b);
	for (size_t n = 0; n < plain.n; n++) {
		struct err e = { 0 };
		int rc = wire_decode(&arena2, str_make(plain.p, n), WIRE_PROTOBUF, false, &limits, &got, &e);

		if (rc == OK) {
			struct wire_batch fewer = b;

			taken++;
			fewer.n_windows = taken;
			batch_assert_equal(&fewer, &got);
			wire_batch_fini(&got);
		} else {
			ck_assert_msg(rc == E_FORMAT, "%s", e.text);
		}
		arena_reset(&arena2);
	}
	ck_assert_uint_eq(taken, 2);
	wire_batch_fini(&b);
}
END_TEST

START_TEST(every_truncation_of_a_json_batch_is_refused)
{
	struct wire_batch b = batch_make(&arena, &gen, 2, 5), got;

	batch_json(&b, &plain);
	for (size_t n = 0; n < plain.n; n++) {
		ck_assert_int_eq(wire_decode(&arena2, str_make(plain.p, n), WIRE_JSON, false, &limits, &got, NULL), E_FORMAT);
		arena_reset(&arena2);
	}
	wire_batch_fini(&b);
}
END_TEST

START_TEST(no_flipped_bit_crashes_the_reader_or_passes_an_invalid_window)
{
	struct wire_batch b = batch_make(&arena, &gen, 2, 10), got;

	encode_plain(&b);
	for (size_t bit = 0; bit < plain.n * 8; bit++) {
		struct err e = { 0 };

		plain.p[bit / 8] ^= (char)(1 << bit % 8);
		if (wire_decode(&arena2, buf_view(&plain), WIRE_PROTOBUF, false, &limits, &got, &e) == OK)
			for (size_t i = 0; i < got.n_windows; i++)
				ck_assert_int_eq(window_check(&got.windows[i], &e), OK);
		else
			ck_assert(e.text[0] != '\0');
		wire_batch_fini(&got);
		arena_reset(&arena2);
		plain.p[bit / 8] ^= (char)(1 << bit % 8);
	}
	wire_batch_fini(&b);
}
END_TEST

START_TEST(noise_is_refused)
{
	for (int i = 0; i < 20000; i++) {
		char noise[64];
		size_t n = rand_below(&gen, sizeof(noise)) + 1;
		struct wire_batch got;

		for (size_t k = 0; k < n; k++)
			noise[k] = (char)rand_u64(&gen);
		ck_assert_int_ne(wire_decode(&arena2, str_make(noise, n), WIRE_PROTOBUF, i % 2 == 0, &limits, &got, NULL),
			OK);
		arena_reset(&arena2);
	}
}
END_TEST

START_TEST(a_batch_larger_than_the_limits_is_refused_before_it_is_read)
{
	struct wire_batch b = batch_make(&arena, &gen, 5, 20), got;
	struct wire_limits tight = limits;
	struct err e = { 0 };

	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	tight.encoded_bytes = bytes.n - 1;
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &tight, &got, &e), E_LIMIT);
	tight = limits;
	tight.windows = 4;
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &tight, &got, &e), E_LIMIT);
	ck_assert_str_eq(e.text, "windows[4]: 5 values, at most 4");
	tight = limits;
	tight.decoded_bytes = 1000;
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &tight, &got, &e), E_LIMIT);
	wire_batch_fini(&b);
}
END_TEST

START_TEST(a_full_arena_of_the_caller_is_a_limit_and_leaks_nothing)
{
	struct wire_batch b = batch_make(&arena, &gen, 5, 40), got;

	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	for (size_t cap = 0; cap < 20000; cap += 97) {
		struct arena small;
		int rc;

		arena_init(&small, cap);
		rc = wire_decode(&small, buf_view(&bytes), WIRE_PROTOBUF, true, &limits, &got, NULL);
		ck_assert(rc == E_LIMIT || rc == OK);
		wire_batch_fini(&got);
		arena_fini(&small);
	}
	wire_batch_fini(&b);
}
END_TEST

START_TEST(ops_in_any_order_arrive_in_order)
{
	struct wire_batch b = batch_make(&arena, &gen, 1, 30), got;
	struct window *w = &b.windows[0];
	struct op_summary first;

	while (w->n_ops < 2) {
		wire_batch_fini(&b);
		b = batch_make(&arena, &gen, 1, 30);
		w = &b.windows[0];
	}
	first = w->ops[0];
	w->ops[0] = w->ops[w->n_ops - 1];
	w->ops[w->n_ops - 1] = first;
	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &limits, &got, NULL), OK);
	w->ops[w->n_ops - 1] = w->ops[0];
	w->ops[0] = first;
	batch_assert_equal(&b, &got);
	wire_batch_fini(&got);
	wire_batch_fini(&b);
}
END_TEST

START_TEST(an_op_that_stands_twice_is_refused)
{
	struct wire_batch b = batch_make(&arena, &gen, 1, 0), got;
	struct op_summary twice[2] = {
		{ .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 1 },
		{ .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 2 },
	};

	b.windows[0].ops = twice;
	b.windows[0].n_ops = 2;
	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &limits, &got, NULL), E_UNSUPPORTED);
}
END_TEST

START_TEST(a_text_that_is_not_utf8_or_holds_a_nul_is_refused)
{
	struct wire_batch b = batch_make(&arena, &gen, 1, 0), got;
	struct err e = { 0 };

	b.windows[0].service = STR("ll\xff m");
	ck_assert_int_eq(wire_encode(&b, &bytes, NULL), OK);
	ck_assert_int_eq(wire_decode(&arena2, buf_view(&bytes), WIRE_PROTOBUF, true, &limits, &got, &e), E_FORMAT);
	ck_assert_str_eq(e.text, "strings[1]: is not UTF-8");
	b.windows[0].service = str_make("a\0b", 3);
	ck_assert_int_eq(wire_encode(&b, &bytes, &e), E_FORMAT);
}
END_TEST

START_TEST(a_batch_without_windows_is_refused)
{
	struct wire_batch got;
	struct err e = { 0 };

	ck_assert_int_eq(wire_decode(&arena2, STR(""), WIRE_PROTOBUF, false, &limits, &got, &e), E_FORMAT);
	ck_assert_str_eq(e.text, "windows: there is none, want at least one");
	ck_assert_int_eq(wire_decode(&arena2, STR("{}"), WIRE_JSON, false, &limits, &got, &e), E_FORMAT);
}
END_TEST

Suite *suite_wire(void)
{
	Suite *s = suite_create("wire/wire");
	TCase *tc = tcase_create("wire");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_batch_comes_back_as_it_was_sent);
	tcase_add_test(tc, the_json_form_means_the_same_as_the_protobuf_form);
	tcase_add_test(tc, the_json_form_may_be_compressed);
	tcase_add_test(tc, every_truncation_of_a_compressed_batch_is_refused);
	tcase_add_test(tc, every_truncation_of_a_plain_batch_is_refused_or_has_fewer_windows);
	tcase_add_test(tc, every_truncation_of_a_json_batch_is_refused);
	tcase_add_test(tc, no_flipped_bit_crashes_the_reader_or_passes_an_invalid_window);
	tcase_add_test(tc, noise_is_refused);
	tcase_add_test(tc, a_batch_larger_than_the_limits_is_refused_before_it_is_read);
	tcase_add_test(tc, a_full_arena_of_the_caller_is_a_limit_and_leaks_nothing);
	tcase_add_test(tc, ops_in_any_order_arrive_in_order);
	tcase_add_test(tc, an_op_that_stands_twice_is_refused);
	tcase_add_test(tc, a_text_that_is_not_utf8_or_holds_a_nul_is_refused);
	tcase_add_test(tc, a_batch_without_windows_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
