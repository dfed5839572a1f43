/* report.h — what reading a trace met: what was lost, what was merely odd, and the limits it was read under.
 * Every reason has a stable word. Reasons of loss stand in skips and make a command say so by its exit status; the
 * others stand in notes: dialects and curiosities that cost nothing.
 *
 *	truncated	    the file ends early: everything before was read
 *	bad_checksum	    the compressed file's checksum is not that of its content
 *	bad_data	    the compressed data is damaged from there on
 *	bad_json	    text in the list of events that is no event
 *	bad_number	    an event whose ts or dur is no number, or too large
 *	no_time, no_name    an event without ts, without name
 *	bad_event	    something in the list of events that is no object
 *	bad_value	    an impossible value, left out: a duration of years, a share above 1
 *	bad_message	    bytes that are no protobuf: the message they are in, or the rest of the file
 *	too_many	    past max_events, or more names than fit
 *
 *	empty_object	    {} among the events
 *	unfinished	    an event without dur or with one below 0: counted with no time
 *	open_array	    a bare array without its end, as the format allows
 *	trailing_garbage    bytes behind the compressed data
 *	raw_quotes raw_controls bad_escapes bad_utf8 non_numbers extra_commas byte_order_mark cut_tokens
 *			    json_oddities of json/pull.h
 *
 * Runs on: one thread at a time. */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_limits {
	uint64_t max_output_bytes; /* of decompression */
	uint64_t max_ratio;	   /* output over input, once 1 MiB came out */
	uint64_t max_events;	   /* timed events kept */
	uint64_t max_plain_bytes;  /* of what is not compressed; 0: any */
};
#define TRACE_LIMITS_DEFAULT ((struct trace_limits){ UINT64_C(64) << 30, 1000, UINT64_C(200) << 20, 0 })

enum trace_reason {
	TRACE_TRUNCATED,
	TRACE_BAD_CHECKSUM,
	TRACE_BAD_DATA,
	TRACE_BAD_JSON,
	TRACE_BAD_NUMBER,
	TRACE_NO_TIME,
	TRACE_NO_NAME,
	TRACE_BAD_EVENT,
	TRACE_BAD_VALUE,
	TRACE_BAD_MESSAGE,
	TRACE_TOO_MANY,
	TRACE_LOSSES, /* from here on nothing is lost */
	TRACE_EMPTY_OBJECT = TRACE_LOSSES,
	TRACE_UNFINISHED,
	TRACE_OPEN_ARRAY,
	TRACE_TRAILING_GARBAGE,
	TRACE_RAW_QUOTES,
	TRACE_RAW_CONTROLS,
	TRACE_BAD_ESCAPES,
	TRACE_BAD_UTF8,
	TRACE_NON_NUMBERS,
	TRACE_EXTRA_COMMAS,
	TRACE_BYTE_ORDER_MARK,
	TRACE_CUT_TOKENS,
	TRACE_REASONS
};
const char *trace_reason_word(enum trace_reason reason);
const char *trace_reason_meaning(enum trace_reason reason); /* for people: "the file ends early; …" */

struct trace_skip {
	const char *reason; /* a word of the list above */
	uint64_t count;
	uint64_t offset; /* of the first one, in the decompressed text */
};
enum { TRACE_SKIPS_MAX = 16 };

struct trace_report {
	uint64_t events;    /* timed events that the numbers are made of */
	uint64_t bytes;	    /* of decompressed text */
	uint64_t raw_bytes; /* of the file */
	struct trace_skip skips[TRACE_SKIPS_MAX]; /* what was lost */
	size_t n_skips;
	struct trace_skip notes[TRACE_SKIPS_MAX]; /* what was odd; offset 0 where it is not known */
	size_t n_notes;
};

/* Adds count to the reason's entry, which keeps the offset of its first. Nothing for a count of 0. */
void trace_report_add(struct trace_report *r, enum trace_reason reason, uint64_t count, uint64_t offset);

/* What tolerant reading met, as notes: where each was is not known. */
struct json_oddities;
void trace_report_oddities(struct trace_report *r, const struct json_oddities *o);
const struct trace_skip *trace_report_find(const struct trace_report *r, enum trace_reason reason); /* or NULL */

#endif
