#include "world.h"

#include "store/codec.h"

Suite *suite_codec(void);

/* An op with every field at its edge. */
static struct op_summary edge_op(int i)
{
	struct op_summary op = { .kind = OP_KERNEL,
		.name = STR("k"),
		.calls = UINT64_MAX >> i,
		.device_total_ns = INT64_MAX,
		.device_self_ns = INT64_MIN,
		.cpu_total_ns = -1,
		.cpu_self_ns = 0,
		.orphan_calls = UINT64_MAX,
		.orphan_ns = INT64_MIN,
		.basis = i % 2 ? OP_BASIS_DEVICE : OP_BASIS_CPU,
		.min_ns = INT64_MIN,
		.max_ns = INT64_MAX };

	op.hist.zero = UINT64_MAX;
	hist_add_bucket(&op.hist, HIST_INDEX_MIN, 1);
	hist_add_bucket(&op.hist, HIST_INDEX_MAX, UINT64_MAX);
	hist_add_bucket(&op.hist, 100 * i, 77);
	return op;
}

static void encode(struct buf *out, const struct op_summary *ops, const uint32_t *ids, size_t n)
{
	struct buf scratch;

	buf_init(&scratch, 1 << 20);
	buf_init(out, 1 << 20);
	codec_put_ops(out, &scratch, ops, ids, n);
	ck_assert_int_eq(buf_finish(out, "ops", NULL), OK);
	buf_fini(&scratch);
}

/* Decodes all of it; OK, or the first error. */
static int decode(struct str blob)
{
	struct op_summary op = { 0 };
	struct codec_ops ops;
	struct str record;
	uint32_t id;
	int rc = codec_ops_open(&ops, blob, NULL), more = 1;

	while (rc == OK && (more = codec_ops_next(&ops, &id, &record, NULL)) > 0)
		rc = codec_get_op(record, &op, NULL);
	op_summary_fini(&op);
	return rc < 0 ? rc : more;
}

START_TEST(ops_come_back_at_their_edges)
{
	struct op_summary ops[3], got = { .kind = OP_KERNEL, .name = STR("k") };
	const uint32_t ids[3] = { UINT32_MAX, 1, 70000 };
	struct codec_ops c;
	struct str record;
	struct buf blob;
	uint32_t id;

	for (int i = 0; i < 3; i++)
		ops[i] = edge_op(i);
	encode(&blob, ops, ids, 3);
	ck_assert_int_eq(codec_ops_open(&c, buf_view(&blob), NULL), OK);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(codec_ops_next(&c, &id, &record, NULL), 1);
		ck_assert_uint_eq(id, ids[i]);
		ck_assert_int_eq(codec_get_op(record, &got, NULL), OK);
		world_same_op(&got, &ops[i]);
		op_summary_fini(&ops[i]);
	}
	ck_assert_int_eq(codec_ops_next(&c, &id, &record, NULL), 0);
	op_summary_fini(&got);
	buf_fini(&blob);
}
END_TEST

START_TEST(ops_cut_anywhere_are_damaged)
{
	struct op_summary ops[2] = { edge_op(1), edge_op(2) };
	const uint32_t ids[2] = { 5, 300 };
	struct buf blob;

	encode(&blob, ops, ids, 2);
	ck_assert_int_eq(decode(buf_view(&blob)), OK);
	for (size_t n = 0; n < blob.n; n++)
		ck_assert_int_eq(decode(str_upto(buf_view(&blob), n)), E_CORRUPT);
	op_summary_fini(&ops[0]);
	op_summary_fini(&ops[1]);
	buf_fini(&blob);
}
END_TEST

START_TEST(bytes_changed_anywhere_never_crash)
{
	struct op_summary ops[2] = { edge_op(1), edge_op(2) };
	const uint32_t ids[2] = { 5, 300 };
	struct rand_gen g;
	struct buf blob;

	rand_seed(&g, 7);
	encode(&blob, ops, ids, 2);
	for (int i = 0; i < 20000; i++) {
		size_t at = rand_below(&g, blob.n);
		char was = blob.p[at];
		int rc;

		blob.p[at] = (char)rand_u64(&g);
		rc = decode(buf_view(&blob));
		ck_assert(rc == OK || rc == E_CORRUPT);
		blob.p[at] = was;
	}
	op_summary_fini(&ops[0]);
	op_summary_fini(&ops[1]);
	buf_fini(&blob);
}
END_TEST

