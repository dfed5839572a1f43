#include "trace/xplane.h"

#include <check.h>

#include "base/mem.h"
#include "base/rand.h"
#include "tests/unit/trace/help.h"
#include "tests/unit/trace/help_xla.h"
#include "trace/fold.h"
#include "trace/xla.h"

Suite *suite_xplane(void);

static struct buf b, plane, line, stats, said;
static struct trace_report report;

static void begin(void)
{
	struct buf *all[] = { &b, &plane, &line, &stats, &said };

	for (size_t i = 0; i < COUNT(all); i++)
		buf_init(all[i], 4 << 20);
}

static void over(void)
{
	struct buf *all[] = { &b, &plane, &line, &stats, &said };

	for (size_t i = 0; i < COUNT(all); i++)
		buf_fini(all[i]);
}

/* What is made of b, and what is said of it. */
static void expect(const char *rows, const char *reported)
{
	struct trace *t = help_xplane_read(buf_view(&b), 0, &report);

	ck_assert_ptr_nonnull(t);
	buf_reset(&said);
	help_xla_say(t, &said);
	ck_assert_str_eq(buf_view(&said).p, rows);
	buf_reset(&said);
	help_report(&report, &said);
	ck_assert_str_eq(buf_view(&said).p, reported);
	trace_free(t);
}

START_TEST(names_may_stand_before_the_events_or_behind)
{
	help_xspace(&b, _i);
	expect(help_xspace_said, " |");
}
END_TEST

START_TEST(a_file_cut_into_blocks_at_any_byte_is_the_same)
{
	help_xspace(&b, _i);
	for (size_t block = 1; block <= b.n; block++) {
		struct trace *t = help_xplane_read(buf_view(&b), block, &report);

		buf_reset(&said);
		help_xla_say(t, &said);
		ck_assert_msg(str_eq(buf_view(&said), str_of(help_xspace_said)), "blocks of %zu: %s", block,
			buf_view(&said).p);
		ck_assert_uint_eq(report.n_skips, 0);
		trace_free(t);
	}
}
END_TEST

/* With the names in front every event that is whole is kept; behind, what has no name by then is counted. */
START_TEST(a_file_that_ends_anywhere_gives_what_was_there)
{
	size_t before = 0;

	help_xspace(&b, _i);
	for (size_t n = 0; n < b.n; n++) {
		struct trace *t = help_xplane_read(str_upto(buf_view(&b), n), 0, &report);
		const struct trace_skip *cut = trace_report_find(&report, TRACE_TRUNCATED);

		if (t == NULL) { /* nothing but a part of the first tag and length */
			ck_assert_uint_lt(n, 4);
			continue;
		}
		ck_assert_uint_le(report.events, 8);
		ck_assert_uint_ge(report.events, _i == 1 ? before : 0);
		before = report.events;
		/* between the plane and the host's name nothing is missing */
		ck_assert(cut == NULL ? n + 8 == b.n : cut->offset == n && cut->count == 1);
		trace_free(t);
	}
	ck_assert_uint_eq(before, 8);
}
END_TEST

START_TEST(bytes_changed_at_random_are_no_more_than_damage)
{
	struct rand_gen g;

	help_xspace(&b, false);
	rand_seed(&g, 20261129);
	for (int round = 0; round < 3000; round++) {
		struct trace *t;

		buf_reset(&plane);
		buf_str(&plane, buf_view(&b));
		for (uint64_t n = 1 + rand_below(&g, 4); n > 0; n--)
			plane.p[rand_below(&g, plane.n)] = (char)rand_below(&g, 256);
		t = help_xplane_read(buf_view(&plane), 0, &report);
		if (t == NULL)
			continue;
		buf_reset(&said);
		help_xla_say(t, &said);
		trace_free(t);
	}
}
END_TEST

/* ---- small files */

static void end_line(void)
{
	help_pb_bytes(&plane, 3, buf_view(&line));
	buf_reset(&line);
}

