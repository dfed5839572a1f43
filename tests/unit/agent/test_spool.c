#include "agent/spool.h"

#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/rand.h"
#include "tests/unit/agent/folder.h"

Suite *suite_spool(void);

static struct spool *sp;
static struct buf body;
static struct err e;
static struct spool_settings settings = { 1u << 20, 64u << 10 };

enum { HEAD = 16, RECORD = 12 };

static void setup(void)
{
	folder_make();
	buf_init(&body, SPOOL_RECORD_MAX);
	err_clear(&e);
	settings = (struct spool_settings){ 1u << 20, 64u << 10 };
}

static void teardown(void)
{
	spool_close(sp);
	sp = NULL;
	buf_fini(&body);
	folder_remove();
}

static void open_it(void)
{
	spool_close(sp);
	sp = NULL;
	ck_assert_msg(spool_open(&sp, folder_path("spool"), &settings, &e) == OK, "%s", e.text);
}

/* Record i: its number and some filling, so that records differ in length. */
static struct str record(unsigned i)
{
	static char text[4096];
	int n = snprintf(text, sizeof(text), "record %u ", i);

	memset(text + n, 'a' + (int)(i % 26), 20 + i % 50);
	return str_make(text, (size_t)n + 20 + i % 50);
}

static void append(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		ck_assert_msg(spool_append(sp, record(i), &e) == OK, "%s", e.text);
}

/* The waiting records are exactly from … to - 1. */
static void assert_waiting(unsigned from, unsigned to)
{
	struct spool_place at = spool_first(sp);

	ck_assert_uint_eq(spool_state(sp)->records, to - from);
	for (unsigned i = from; i < to; i++) {
		ck_assert_msg(spool_read(sp, &at, &body, &e) == OK, "record %u: %s", i, e.text);
		ck_assert_msg(str_eq(buf_view(&body), record(i)), "record %u is \"%s\"", i, body.p);
	}
	ck_assert_int_eq(spool_read(sp, &at, &body, &e), E_NOT_FOUND);
}

static void forget(unsigned n)
{
	struct spool_place at = spool_first(sp);

	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(spool_read(sp, &at, &body, &e), OK);
	spool_forget(sp, at);
}

START_TEST(records_come_back_in_order_also_after_a_restart)
{
	open_it();
	assert_waiting(0, 0);
	append(0, 100);
	assert_waiting(0, 100);
	open_it();
	assert_waiting(0, 100);
	append(100, 130);
	open_it();
	assert_waiting(0, 130);
}
END_TEST

START_TEST(what_is_forgotten_stays_forgotten_after_a_restart)
{
	open_it();
	append(0, 50);
	forget(20);
	assert_waiting(20, 50);
	open_it();
	assert_waiting(20, 50);
	forget(30);
	assert_waiting(50, 50);
	open_it();
	assert_waiting(50, 50);
	append(50, 60);
	open_it();
	assert_waiting(50, 60);
}
END_TEST

START_TEST(segments_go_when_nothing_waits_in_them)
{
	settings.segment_bytes = 1000;
	open_it();
	append(0, 200);
	ck_assert_uint_gt(folder_count("spool", ".seg"), 10);
	forget(150);
	assert_waiting(150, 200);
	ck_assert_uint_le(folder_count("spool", ".seg"), 6);
	forget(50);
	ck_assert_uint_le(folder_count("spool", ".seg"), 1);
	open_it();
	append(200, 300);
	assert_waiting(200, 300);
	open_it();
	assert_waiting(200, 300);
}
END_TEST

START_TEST(a_lost_position_means_that_records_are_seen_again)
{
	open_it();
	append(0, 30);
	forget(10);
	spool_close(sp);
	sp = NULL;
	ck_assert_int_eq(truncate(folder_path("spool/position"), 20), 0);
	open_it();
	assert_waiting(0, 30);
}
END_TEST

START_TEST(a_spool_survives_a_last_record_that_is_torn_at_any_byte)
{
	struct stat st;
	size_t last = RECORD + record(9).n;
	const char *segment;

	open_it();
	append(0, 10);
	segment = folder_first("spool", ".seg");
	ck_assert_int_eq(stat(segment, &st), 0);
	for (size_t cut = 1; cut <= last; cut++) {
		ck_assert_int_eq(truncate(segment, st.st_size - (off_t)cut), 0);
		open_it();
		assert_waiting(0, 9);
		ck_assert_uint_eq(spool_state(sp)->torn, last - cut);
		append(9, 10);
		open_it();
		assert_waiting(0, 10);
	}
}
END_TEST

