#include "tests/unit/json/cuts.h"

static size_t by_byte(size_t offset, void *arg)
{
	(void)offset;
	(void)arg;
	return 1;
}

size_t cut_once(size_t offset, void *arg)
{
	return offset == 0 ? *(size_t *)arg : SIZE_MAX;
}

bool cuts_skip_odd_keys(enum json_token after, struct str raw, void *arg)
{
	(void)arg;
	return after == JSON_KEY && raw.n % 2 == 1;
}

static bool skip_arrays(enum json_token after, struct str raw, void *arg)
{
	(void)arg;
	(void)raw;
	return after == JSON_ARRAY;
}

static const struct json_read ways[] = {
	{ .mode = JSON_STRICT, .limits = { 16, 20 } },
	{ .mode = JSON_TOLERANT, .limits = { 16, 20 } },
	{ .mode = JSON_TOLERANT, .limits = { 64, 1 << 20 }, .recover_depth = 1 },
	{ .mode = JSON_TOLERANT, .limits = { 64, 1 << 20 }, .recover_depth = 2 },
	{ .mode = JSON_STRICT, .limits = { 64, 1 << 20 }, .skips = cuts_skip_odd_keys },
	{ .mode = JSON_TOLERANT, .limits = { 64, 1 << 20 }, .skips = cuts_skip_odd_keys },
	{ .mode = JSON_TOLERANT, .limits = { 64, 20 }, .skips = cuts_skip_odd_keys, .recover_depth = 1 },
	{ .mode = JSON_TOLERANT, .limits = { 16, 20 }, .skips = skip_arrays },
};

/* The document in two ways, as text. */
struct readings {
	struct buf whole, parts;
};

static bool alike(struct readings *rs, const struct json_read *how, struct str text, const char *cut,
	size_t at, struct buf *why)
{
	json_tokens(how, text, &rs->parts);
	if (rs->whole.rc == OK && str_eq(buf_view(&rs->whole), buf_view(&rs->parts)))
		return true;
	buf_fmt(why, "%s %zu:\n%.*s\nwhole gives\n%.*s\nparts give\n%.*s", cut, at,
		STR_ARG(str_upto(text, 300)), STR_ARG(str_upto(buf_view(&rs->whole), 5000)),
		STR_ARG(str_upto(buf_view(&rs->parts), 5000)));
	return false;
}

static bool way_alike(struct readings *rs, struct json_read how, struct str text, size_t first, size_t last,
	struct buf *why)
{
	json_tokens(&how, text, &rs->whole);
	how.cut = by_byte;
	if (!alike(rs, &how, text, "blocks of", 1, why))
		return false;
	how.cut = cut_once;
	for (size_t at = first; at < last; at++) {
		how.arg = &at;
		if (!alike(rs, &how, text, "cut at", at, why))
			return false;
	}
	return true;
}

bool cuts_alike(struct str text, size_t first, size_t last, struct buf *why)
{
	struct readings rs;
	bool good = true;

	buf_init(&rs.whole, 64 << 20);
	buf_init(&rs.parts, 64 << 20);
	for (size_t w = 0; good && w < COUNT(ways); w++)
		good = way_alike(&rs, ways[w], text, first, last, why);
	buf_fini(&rs.whole);
	buf_fini(&rs.parts);
	return good;
}
