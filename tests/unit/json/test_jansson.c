/* The tree against jansson's: the same documents are accepted, and they say the same. Built where jansson is. */
#include <check.h>
#include <jansson.h>

#include "json/num.h"
#include "json/tree.h"
#include "tests/support/json_random.h"
#include "tests/support/prop.h"

Suite *suite_jansson(void);

static bool same(const struct json_node *ours, json_t *theirs);

static bool same_members(const struct json_node *ours, json_t *theirs)
{
	if (ours->n != json_object_size(theirs))
		return false;
	for (size_t i = 0; i < ours->n; i++) {
		struct str key = ours->items[i].key;

		if (!same(&ours->items[i], json_object_getn(theirs, key.p, key.n)))
			return false;
	}
	return true;
}

static bool same_elements(const struct json_node *ours, json_t *theirs)
{
	if (ours->n != json_array_size(theirs))
		return false;
	for (size_t i = 0; i < ours->n; i++)
		if (!same(&ours->items[i], json_array_get(theirs, i)))
			return false;
	return true;
}

static bool same(const struct json_node *ours, json_t *theirs)
{
	double v;

	if (theirs == NULL)
		return false;
	switch (ours->kind) {
	case JSON_K_NULL: return json_is_null(theirs);
	case JSON_K_BOOL: return ours->truth ? json_is_true(theirs) : json_is_false(theirs);
	case JSON_K_NUMBER:
		return json_double(ours->text, &v) == OK && !(v < json_number_value(theirs)) &&
			!(v > json_number_value(theirs)) && json_is_number(theirs);
	case JSON_K_STRING:
		return json_is_string(theirs) &&
			str_eq(ours->text, str_make(json_string_value(theirs), json_string_length(theirs)));
	case JSON_K_ARRAY: return json_is_array(theirs) && same_elements(ours, theirs);
	case JSON_K_OBJECT: return json_is_object(theirs) && same_members(ours, theirs);
	case JSON_KINDS: break;
	}
	return false;
}

/* The two differ on purpose in lone surrogates and numbers that no double holds: ours takes both. */
static bool agree(struct str text)
{
	const struct json_node *ours = NULL;
	json_error_t why;
	json_t *theirs = json_loadb(text.p, text.n,
		JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
	struct arena a;
	bool good;

	arena_init(&a, 64 << 20);
	if (json_parse(&a, text, &ours, NULL) != OK)
		good = theirs == NULL;
	else if (theirs == NULL)
		good = json_error_code(&why) == json_error_numeric_overflow;
	else
		good = same(ours, theirs);
	json_decref(theirs);
	arena_fini(&a);
	return good;
}

static bool jansson_reads_the_same(struct rand_gen *g, size_t size, void *arg)
{
	/* no d: a surrogate would take one */
	static const char likely[] = "{}[]\",:\\ \n0123456789-+.eEtrufalsn\x01\x7f\xc3\xa9\xff";
	struct buf text;
	bool good;

	(void)arg;
	buf_init(&text, 1 << 24);
	json_random(g, size, 0, &text);
	good = agree(buf_view(&text));
	for (int i = 0; i < 50 && good; i++) {
		size_t at = rand_below(g, text.n);
		char kept = text.p[at];

		text.p[at] = likely[rand_below(g, sizeof(likely) - 1)];
		good = agree(buf_view(&text));
		if (rand_below(g, 3) != 0)
			text.p[at] = kept;
	}
	buf_fini(&text);
	return good;
}

START_TEST(jansson_accepts_and_reads_the_same)
{
	prop_check("jansson", 5000, 16, jansson_reads_the_same, NULL);
}
END_TEST

Suite *suite_jansson(void)
{
	Suite *s = suite_create("json/jansson");
	TCase *tc = tcase_create("jansson");

	tcase_add_test(tc, jansson_accepts_and_reads_the_same);
	suite_add_tcase(s, tc);
	return s;
}