/* A file system may have made the file long before its blocks were written: zeros, then. */
START_TEST(a_spool_survives_a_last_record_that_is_zeros_from_any_byte_on)
{
	size_t last = RECORD + record(9).n;
	const char *segment;
	struct stat st;

	open_it();
	append(0, 10);
	segment = folder_first("spool", ".seg");
	ck_assert_int_eq(stat(segment, &st), 0);
	for (size_t cut = 1; cut <= last; cut++) {
		ck_assert_int_eq(truncate(segment, st.st_size - (off_t)cut), 0);
		ck_assert_int_eq(truncate(segment, st.st_size), 0);
		open_it();
		assert_waiting(0, 9);
		append(9, 10);
		open_it();
		assert_waiting(0, 10);
	}
}
END_TEST

START_TEST(a_segment_that_was_killed_while_it_was_made_is_passed_over)
{
	for (off_t n = 0; n <= HEAD; n++) {
		FILE *f;

		open_it();
		append((unsigned)n, (unsigned)n + 1);
		spool_close(sp);
		sp = NULL;
		f = fopen(folder_path("spool/00000000000000ff.seg"), "w");
		ck_assert_ptr_nonnull(f);
		fclose(f);
		ck_assert_int_eq(truncate(folder_path("spool/00000000000000ff.seg"), n), 0);
		open_it();
		assert_waiting(0, (unsigned)n + 1);
		spool_close(sp);
		sp = NULL;
		ck_assert_int_eq(unlink(folder_path("spool/00000000000000ff.seg")), 0);
	}
}
END_TEST

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c;

	ck_assert_int_eq(pread(fd, &c, 1, at), 1);
	c ^= 0x10;
	ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

START_TEST(a_changed_byte_costs_the_record_that_it_is_in_and_no_other)
{
	const char *segment;
	off_t start = HEAD;

	open_it();
	append(0, 10);
	segment = folder_first("spool", ".seg");
	for (unsigned i = 0; i < 4; i++)
		start += RECORD + (off_t)record(i).n;
	for (off_t at = 0; at < RECORD + (off_t)record(4).n; at++) {
		struct spool_place place;

		flip(segment, start + at);
		open_it();
		ck_assert_uint_eq(spool_state(sp)->records, 9);
		ck_assert_uint_eq(spool_state(sp)->torn, 0);
		place = spool_first(sp);
		for (unsigned i = 0; i < 10; i++) {
			if (i == 4)
				continue;
			ck_assert_int_eq(spool_read(sp, &place, &body, &e), OK);
			ck_assert(str_eq(buf_view(&body), record(i)));
		}
		ck_assert_int_eq(spool_read(sp, &place, &body, &e), E_NOT_FOUND);
		ck_assert_uint_eq(spool_state(sp)->damaged, 1);
		flip(segment, start + at);
	}
}
END_TEST

START_TEST(damaged_records_do_not_stop_those_behind_from_being_forgotten)
{
	open_it();
	append(0, 10);
	flip(folder_first("spool", ".seg"), HEAD + RECORD + 3);
	open_it();
	forget(4); /* 1, 2, 3, 4 */
	assert_waiting(5, 10);
	open_it();
	assert_waiting(5, 10);
}
END_TEST

START_TEST(a_spool_of_nothing_but_damage_can_be_forgotten)
{
	struct spool_place at;

	open_it();
	append(0, 1);
	flip(folder_first("spool", ".seg"), HEAD + RECORD + 3);
	at = spool_first(sp);
	ck_assert_int_eq(spool_read(sp, &at, &body, &e), E_NOT_FOUND);
	spool_forget(sp, spool_end(sp));
	assert_waiting(0, 0);
	append(1, 2);
	assert_waiting(1, 2);
}
END_TEST