static void end_plane(void)
{
	help_pb_bytes(&b, 1, buf_view(&plane));
	buf_reset(&plane);
}

START_TEST(an_event_without_a_name_is_counted_with_its_place)
{
	help_pb_text(&plane, 2, "/host:CPU");
	help_xplane_event(&line, 1, 0, 5000, NULL);
	help_xplane_event(&line, 77, 0, 5000, NULL);
	end_line();
	help_xplane_meta(&plane, 4, 1, "known");
	end_plane();
	expect("known 0 0 1 5 5 0 0\n", "1 no_name@24 |");
}
END_TEST

START_TEST(damage_inside_an_event_costs_that_event)
{
	help_pb_text(&plane, 2, "/host:CPU");
	help_pb_bytes(&line, 4, STR("\x08\x01\x0b"));		  /* a group */
	help_pb_bytes(&line, 4, STR("\x08\x01\x22\x02\x08\x80")); /* a number that does not end in its stat */
	help_xplane_event(&line, 1, 0, 5000, NULL);
	end_line();
	help_xplane_meta(&plane, 4, 1, "good");
	end_plane();
	expect("good 0 0 1 5 5 0 0\n", "2 bad_message@19 |");
}
END_TEST

START_TEST(damage_between_planes_ends_the_file)
{
	help_xspace(&b, false);
	buf_fmt(&plane, "1 bad_message@%zu |", b.n);
	buf_text(&b, "\x0b");
	help_xspace(&b, false);
	expect(help_xspace_said, plane.p);
}
END_TEST

START_TEST(times_that_do_not_fit_are_counted)
{
	static const uint64_t times[][3] = { { 0, 0, UINT64_MAX }, { INT64_MAX, 0, 1 },
		{ INT64_MAX - 2000, 0, INT64_MAX / 2 }, { 0, INT64_MAX, 1 } };

	help_pb_text(&plane, 2, "/host:CPU");
	for (size_t i = 0; i < COUNT(times); i++) {
		help_pb_number(&line, 3, times[i][0] == 0 ? 0 : times[i][0] / 2000);
		help_xplane_event(&line, 1, times[i][0] != 0 ? INT64_MAX : times[i][1], times[i][2], NULL);
		end_line();
	}
	help_xplane_meta(&plane, 4, 1, "x");
	end_plane();
	expect("", "4 bad_number@17 |");
}
END_TEST

START_TEST(what_the_metadata_says_of_an_event_counts_where_the_event_says_nothing)
{
	struct buf meta, entry;

	buf_init(&meta, 1000);
	buf_init(&entry, 1000);
	help_pb_text(&plane, 2, "/device:TPU:0");
	help_xplane_event(&line, 1, 0, 5000, NULL);
	help_xplane_stat(&stats, 1, 7, 4);
	help_xplane_event(&line, 1, 9000, 5000, &stats);
	end_line();
	help_pb_text(&meta, 2, "a long text of HLO");
	help_pb_text(&meta, 4, "shown");
	buf_reset(&stats);
	help_xplane_stat(&stats, 1, 7, 3);
	/* a metadata's stats are its field 5 */
	stats.p[0] = 5 << 3 | 2;
	buf_str(&meta, buf_view(&stats));
	help_pb_number(&entry, 1, 1);
	help_pb_bytes(&entry, 2, buf_view(&meta));
	help_pb_bytes(&plane, 4, buf_view(&entry));
	help_xplane_meta(&plane, 5, 1, "hlo_op");
	help_xplane_meta(&plane, 5, 3, "fusion");
	help_xplane_meta(&plane, 5, 4, "own");
	end_plane();
	expect("fusion 1 0 1 0 0 5 5\nown 1 0 1 0 0 5 5\nmodule  1 10\nhlo  fusion 1 5\nhlo  own 1 5\n",
		" |");
	buf_fini(&meta);
	buf_fini(&entry);
}
END_TEST

