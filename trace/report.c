#include "trace/report.h"

#include "base/code.h"
#include "base/must.h"
#include "json/pull.h"

static const char *const words[] = {
	[TRACE_TRUNCATED] = "truncated",
	[TRACE_BAD_CHECKSUM] = "bad_checksum",
	[TRACE_BAD_DATA] = "bad_data",
	[TRACE_BAD_JSON] = "bad_json",
	[TRACE_BAD_NUMBER] = "bad_number",
	[TRACE_NO_TIME] = "no_time",
	[TRACE_NO_NAME] = "no_name",
	[TRACE_BAD_EVENT] = "bad_event",
	[TRACE_BAD_VALUE] = "bad_value",
	[TRACE_BAD_MESSAGE] = "bad_message",
	[TRACE_TOO_MANY] = "too_many",
	[TRACE_EMPTY_OBJECT] = "empty_object",
	[TRACE_UNFINISHED] = "unfinished",
	[TRACE_OPEN_ARRAY] = "open_array",
	[TRACE_TRAILING_GARBAGE] = "trailing_garbage",
	[TRACE_RAW_QUOTES] = "raw_quotes",
	[TRACE_RAW_CONTROLS] = "raw_controls",
	[TRACE_BAD_ESCAPES] = "bad_escapes",
	[TRACE_BAD_UTF8] = "bad_utf8",
	[TRACE_NON_NUMBERS] = "non_numbers",
	[TRACE_EXTRA_COMMAS] = "extra_commas",
	[TRACE_BYTE_ORDER_MARK] = "byte_order_mark",
	[TRACE_CUT_TOKENS] = "cut_tokens",
};
_Static_assert(COUNT(words) == TRACE_REASONS, "name every reason");

static const char *const meanings[] = {
	[TRACE_TRUNCATED] = "the file ends early; everything before its end is counted",
	[TRACE_BAD_CHECKSUM] = "the checksum is not that of the content; what could be read is counted",
	[TRACE_BAD_DATA] = "the compressed data is damaged; everything before is counted",
	[TRACE_BAD_JSON] = "text among the events that is no JSON; the events it is in are left out",
	[TRACE_BAD_NUMBER] = "events whose ts or dur is no number or too large are left out",
	[TRACE_NO_TIME] = "events without ts are left out",
	[TRACE_NO_NAME] = "events without a name are left out",
	[TRACE_BAD_EVENT] = "among the events stands something that is no object; it is left out",
	[TRACE_BAD_VALUE] = "impossible values are left out: durations of years, shares above 1",
	[TRACE_BAD_MESSAGE] = "bytes that are no protobuf; the event or table entry that they are in is left out",
	[TRACE_TOO_MANY] = "more events or names than fit; the rest is left out",
	[TRACE_EMPTY_OBJECT] = "empty objects among the events are passed over",
	[TRACE_UNFINISHED] = "ranges that never ended count with no time",
	[TRACE_OPEN_ARRAY] = "the array has no end, which the format allows",
	[TRACE_TRAILING_GARBAGE] = "behind the compressed data stands something else; it is not looked at",
	[TRACE_RAW_QUOTES] = "quotes in names are not escaped; they were taken as they stand",
	[TRACE_RAW_CONTROLS] = "control characters are not escaped; they were taken as they stand",
	[TRACE_BAD_ESCAPES] = "back-slashes that escape nothing were taken as they stand",
	[TRACE_BAD_UTF8] = "bytes that are no UTF-8 became U+FFFD",
	[TRACE_NON_NUMBERS] = "NaN, Infinity or another word that is no JSON stands for a value",
	[TRACE_EXTRA_COMMAS] = "commas too many were passed over",
	[TRACE_BYTE_ORDER_MARK] = "the file starts with a byte-order mark",
	[TRACE_CUT_TOKENS] = "texts longer than 1 MiB were cut",
};
_Static_assert(COUNT(meanings) == TRACE_REASONS, "say what every reason means");
_Static_assert((int)TRACE_LOSSES <= (int)TRACE_SKIPS_MAX, "there is room for each loss");
_Static_assert((int)TRACE_REASONS - (int)TRACE_LOSSES <= (int)TRACE_SKIPS_MAX, "there is room for each note");

const char *trace_reason_word(enum trace_reason reason)
{
	return words[reason];
}

const char *trace_reason_meaning(enum trace_reason reason)
{
	return meanings[reason];
}

/* The reason's entry, or where it would go. Words are compared by address: they come from the table only. */
static struct trace_skip *entry(struct trace_skip *v, size_t n, enum trace_reason reason)
{
	size_t i = 0;

	while (i < n && v[i].reason != words[reason])
		i++;
	must(i < TRACE_SKIPS_MAX);
	return &v[i];
}

void trace_report_add(struct trace_report *r, enum trace_reason reason, uint64_t count, uint64_t offset)
{
	bool lost = reason < TRACE_LOSSES;
	struct trace_skip *v = lost ? r->skips : r->notes;
	size_t *n = lost ? &r->n_skips : &r->n_notes;
	struct trace_skip *s;

	if (count == 0)
		return;
	s = entry(v, *n, reason);
	if (s == &v[*n]) {
		*s = (struct trace_skip){ .reason = words[reason], .offset = offset };
		++*n;
	}
	s->count += count;
}

const struct trace_skip *trace_report_find(const struct trace_report *r, enum trace_reason reason)
{
	bool lost = reason < TRACE_LOSSES;
	const struct trace_skip *v = lost ? r->skips : r->notes;
	size_t n = lost ? r->n_skips : r->n_notes;

	for (size_t i = 0; i < n; i++)
		if (v[i].reason == words[reason])
			return &v[i];
	return NULL;
}

void trace_report_oddities(struct trace_report *r, const struct json_oddities *o)
{
	const struct {
		enum trace_reason reason;
		uint64_t count;
	} odd[] = {
		{ TRACE_RAW_QUOTES, o->raw_quotes },	       { TRACE_RAW_CONTROLS, o->raw_controls },
		{ TRACE_BAD_ESCAPES, o->bad_escapes },	       { TRACE_BAD_UTF8, o->bad_utf8 },
		{ TRACE_NON_NUMBERS, o->non_numbers },	       { TRACE_EXTRA_COMMAS, o->extra_commas },
		{ TRACE_BYTE_ORDER_MARK, o->byte_order_mark }, { TRACE_CUT_TOKENS, o->cut_tokens },
	};

	for (size_t i = 0; i < COUNT(odd); i++)
		trace_report_add(r, odd[i].reason, odd[i].count, 0);
}