START_TEST(a_full_spool_drops_its_oldest_and_counts_them)
{
	uint64_t each;

	settings = (struct spool_settings){ 4000, 500 };
	open_it();
	append(0, 200);
	each = spool_state(sp)->records;
	ck_assert_uint_lt(each, 60);
	ck_assert_uint_gt(each, 20);
	ck_assert_uint_le(spool_state(sp)->bytes, 4000);
	ck_assert_uint_eq(spool_state(sp)->dropped, 200 - each);
	assert_waiting((unsigned)(200 - each), 200);
	open_it();
	assert_waiting((unsigned)(200 - each), 200);
}
END_TEST

START_TEST(a_record_larger_than_the_spool_is_refused_and_drops_nothing)
{
	char *large = calloc(1, 5000);

	settings = (struct spool_settings){ 4000, 500 };
	open_it();
	append(0, 10);
	ck_assert_int_eq(spool_append(sp, str_make(large, 5000), &e), E_LIMIT);
	assert_waiting(0, 10);
	free(large);
}
END_TEST

START_TEST(forgetting_what_was_dropped_meanwhile_changes_nothing)
{
	struct spool_place at;
	uint64_t waiting;

	settings = (struct spool_settings){ 4000, 500 };
	open_it();
	append(0, 5);
	at = spool_first(sp);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(spool_read(sp, &at, &body, &e), OK);
	append(5, 200);
	waiting = spool_state(sp)->records;
	spool_forget(sp, at);
	ck_assert_uint_eq(spool_state(sp)->records, waiting);
	assert_waiting((unsigned)(200 - waiting), 200);
}
END_TEST

/* EFBIG is no ENOSPC: nothing is dropped for it. */
START_TEST(a_write_that_fails_leaves_the_spool_as_it_was)
{
	struct rlimit lim = { 300, 300 };

	signal(SIGXFSZ, SIG_IGN);
	open_it();
	append(0, 5);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &lim), 0);
	for (unsigned i = 5; i < 10; i++)
		if (spool_append(sp, record(i), &e) < 0)
			break;
	ck_assert_int_eq(e.code, E_SYS);
	ck_assert_uint_lt(spool_state(sp)->records, 10);
	assert_waiting(0, (unsigned)spool_state(sp)->records);
	open_it();
	ck_assert_uint_eq(spool_state(sp)->torn, 0);
}
END_TEST

/* A file system of 200 KiB in a mount namespace of the test's own; false where that is not allowed. */
static bool mount_small(const char *dir)
{
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", dir, "tmpfs", 0, "size=200k") == 0;
}

/* Somebody else takes all that is left. */
static void fill_disk(const char *name)
{
	for (bool full = false; !full;) {
		FILE *f = fopen(folder_path(name), "a");

		full = fputs("0123456789", f) < 0 || fflush(f) != 0;
		fclose(f);
	}
}

START_TEST(a_full_disk_drops_the_oldest_and_takes_the_new_one)
{
	unsigned waiting;

	ck_assert_int_eq(mkdir(folder_path("spool"), 0700), 0);
	if (!mount_small(folder_path("spool"))) {
		fprintf(stderr, "# no small file system can be mounted here: the full disk is not tried\n");
		return;
	}
	settings = (struct spool_settings){ 64u << 20, 20000 };
	open_it();
	append(0, 5000);
	waiting = (unsigned)spool_state(sp)->records;
	ck_assert_uint_gt(waiting, 500);
	ck_assert_uint_lt(waiting, 4000);
	ck_assert_uint_eq(spool_state(sp)->dropped, 5000 - waiting);
	assert_waiting(5000 - waiting, 5000);
	open_it();
	assert_waiting(5000 - waiting, 5000);
	fill_disk("spool/ballast");
	append(5000, 5100);
	assert_waiting(5100 - (unsigned)spool_state(sp)->records, 5100);
}
END_TEST