START_TEST(a_sum_of_events_is_no_call)
{
	struct buf event;

	buf_init(&event, 1000);
	help_pb_text(&plane, 2, "/host:CPU");
	help_pb_number(&event, 1, 1);
	help_pb_number(&event, 3, 5000);
	help_pb_number(&event, 5, 12); /* num_occurrences */
	help_pb_bytes(&line, 4, buf_view(&event));
	help_xplane_event(&line, 1, 0, 7000, NULL);
	end_line();
	help_xplane_meta(&plane, 4, 1, "x");
	end_plane();
	expect("x 0 0 1 7 7 0 0\n", " |");
	buf_fini(&event);
}
END_TEST

START_TEST(names_that_are_no_utf_8_are_mended)
{
	help_pb_text(&plane, 2, "/host:CPU");
	help_xplane_event(&line, 1, 0, 5000, NULL);
	end_line();
	help_xplane_meta(&plane, 4, 1, "a\"\\n\xff!");
	end_plane();
	expect("a\"\\n\xef\xbf\xbd! 0 0 1 5 5 0 0\n", " | 1 bad_utf8");
}
END_TEST

/* Nanoseconds since 1970 are too large for picoseconds: time counts from the first line's. */
START_TEST(lines_may_stand_at_times_since_1970)
{
	struct trace *t;

	help_pb_text(&plane, 2, "/host:CPU");
	help_pb_number(&line, 3, UINT64_C(1795964574961839139));
	help_xplane_event(&line, 1, 1000, 5000, NULL);
	end_line();
	help_pb_number(&line, 3, UINT64_C(1795964574961839139) + 1000000000);
	help_xplane_event(&line, 1, 3000, 5000, NULL);
	end_line();
	help_xplane_meta(&plane, 4, 1, "x");
	end_plane();
	t = help_xplane_read(buf_view(&b), 0, &report);
	ck_assert_uint_eq(t->events.n, 2);
	ck_assert(t->has_base);
	ck_assert_int_eq(t->base_ns, INT64_C(1795964574961839139));
	ck_assert_int_eq(t->events.v[0].start_ns, 1);
	ck_assert_int_eq(t->events.v[1].start_ns, 1000000003);
	trace_free(t);
}
END_TEST

static void add_plane_stat(uint64_t id, unsigned field, uint64_t number, const char *text)
{
	buf_reset(&stats);
	help_pb_number(&stats, 1, id);
	if (text != NULL)
		help_pb_text(&stats, field, text);
	else
		help_pb_number(&stats, field, number);
	help_pb_bytes(&plane, 6, buf_view(&stats));
}

START_TEST(versions_clock_and_host_are_found)
{
	struct trace *t;

	help_pb_text(&plane, 2, "/host:metadata");
	help_xplane_meta(&plane, 5, 1, "jax_version");
	help_xplane_meta(&plane, 5, 2, "process_id");
	add_plane_stat(1, 5, 0, "0.10.2");
	add_plane_stat(2, 4, 17, NULL);
	end_plane();
	help_xspace(&b, false);
	help_pb_text(&plane, 2, "Task Environment");
	help_xplane_meta(&plane, 5, 1, "profile_start_time");
	add_plane_stat(1, 3, UINT64_C(1795964574961839139), NULL);
	end_plane();
	t = help_xplane_read(buf_view(&b), 0, &report);
	ck_assert_uint_eq(t->n_versions, 1);
	ck_assert(str_eq(t->versions[0].key, STR("jax")) && str_eq(t->versions[0].value, STR("0.10.2")));
	ck_assert(t->has_base && t->base_ns == INT64_C(1795964574961839139));
	ck_assert(str_eq(t->host_name, STR("host-1")));
	trace_free(t);
}
END_TEST