START_TEST(labels_and_gauges_cut_anywhere_are_damaged)
{
	struct label labels[] = { { STR("a"), STR("") }, { STR("rack"), STR("r1") } };
	struct gauge gauges[] = {
		{ .name = STR("g"), .unit = STR("%"), .value = -0.5, .labels = labels, .n_labels = 2 }
	};
	struct window w = { .labels = labels,
		.n_labels = 2,
		.versions = labels,
		.n_versions = 1,
		.gauges = gauges,
		.n_gauges = 1 };
	struct window got = { 0 };
	struct arena a;
	struct buf blob;

	arena_init(&a, 1 << 20);
	buf_init(&blob, 1 << 20);
	codec_put_rest(&blob, &w);
	ck_assert_int_eq(codec_get_rest(buf_view(&blob), &a, &got, NULL), OK);
	ck_assert_uint_eq(got.n_versions, 1);
	ck_assert_double_eq(got.gauges[0].value, -0.5);
	for (size_t n = 0; n < blob.n; n++)
		ck_assert_int_eq(codec_get_rest(str_upto(buf_view(&blob), n), &a, &got, NULL), E_CORRUPT);
	arena_fini(&a);
	arena_init(&a, 40);
	ck_assert_int_eq(codec_get_rest(buf_view(&blob), &a, &got, NULL), E_LIMIT);
	arena_fini(&a);
	buf_fini(&blob);
}
END_TEST

/* As many as a report has. */
static void many_gauges(struct window *w, struct arena *a)
{
	enum { MANY = 2000 };

	*w = (struct window){ .gauges = arena_get_array(a, MANY, sizeof(*w->gauges)), .n_gauges = MANY };
	for (size_t i = 0; i < MANY; i++) {
		struct label *l = arena_get(a, sizeof(*l));

		*l = (struct label){ STR("nc"), arena_fmt(a, "%zu", i) };
		w->gauges[i] = (struct gauge){ STR("neuroncore_utilization_ratio"), STR("ratio"), (double)i / 7, l, 1 };
	}
}

START_TEST(many_gauges_take_little_room_and_come_back)
{
	struct window w, got = { 0 };
	struct arena a;
	struct buf blob;

	arena_init(&a, 64 << 20);
	buf_init(&blob, 1 << 20);
	buf_text(&blob, "before");
	many_gauges(&w, &a);
	codec_put_rest(&blob, &w);
	ck_assert_int_eq(blob.rc, OK);
	ck_assert_uint_lt(blob.n, 2000 * 20); /* each is 50 bytes long */
	ck_assert_int_eq(memcmp(blob.p, "before", 6), 0);
	ck_assert_int_eq(codec_get_rest(str_from(buf_view(&blob), 6), &a, &got, NULL), OK);
	ck_assert_uint_eq(got.n_gauges, w.n_gauges);
	for (size_t i = 0; i < w.n_gauges; i++) {
		ck_assert(str_eq(got.gauges[i].labels[0].value, w.gauges[i].labels[0].value));
		ck_assert_double_eq(got.gauges[i].value, w.gauges[i].value);
	}
	arena_fini(&a);
	buf_fini(&blob);
}
END_TEST

START_TEST(many_gauges_that_are_damaged_are_said_to_be_so)
{
	struct window w, got = { 0 };
	struct arena made, a;
	struct rand_gen g;
	struct buf blob;

	rand_seed(&g, 9);
	arena_init(&made, 64 << 20);
	arena_init(&a, 64 << 20);
	buf_init(&blob, 1 << 20);
	many_gauges(&w, &made);
	codec_put_rest(&blob, &w);
	for (size_t n = 0; n < blob.n; n += 97)
		ck_assert_int_eq(codec_get_rest(str_upto(buf_view(&blob), n), &a, &got, NULL), E_CORRUPT);
	for (int i = 0; i < 1000; i++) {
		size_t at = rand_below(&g, i % 2 == 0 ? 12 : blob.n);
		char was = blob.p[at];
		int rc;

		blob.p[at] = (char)rand_u64(&g);
		rc = codec_get_rest(buf_view(&blob), &a, &got, NULL);
		ck_assert(rc == OK || rc == E_CORRUPT || rc == E_LIMIT);
		blob.p[at] = was;
		arena_fini(&a);
		arena_init(&a, 8 << 20);
	}
	arena_fini(&a);
	arena_init(&a, 1000);
	ck_assert_int_eq(codec_get_rest(buf_view(&blob), &a, &got, NULL), E_LIMIT);
	arena_fini(&a);
	arena_fini(&made);
	buf_fini(&blob);
}
END_TEST

Suite *suite_codec(void)
{
	Suite *s = suite_create("store/codec");
	TCase *tc = tcase_create("codec");

	tcase_add_test(tc, ops_come_back_at_their_edges);
	tcase_add_test(tc, ops_cut_anywhere_are_damaged);
	tcase_add_test(tc, bytes_changed_anywhere_never_crash);
	tcase_add_test(tc, labels_and_gauges_cut_anywhere_are_damaged);
	tcase_add_test(tc, many_gauges_take_little_room_and_come_back);
	tcase_add_test(tc, many_gauges_that_are_damaged_are_said_to_be_so);
	suite_add_tcase(s, tc);
	return s;
}