START_TEST(a_full_disk_takes_nothing_from_the_segment_at_hand)
{
	unsigned n = 10;

	ck_assert_int_eq(mkdir(folder_path("spool"), 0700), 0);
	if (!mount_small(folder_path("spool"))) {
		fprintf(stderr, "# no small file system can be mounted here: the full disk is not tried\n");
		return;
	}
	settings = (struct spool_settings){ 64u << 20, 1u << 20 };
	open_it();
	append(0, n);
	fill_disk("spool/ballast");
	while (spool_append(sp, record(n), &e) == OK && n < 1000) /* into the block that it has */
		n++;
	ck_assert_int_eq(e.code, E_FULL);
	ck_assert_uint_eq(spool_state(sp)->dropped, 0);
	assert_waiting(0, n);
	forget(n);
	ck_assert_int_eq(spool_append(sp, record(n), &e), OK); /* nothing waited in it: it went */
	assert_waiting(n, n + 1);
	ck_assert_int_eq(unlink(folder_path("spool/ballast")), 0);
	append(n + 1, n + 50);
	open_it();
	assert_waiting(n, n + 50);
}
END_TEST

static rlim_t files_were;

static void limit_files(bool to_none)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &lim), 0);
	if (to_none)
		files_were = lim.rlim_cur;
	lim.rlim_cur = to_none ? 0 : files_were;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lim), 0);
}

START_TEST(without_a_descriptor_nothing_counts_as_read_forgotten_or_dropped)
{
	struct spool_place at;
	unsigned n;

	settings = (struct spool_settings){ 4000, 500 };
	open_it();
	append(0, 100);
	n = (unsigned)spool_state(sp)->records;
	at = spool_first(sp);
	limit_files(true);
	ck_assert_int_eq(spool_read(sp, &at, &body, &e), E_SYS);
	spool_forget(sp, spool_end(sp));
	for (unsigned i = 0; i < 50; i++)
		if (spool_append(sp, record(100 + i), &e) < 0)
			break;
	ck_assert_int_eq(e.code, E_SYS);
	limit_files(false);
	ck_assert_uint_eq(spool_state(sp)->dropped, 100 - n);
	ck_assert_uint_eq(spool_state(sp)->damaged, 0);
	assert_waiting(100 - n, 100 - n + (unsigned)spool_state(sp)->records);
}
END_TEST

START_TEST(a_segment_that_somebody_removed_costs_its_own_records_alone)
{
	struct spool_place at;
	unsigned left = 0;

	settings.segment_bytes = 500;
	open_it();
	append(0, 30);
	ck_assert_int_eq(unlink(folder_path("spool/0000000000000002.seg")), 0);
	for (int times = 0; times < 2; times++) { /* what is sent again is read again */
		left = 0;
		at = spool_first(sp);
		while (spool_read(sp, &at, &body, &e) == OK)
			left++;
		ck_assert_uint_gt(left, 15);
		ck_assert_uint_lt(left, 30);
		ck_assert_uint_eq(spool_state(sp)->damaged, 1);
		ck_assert(str_eq(buf_view(&body), record(29)));
	}
	spool_forget(sp, at);
	assert_waiting(30, 30);
}
END_TEST

/* A link to itself, which not even root can open. */
static void put_loop(const char *name)
{
	ck_assert_int_eq(unlink(folder_path(name)), 0);
	ck_assert_int_eq(symlink(strrchr(name, '/') + 1, folder_path(name)), 0);
}

START_TEST(a_segment_that_never_opens_costs_its_own_records_alone)
{
	struct spool_place at;
	unsigned left = 0;

	settings.segment_bytes = 500;
	open_it();
	append(0, 30);
	put_loop("spool/0000000000000002.seg");
	for (int opened = 0; opened < 2; opened++, open_it()) {
		left = 0;
		at = spool_first(sp);
		while (spool_read(sp, &at, &body, &e) == OK)
			left++;
		ck_assert_int_eq(e.code, E_NOT_FOUND);
		ck_assert_uint_gt(left, 15);
		ck_assert_uint_lt(left, 30);
		ck_assert_uint_eq(spool_state(sp)->damaged, 1);
		ck_assert(str_eq(buf_view(&body), record(29)));
	}
	spool_forget(sp, at);
	assert_waiting(30, 30);
	append(30, 40);
	assert_waiting(30, 40);
}
END_TEST

START_TEST(a_second_process_is_kept_out)
{
	struct spool *other = NULL;

	open_it();
	ck_assert_int_eq(spool_open(&other, folder_path("spool"), &settings, &e), E_BUSY);
	ck_assert_ptr_null(other);
}
END_TEST

