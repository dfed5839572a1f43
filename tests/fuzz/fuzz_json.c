/* The reader: each mode reads the input whole and cut at random, and must tell the same both times. What strict mode
 * accepts, tolerant mode reads alike, and the tree has a place for. */
#include "base/hash.h"
#include "base/must.h"
#include "base/rand.h"
#include "json/tree.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/json_tokens.h"

enum { TOKENS_MAX = 256 << 20 };

static size_t random_cut(size_t offset, void *arg)
{
	(void)offset;
	return 1 + rand_below(arg, 1 + rand_below(arg, 30));
}

static bool skips_odd_keys(enum json_token after, struct str raw, void *arg)
{
	(void)arg;
	return after == JSON_KEY && raw.n % 2 == 1;
}

static bool skips_arrays(enum json_token after, struct str raw, void *arg)
{
	(void)arg;
	(void)raw;
	return after == JSON_ARRAY;
}

static const struct json_read ways[] = {
	{ .mode = JSON_STRICT, .limits = { 64, 1 << 20 } },
	{ .mode = JSON_STRICT, .limits = { 16, 24 }, .skips = skips_odd_keys },
	{ .mode = JSON_TOLERANT, .limits = { 64, 1 << 20 } },
	{ .mode = JSON_TOLERANT, .limits = { 16, 24 }, .recover_depth = 1 },
	{ .mode = JSON_TOLERANT, .limits = { 64, 1 << 20 }, .skips = skips_odd_keys, .recover_depth = 2 },
	{ .mode = JSON_TOLERANT, .limits = { 64, 24 }, .skips = skips_arrays, .recover_depth = 1 },
};

static void whole_and_cut(
	struct json_read how, struct str text, struct rand_gen *g, struct buf *whole, struct buf *parts)
{
	json_tokens(&how, text, whole);
	how.cut = random_cut;
	how.arg = g;
	json_tokens(&how, text, parts);
	must(whole->rc == OK && str_eq(buf_view(whole), buf_view(parts)));
}

/* The same tree, whether or not the input is one; the answer must agree with the reader's. */
static void as_tree(struct str text, bool sound)
{
	const struct json_node *root = NULL;
	struct arena a;
	struct err e = { 0 };
	int rc;

	arena_init(&a, 64 << 20);
	rc = json_parse(&a, text, &root, &e);
	must(rc != OK || (sound && root != NULL));
	must(rc == OK || !sound || rc == E_LIMIT || strstr(e.text, "a second value of key") != NULL);
	arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make(data, size);
	struct buf strict, whole, parts;
	struct rand_gen g;
	bool sound;

	rand_seed(&g, hash64(data, size, 1));
	buf_init(&strict, TOKENS_MAX);
	buf_init(&whole, TOKENS_MAX);
	buf_init(&parts, TOKENS_MAX);
	whole_and_cut(ways[0], text, &g, &strict, &parts);
	sound = !str_contains(buf_view(&strict), STR("\n-")) && strict.p[0] != '-';
	for (size_t i = 1; i < COUNT(ways); i++) {
		whole_and_cut(ways[i], text, &g, &whole, &parts);
		if (i == 2 && sound)
			must(str_eq(buf_view(&strict), buf_view(&whole)));
	}
	as_tree(text, sound);
	buf_fini(&strict);
	buf_fini(&whole);
	buf_fini(&parts);
	return 0;
}
