#include "wire/scan.h"

#include <stdint.h>

#include "base/enc.h"
#include "json/text.h"
#include "profile/window.h"

enum scan_type { SCAN_NUMBER, SCAN_NUMBERS, SCAN_DOUBLE, SCAN_TEXT, SCAN_BYTES, SCAN_MESSAGE };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_FIXED32 = 5 };

/* Numbers stand alone or packed, both are protobuf; the others have one form on the wire. */
static const int wire_type_of[] = {
	[SCAN_NUMBER] = WIRE_VARINT,  [SCAN_NUMBERS] = WIRE_VARINT, [SCAN_DOUBLE] = WIRE_FIXED64,
	[SCAN_TEXT] = WIRE_LENGTH,    [SCAN_BYTES] = WIRE_LENGTH,   [SCAN_MESSAGE] = WIRE_LENGTH,
};

struct scan_message;

struct scan_field {
	const char *name;
	enum scan_type type;
	size_t max; /* how many: 1 where the field is not repeated; WINDOWS_MAX: what the caller says */
	const struct scan_message *inner;
};

enum { FIELDS = 20 }; /* field numbers are below this in every message */

struct scan_message {
	struct scan_field fields[FIELDS]; /* by field number; without a name: not known, passed over */
};

#define WINDOWS_MAX SIZE_MAX

static const struct scan_message label_message = { {
	[1] = { "key", SCAN_NUMBER, 1, NULL },
	[2] = { "value", SCAN_NUMBER, 1, NULL },
} };

static const struct scan_message gauge_message = { {
	[1] = { "name", SCAN_NUMBER, 1, NULL },
	[2] = { "unit", SCAN_NUMBER, 1, NULL },
	[3] = { "value", SCAN_DOUBLE, 1, NULL },
	[4] = { "labels", SCAN_MESSAGE, WINDOW_LABELS_MAX, &label_message },
} };

