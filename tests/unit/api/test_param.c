#include "api/param.h"

#include <check.h>

#include "base/clock.h"

Suite *suite_param(void);

enum { ALL = (1 << PARAMS) - 1 };
static const int64_t now_ns = 1000000 * NS_PER_S;

static int parse(const char *query, uint32_t allowed, struct params *p, const char **name, struct err *e)
{
	static struct arena a;

	arena_fini(&a);
	arena_init(&a, 1 << 20);
	memset(e, 0, sizeof(*e));
	return params_parse(&a, str_of(query), allowed, now_ns, p, name, e);
}

START_TEST(every_parameter_has_its_place)
{
	const char *name = NULL;
	struct params p;
	struct err e;

	ck_assert_msg(parse("service=llm&deploy=v%2042&host=h+1&worker=0&op=aten%3A%3Amul&kind=cpu_op&from=now-1h&to=now&"
			    "resolution=5m&limit=7&cursor=abc&order=oldest&state=firing&before=a&after=b&",
			    ALL, &p, &name, &e) == OK, "%s", e.text);
	ck_assert(str_eq(p.q.service, STR("llm")));
	ck_assert(str_eq(p.q.deploy, STR("v 42")));
	ck_assert(str_eq(p.q.host, STR("h 1")));
	ck_assert(str_eq(p.q.worker, STR("0")));
	ck_assert(str_eq(p.q.op, STR("aten::mul")));
	ck_assert(p.q.has_kind && p.q.kind == OP_CPU_OP);
	ck_assert_int_eq(p.q.from_ns, now_ns - NS_PER_HOUR);
	ck_assert_int_eq(p.q.to_ns, now_ns);
	ck_assert_int_eq(p.q.resolution_ns, 5 * NS_PER_MIN);
	ck_assert_uint_eq(p.q.limit, 7);
	ck_assert(str_eq(p.q.cursor, STR("abc")));
	ck_assert(!p.q.newest_first);
	ck_assert(p.has_state && p.state == ALERT_FIRING);
	ck_assert(str_eq(p.before, STR("a")) && str_eq(p.after, STR("b")));
	ck_assert(param_given(&p, PARAM_FROM));
}
END_TEST

START_TEST(no_query_asks_for_all_that_is_kept)
{
	const char *name = NULL;
	struct params p;
	struct err e;

	ck_assert_int_eq(parse("", ALL, &p, &name, &e), OK);
	ck_assert_int_eq(p.q.from_ns, 0);
	ck_assert_int_eq(p.q.to_ns, INT64_MAX);
	ck_assert_uint_eq(p.q.limit, QUERY_LIMIT_DEFAULT);
	ck_assert(p.q.newest_first);
	ck_assert_uint_eq(p.given, 0);
}
END_TEST

static const struct {
	const char *query, *name, *says;
	uint32_t allowed;
} wrong[] = {
	{ "servce=x", "servce", "these are: service deploy", ALL },
	{ "host=x", "host", "these are: service", PARAM_BIT(PARAM_SERVICE) },
	{ "host=x", "host", "no parameters", 0 },
	{ "service=a&service=a", "service", "twice", ALL },
	{ "kind=aten", "kind", "cpu_op", ALL },
	{ "from=yesterday", "from", "RFC 3339", ALL },
	{ "to=2026-13-01T00:00:00Z", "to", "RFC 3339", ALL },
	{ "from=now&to=now-1h", "from", "before to", ALL },
	{ "from=now&to=now", "from", "before to", ALL },
	{ "resolution=0", "resolution", "5m", ALL },
	{ "resolution=-5m", "resolution", "5m", ALL },
	{ "limit=0", "limit", "1 to 10000", ALL },
	{ "limit=10001", "limit", "1 to 10000", ALL },
	{ "limit=1e3", "limit", "1 to 10000", ALL },
	{ "limit=", "limit", "1 to 10000", ALL },
	{ "order=up", "order", "newest", ALL },
	{ "state=on", "state", "firing", ALL },
	{ "service=%zz", NULL, "percent", ALL },
	{ "service=%4", NULL, "percent", ALL },
	{ "service=a%00b", NULL, "percent", ALL },
};

START_TEST(a_mistake_names_the_parameter_and_what_would_be_right)
{
	const char *name = NULL;
	struct params p;
	struct err e;

	ck_assert_msg(parse(wrong[_i].query, wrong[_i].allowed, &p, &name, &e) == E_USAGE, "%s", wrong[_i].query);
	ck_assert_pstr_eq(name, wrong[_i].name);
	ck_assert_msg(str_contains(str_of(e.text), str_of(wrong[_i].says)), "%s: %s", wrong[_i].query, e.text);
}
END_TEST

Suite *suite_param(void)
{
	Suite *s = suite_create("api/param");
	TCase *tc = tcase_create("param");

	tcase_add_test(tc, every_parameter_has_its_place);
	tcase_add_test(tc, no_query_asks_for_all_that_is_kept);
	tcase_add_loop_test(tc, a_mistake_names_the_parameter_and_what_would_be_right, 0, COUNT(wrong));
	suite_add_tcase(s, tc);
	return s;
}
