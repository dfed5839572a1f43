/* Names of ops, a line each, and behind a line "=" rules of a user in YAML. A name that a window may hold stays one, built-in
 * rules or the user's; the same name gives the same series; rules are taken or refused with a sentence. */
#include "base/must.h"
#include "json/text.h"
#include "tests/fuzz/fuzz.h"
#include "trace/name_rules.h"
#include "trace/normalise.h"

enum { NAMES_MAX = 200, SHORT_MAX = 64 };

static void check_name(struct str name, size_t max)
{
	must(name.n <= max);
	must(memchr(name.p, '\0', name.n) == NULL);
	must(json_utf8_valid(name));
}

static void one_name(const struct name_rules *rules, struct str name)
{
	struct buf one, two;
	struct str series, frame, compile;

	buf_init(&one, 4 << 20);
	buf_init(&two, 4 << 20);
	series = normalise_name(name, WINDOW_NAME_MAX, &one);
	check_name(series, WINDOW_NAME_MAX);
	must(str_eq(series, normalise_name(name, WINDOW_NAME_MAX, &two)));
	if (rules != NULL)
		check_name(name_rules_name(rules, series, &two), WINDOW_NAME_MAX);
	check_name(normalise_name(name, SHORT_MAX, &two), SHORT_MAX);
	(void)(name_is_region(name) && name_is_collective(name));
	must(!name_region_ids(name, &frame, &compile) || frame.n < compile.n);
	buf_fini(&one);
	buf_fini(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = str_make(data, size);
	size_t at = str_find(in, STR("\n=\n"));
	struct str names = str_upto(in, at), rest = str_from(in, at + 3);
	struct name_rules *rules = NULL;
	struct err e = { 0 };
	int rc = name_rules_parse(&rules, rest, "rules", &e);

	must(rc == OK ? rules != NULL : rc == e.code && e.text[0] != '\0');
	for (int i = 0; i < NAMES_MAX && names.p != NULL; i++) {
		struct str name = str_split(&names, '\n');

		if (json_utf8_valid(name))
			one_name(rules, name);
	}
	name_rules_free(rules);
	return 0;
}
