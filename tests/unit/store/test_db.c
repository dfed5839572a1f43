#include "world.h"

#include <stdio.h>

#include "store/db.h"

Suite *suite_db(void);

static void path_in(const struct world *w, char out[128])
{
	snprintf(out, 128, "%s/test.sqlite", w->dir);
}

START_TEST(a_statement_past_its_deadline_is_interrupted)
{
	struct world w;
	char path[128];
	int64_t n, before = clock_mono_ns();
	struct db *db;

	world_open(&w, 120);
	path_in(&w, path);
	world_ok(&w, db_open(&db, path, DB_WRITER, &w.err));
	db_deadline(db, clock_mono_ns() + 50 * NS_PER_MS);
	ck_assert_int_eq(db_number(db,
				 "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
				 "count(*) FROM c",
				 &n, &w.err),
		E_LIMIT);
	ck_assert_msg(str_contains(str_of(w.err.text), STR("took too long")), "%s", w.err.text);
	ck_assert_int_lt(clock_mono_ns() - before, 5 * NS_PER_S);
	db_deadline(db, 0);
	world_ok(&w, db_number(db, "SELECT 7", &n, &w.err));
	ck_assert_int_eq(n, 7);
	db_close(db);
	world_close(&w);
}
END_TEST

START_TEST(a_failed_statement_is_silent_until_it_is_closed)
{
	struct world w;
	char path[128];
	struct stmt s;
	struct db *db;

	world_open(&w, 121);
	path_in(&w, path);
	world_ok(&w, db_open(&db, path, DB_WRITER, &w.err));
	stmt_open(&s, db, "SELECT gone FROM nowhere");
	stmt_i64(&s, 1);
	stmt_str(&s, STR("x"));
	ck_assert(!stmt_row(&s));
	ck_assert_int_eq(stmt_close(&s, &w.err), E_SYS);
	ck_assert_msg(str_contains(str_of(w.err.text), STR("nowhere")), "%s", w.err.text);
	stmt_open(&s, db, "SELECT ?");
	stmt_i64(&s, 1);
	stmt_i64(&s, 2); /* one too many */
	ck_assert_int_eq(stmt_run(&s, NULL), E_SYS);
	db_close(db);
	world_close(&w);
}
END_TEST

START_TEST(a_reader_cannot_write)
{
	struct world w;
	char path[128];
	struct db *writer, *reader;

	world_open(&w, 122);
	path_in(&w, path);
	world_ok(&w, db_open(&writer, path, DB_WRITER, &w.err));
	world_ok(&w, db_exec(writer, "CREATE TABLE t (a)", &w.err));
	world_ok(&w, db_open(&reader, path, DB_READER, &w.err));
	ck_assert_int_lt(db_exec(reader, "INSERT INTO t VALUES (1)", &w.err), 0);
	db_close(reader);
	db_close(writer);
	world_close(&w);
}
END_TEST

START_TEST(an_open_snapshot_makes_emptying_the_log_wait_and_not_fail)
{
	struct world w;
	char path[128];
	struct db *writer, *reader;
	int64_t n;

	world_open(&w, 123);
	path_in(&w, path);
	world_ok(&w, db_open(&writer, path, DB_WRITER, &w.err));
	world_ok(&w, db_exec(writer, "CREATE TABLE t (a)", &w.err));
	world_ok(&w, db_open(&reader, path, DB_READER, &w.err));
	world_ok(&w, db_exec(reader, "BEGIN", &w.err));
	world_ok(&w, db_number(reader, "SELECT count(*) FROM t", &n, &w.err));
	world_ok(&w, db_exec(writer, "INSERT INTO t VALUES (1)", &w.err));
	ck_assert_int_eq(db_checkpoint(writer, true, &w.err), E_BUSY);
	world_ok(&w, db_number(reader, "SELECT count(*) FROM t", &n, &w.err));
	ck_assert_int_eq(n, 0); /* still its moment */
	db_rollback(reader);
	world_ok(&w, db_checkpoint(writer, true, &w.err));
	world_ok(&w, db_number(reader, "SELECT count(*) FROM t", &n, &w.err));
	ck_assert_int_eq(n, 1);
	db_close(reader);
	db_close(writer);
	world_close(&w);
}
END_TEST

Suite *suite_db(void)
{
	Suite *s = suite_create("store/db");
	TCase *tc = tcase_create("db");

	tcase_add_test(tc, a_statement_past_its_deadline_is_interrupted);
	tcase_add_test(tc, a_failed_statement_is_silent_until_it_is_closed);
	tcase_add_test(tc, a_reader_cannot_write);
	tcase_add_test(tc, an_open_snapshot_makes_emptying_the_log_wait_and_not_fail);
	suite_add_tcase(s, tc);
	return s;
}