/* Kills the writer at every point of an append: what was acknowledged is there, in order, and nothing twice. */
static void die_while_appending(const char *point, unsigned pass)
{
	char value[64];

	snprintf(value, sizeof(value), "%s:%u", point, pass);
	crash_arm(value);
	open_it();
	for (unsigned i = (unsigned)spool_state(sp)->records;; i++) {
		append(i, i + 1);
		folder_write("acknowledged", record(i));
	}
}

START_TEST(nothing_that_was_acknowledged_is_lost_by_kill)
{
	static const char *const points[] = { "spool.segment-made", "spool.head-written", "spool.written", "spool.synced" };

	settings.segment_bytes = 300;
	for (unsigned round = 0; round < 40; round++) {
		pid_t pid = fork();
		struct buf last;
		int status;
		unsigned n;

		if (pid == 0)
			die_while_appending(points[round % COUNT(points)], 1 + round % 3);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		open_it();
		n = (unsigned)spool_state(sp)->records;
		assert_waiting(0, n);
		buf_init(&last, 4096);
		if (folder_has("acknowledged")) {
			unsigned number;

			folder_read("acknowledged", &last);
			ck_assert_int_eq(sscanf(last.p, "record %u", &number), 1);
			ck_assert_uint_lt(number, n);
		}
		buf_fini(&last);
		spool_close(sp);
		sp = NULL;
	}
}
END_TEST

/* Random deeds against a plain array: append, forget, restart. */
START_TEST(a_spool_behaves_like_a_queue)
{
	struct rand_gen g;
	unsigned first = 0, next = 0;

	rand_seed(&g, 11);
	settings.segment_bytes = 700;
	open_it();
	for (int deed = 0; deed < 200; deed++) {
		unsigned n = (unsigned)rand_below(&g, 12);

		switch (rand_below(&g, 4)) {
		case 0:
		case 1:
			append(next, next + n);
			next += n;
			break;
		case 2:
			n = n < next - first ? n : next - first;
			forget(n);
			first += n;
			break;
		default: open_it(); break;
		}
		assert_waiting(first, next);
	}
}
END_TEST

Suite *suite_spool(void)
{
	Suite *s = suite_create("agent/spool");
	TCase *tc = tcase_create("spool");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, records_come_back_in_order_also_after_a_restart);
	tcase_add_test(tc, what_is_forgotten_stays_forgotten_after_a_restart);
	tcase_add_test(tc, segments_go_when_nothing_waits_in_them);
	tcase_add_test(tc, a_lost_position_means_that_records_are_seen_again);
	tcase_add_test(tc, a_spool_survives_a_last_record_that_is_torn_at_any_byte);
	tcase_add_test(tc, a_spool_survives_a_last_record_that_is_zeros_from_any_byte_on);
	tcase_add_test(tc, a_segment_that_was_killed_while_it_was_made_is_passed_over);
	tcase_add_test(tc, a_changed_byte_costs_the_record_that_it_is_in_and_no_other);
	tcase_add_test(tc, damaged_records_do_not_stop_those_behind_from_being_forgotten);
	tcase_add_test(tc, a_spool_of_nothing_but_damage_can_be_forgotten);
	tcase_add_test(tc, a_full_spool_drops_its_oldest_and_counts_them);
	tcase_add_test(tc, a_record_larger_than_the_spool_is_refused_and_drops_nothing);
	tcase_add_test(tc, forgetting_what_was_dropped_meanwhile_changes_nothing);
	tcase_add_test(tc, a_write_that_fails_leaves_the_spool_as_it_was);
	tcase_add_test(tc, a_full_disk_drops_the_oldest_and_takes_the_new_one);
	tcase_add_test(tc, without_a_descriptor_nothing_counts_as_read_forgotten_or_dropped);
	tcase_add_test(tc, a_segment_that_somebody_removed_costs_its_own_records_alone);
	tcase_add_test(tc, a_segment_that_never_opens_costs_its_own_records_alone);
	tcase_add_test(tc, a_full_disk_takes_nothing_from_the_segment_at_hand);
	tcase_add_test(tc, a_second_process_is_kept_out);
	tcase_add_test(tc, nothing_that_was_acknowledged_is_lost_by_kill);
	tcase_add_test(tc, a_spool_behaves_like_a_queue);
	suite_add_tcase(s, tc);
	return s;
}
