#include "base/quantity.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/size.h"

static const char *const names[] = {
	[QUANTITY_NUMBER] = "a whole number",
	[QUANTITY_DURATION] = "a duration such as 90s, 5m or 7d",
	[QUANTITY_SIZE] = "a size such as 64KiB or 2GiB",
};
_Static_assert(COUNT(names) == QUANTITIES, "name every quantity");

static int parse(enum quantity q, struct str text, int64_t *out)
{
	switch (q) {
	case QUANTITY_NUMBER: return str_to_i64(text, out);
	case QUANTITY_DURATION: return clock_parse_duration(text, out);
	case QUANTITY_SIZE: return size_parse(text, out);
	case QUANTITIES: break;
	}
	must_fail(__FILE__, __LINE__, "a quantity");
}

int quantity_parse(enum quantity q, struct str text, int64_t min, int64_t max, int64_t *out)
{
	int64_t v = 0;
	int rc = parse(q, text, &v);

	if (rc < 0)
		return rc;
	if ((min != 0 || max != 0) && (v < min || v > max))
		return E_LIMIT;
	*out = v;
	return OK;
}

static void put(enum quantity q, int64_t v, struct buf *out)
{
	char text[CLOCK_TEXT];

	if (q == QUANTITY_DURATION)
		buf_str(out, clock_duration(v, text));
	else if (q == QUANTITY_SIZE)
		buf_str(out, size_exact(v, text));
	else
		buf_fmt(out, "%" PRId64, v);
}

/* An end that nobody can reach is no end. */
void quantity_words(enum quantity q, int64_t min, int64_t max, struct buf *out)
{
	bool capped = max != INT64_MAX;

	buf_text(out, names[q]);
	if ((min == 0 && max == 0) || (!capped && min == 0 && q != QUANTITY_NUMBER))
		return;
	buf_text(out, capped ? " from " : " of at least ");
	put(q, min, out);
	if (capped) {
		buf_text(out, " to ");
		put(q, max, out);
	}
}

int choice_parse(const char *const *words, struct str text, int64_t *out)
{
	for (int64_t i = 0; words[i] != NULL; i++)
		if (str_eq(text, str_of(words[i]))) {
			*out = i;
			return OK;
		}
	return E_FORMAT;
}

void choice_words(const char *const *words, struct buf *out)
{
	buf_text(out, "one of ");
	for (size_t i = 0; words[i] != NULL; i++)
		buf_fmt(out, "%s%s", i ? ", " : "", words[i]);
}