static const struct scan_message ops_message = { {
	[1] = { "name", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[2] = { "kind", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[3] = { "calls", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[4] = { "device_total_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[5] = { "device_self_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[6] = { "cpu_total_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[7] = { "cpu_self_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[8] = { "orphan_calls", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[9] = { "orphan_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[10] = { "basis", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[11] = { "min_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[12] = { "max_ns", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[13] = { "hist_zero", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[14] = { "hist_buckets", SCAN_NUMBERS, WINDOW_OPS_MAX, NULL },
	[15] = { "hist_delta", SCAN_NUMBERS, WINDOW_BUCKETS_MAX, NULL },
	[16] = { "hist_count", SCAN_NUMBERS, WINDOW_BUCKETS_MAX, NULL },
} };

static const struct scan_message window_message = { {
	[1] = { "id", SCAN_BYTES, 1, NULL },
	[2] = { "service", SCAN_NUMBER, 1, NULL },
	[3] = { "deploy", SCAN_NUMBER, 1, NULL },
	[4] = { "host", SCAN_NUMBER, 1, NULL },
	[5] = { "worker", SCAN_NUMBER, 1, NULL },
	[6] = { "source", SCAN_NUMBER, 1, NULL },
	[7] = { "start_ns", SCAN_NUMBER, 1, NULL },
	[8] = { "dur_ns", SCAN_NUMBER, 1, NULL },
	[9] = { "steps", SCAN_NUMBER, 1, NULL },
	[10] = { "steps_from", SCAN_NUMBER, 1, NULL },
	[11] = { "has_device", SCAN_NUMBER, 1, NULL },
	[12] = { "flags", SCAN_NUMBER, 1, NULL },
	[13] = { "launches", SCAN_NUMBER, 1, NULL },
	[14] = { "events", SCAN_NUMBER, 1, NULL },
	[15] = { "skipped", SCAN_NUMBER, 1, NULL },
	[16] = { "labels", SCAN_MESSAGE, WINDOW_LABELS_MAX, &label_message },
	[17] = { "versions", SCAN_MESSAGE, WINDOW_LABELS_MAX, &label_message },
	[18] = { "ops", SCAN_MESSAGE, 1, &ops_message },
	[19] = { "gauges", SCAN_MESSAGE, WINDOW_GAUGES_MAX, &gauge_message },
} };

static const struct scan_message batch_message = { {
	[1] = { "agent_id", SCAN_TEXT, 1, NULL },
	[2] = { "agent_version", SCAN_TEXT, 1, NULL },
	[3] = { "strings", SCAN_TEXT, SCAN_STRINGS_MAX, NULL },
	[4] = { "windows", SCAN_MESSAGE, WINDOWS_MAX, &window_message },
} };

struct scan {
	size_t windows_max;
	struct err *e;
};

/* One field as it stands in the bytes. */
struct item {
	uint32_t number;
	int wire_type;
	struct str body; /* WIRE_LENGTH only */
};

static bool take_varint(struct str *in, uint64_t *v)
{
	size_t n = enc_get_varint((const uint8_t *)in->p, in->n, v);

	*in = str_from(*in, n);
	return n > 0;
}

static bool take_bytes(struct str *in, uint64_t n, struct str *body)
{
	if (n > in->n)
		return false;
	*body = str_upto(*in, (size_t)n);
	*in = str_from(*in, (size_t)n);
	return true;
}

static bool take_item(struct str *in, struct item *it)
{
	uint64_t tag, v;
	struct str none;

	if (!take_varint(in, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
		return false;
	*it = (struct item){ .number = (uint32_t)(tag >> 3), .wire_type = (int)(tag & 7) };
	switch (it->wire_type) {
	case WIRE_VARINT: return take_varint(in, &v);
	case WIRE_FIXED64: return take_bytes(in, 8, &none);
	case WIRE_FIXED32: return take_bytes(in, 4, &none);
	case WIRE_LENGTH: return take_varint(in, &v) && take_bytes(in, v, &it->body);
	default: return false; /* groups went out with proto2; 6 and 7 never were */
	}
}

/* Every number ends with the one byte that has no high bit. */
static int count_packed(struct str body, size_t *n)
{
	size_t ends = 0, run = 0;

	for (size_t i = 0; i < body.n; i++) {
		bool last = (body.p[i] & 0x80) == 0;

		run = last ? 0 : run + 1;
		ends += last;
		if (run >= ENC_VARINT_MAX)
			return E_FORMAT;
	}
	*n = ends;
	return run == 0 ? OK : E_FORMAT;
}

static int check_text(struct str text, struct err *e)
{
	if (text.n > WINDOW_NAME_MAX)
		return err_set(e, E_LIMIT, "%zu bytes, at most %d", text.n, WINDOW_NAME_MAX);
	if (str_find_byte(text, '\0') < text.n)
		return err_set(e, E_FORMAT, "holds a NUL");
	if (!json_utf8_valid(text))
		return err_set(e, E_FORMAT, "is not UTF-8");
	return OK;
}

static int scan_message(const struct scan *s, struct str in, const struct scan_message *m);

/* What is inside one item of a known field; *more is how many values it has. */
static int scan_inside(const struct scan *s, const struct scan_field *f, const struct item *it, size_t *more)
{
	bool packed = f->type == SCAN_NUMBERS && it->wire_type == WIRE_LENGTH;

	*more = 1;
	if (!packed && it->wire_type != wire_type_of[f->type])
		return err_set(s->e, E_FORMAT, "wire type %d where %d belongs", it->wire_type, wire_type_of[f->type]);
	if (packed && count_packed(it->body, more) < 0)
		return err_set(s->e, E_FORMAT, "packed numbers end in the middle of one");
	if (f->type == SCAN_TEXT)
		return check_text(it->body, s->e);
	if (f->type == SCAN_MESSAGE)
		return scan_message(s, it->body, f->inner);
	return OK;
}

static int scan_field(const struct scan *s, const struct scan_field *f, const struct item *it, size_t *count)
{
	size_t max = f->max == WINDOWS_MAX ? s->windows_max : f->max, more, at = *count;
	int rc = scan_inside(s, f, it, &more);

	if (rc == OK && more > max - *count)
		rc = err_set(s->e, E_LIMIT, "%zu values, at most %zu", *count + more, max);
	else if (rc == OK)
		*count += more;
	if (rc == OK)
		return OK;
	if (f->max > 1 && f->type != SCAN_NUMBERS)
		return err_add(s->e, "%s[%zu]", f->name, at);
	return err_add(s->e, "%s", f->name);
}

static int scan_message(const struct scan *s, struct str in, const struct scan_message *m)
{
	size_t counts[FIELDS] = { 0 }, whole = in.n;

	while (in.n > 0) {
		struct item it;
		size_t at = whole - in.n;
		int rc;

		if (!take_item(&in, &it))
			return err_set(s->e, E_FORMAT, "byte %zu: no protobuf field, or one that ends early", at);
		if (it.number >= FIELDS || m->fields[it.number].name == NULL)
			continue;
		rc = scan_field(s, &m->fields[it.number], &it, &counts[it.number]);
		if (rc < 0)
			return rc;
	}
	return OK;
}

int scan_batch(struct str bytes, size_t windows_max, struct err *e)
{
	struct err none;
	const struct scan s = { .windows_max = windows_max, .e = e != NULL ? e : &none };

	return scan_message(&s, bytes, &batch_message);
}