/* Wherever memory gives out, it is an error, or told as a loss, or nothing is missing. */
START_TEST(memory_that_gives_out_is_told)
{
	bool over_at_last = false;
	unsigned failures = 0;

	help_xspace(&b, _i);
	for (unsigned nth = 1; nth < 500 && !over_at_last; nth++) {
		struct xplane_reader *r = xplane_reader_new(1000000, &report);
		struct trace *t = NULL;
		struct err e = { 0 };
		int rc;

		report = (struct trace_report){ 0 };
		mem_fail_at(nth);
		xplane_reader_feed(r, buf_view(&b));
		rc = xplane_reader_end(r, &t, &e);
		over_at_last = help_fails_still();
		mem_fail_at(0);
		failures += rc < 0 || report.n_skips > 0;
		ck_assert_msg(
			rc == OK || (rc == E_NOMEM && e.text[0] != '\0'), "allocation %u: %s", nth, e.text);
		buf_reset(&said);
		if (t != NULL && report.n_skips == 0) {
			help_xla_say(t, &said);
			ck_assert_msg(str_eq(buf_view(&said), str_of(help_xspace_said)), "allocation %u: %s",
				nth, said.p);
		}
		trace_free(t);
		xplane_reader_free(r);
	}
	ck_assert(over_at_last);
	ck_assert_uint_gt(failures, 5);
}
END_TEST

START_TEST(what_is_no_xspace_is_refused)
{
	ck_assert_ptr_null(help_xplane_read(STR(""), 0, &report));
	ck_assert_ptr_null(help_xplane_read(STR("hello, world"), 0, &report));
	ck_assert_ptr_null(help_xplane_read(STR("\x08\x01\x10\x02"), 0, &report));
}
END_TEST

START_TEST(past_max_events_the_rest_is_counted)
{
	struct trace_report r = { 0 };
	struct xplane_reader *reader = xplane_reader_new(3, &r);
	struct trace *t = NULL;
	struct err e = { 0 };

	help_xspace(&b, false);
	xplane_reader_feed(reader, buf_view(&b));
	ck_assert_int_eq(xplane_reader_end(reader, &t, &e), OK);
	ck_assert_uint_eq(t->events.n, 3);
	ck_assert_uint_eq(trace_report_find(&r, TRACE_TOO_MANY)->count, 5);
	trace_free(t);
	xplane_reader_free(reader);
}
END_TEST

Suite *suite_xplane(void)
{
	Suite *s = suite_create("xplane");
	TCase *t = tcase_create("xplane");

	tcase_add_checked_fixture(t, begin, over);
	tcase_add_loop_test(t, names_may_stand_before_the_events_or_behind, 0, 2);
	tcase_add_loop_test(t, a_file_cut_into_blocks_at_any_byte_is_the_same, 0, 2);
	tcase_add_loop_test(t, a_file_that_ends_anywhere_gives_what_was_there, 0, 2);
	tcase_add_test(t, bytes_changed_at_random_are_no_more_than_damage);
	tcase_add_test(t, an_event_without_a_name_is_counted_with_its_place);
	tcase_add_test(t, damage_inside_an_event_costs_that_event);
	tcase_add_test(t, damage_between_planes_ends_the_file);
	tcase_add_test(t, times_that_do_not_fit_are_counted);
	tcase_add_test(t, what_the_metadata_says_of_an_event_counts_where_the_event_says_nothing);
	tcase_add_test(t, a_sum_of_events_is_no_call);
	tcase_add_test(t, names_that_are_no_utf_8_are_mended);
	tcase_add_test(t, lines_may_stand_at_times_since_1970);
	tcase_add_test(t, versions_clock_and_host_are_found);
	tcase_add_loop_test(t, memory_that_gives_out_is_told, 0, 2);
	tcase_add_test(t, what_is_no_xspace_is_refused);
	tcase_add_test(t, past_max_events_the_rest_is_counted);
	suite_add_tcase(s, t);
	return s;
}
