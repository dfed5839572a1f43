#include "trace/pb.h"

#include "base/mem.h"

enum state {
	AT_TAG,	   /* a tag, or the message's end */
	AT_VARINT, /* payload of type 0 */
	AT_FIXED,
	AT_LENGTH,
	AT_BYTES, /* PB_BYTES was said */
	IN_TEXT,
	IN_SKIP, /* up to skip_to */
	BROKEN,
};

enum { TYPE_VARINT, TYPE_FIXED64, TYPE_BYTES, TYPE_FIXED32 = 5, NUMBER_MAX = (1 << 29) - 1 };

struct pb {
	const uint8_t *p, *block_end;
	uint64_t at; /* offset of *p */
	enum state state;
	uint64_t end[PB_DEPTH_MAX]; /* offset behind each message that is open; the outermost never ends */
	unsigned depth;		    /* of them, less one */
	uint64_t value, skip_to, tag_at, number;
	unsigned bits;	/* of value that are there */
	unsigned fixed; /* bytes of a fixed number */
	size_t text_n;
	bool cut;
	char text[PB_TEXT_MAX];
};

struct pb *pb_new(void)
{
	struct pb *p = mem_get(sizeof(*p));

	p->end[0] = UINT64_MAX;
	return p;
}

void pb_free(struct pb *p)
{
	mem_free(p);
}

void pb_feed(struct pb *p, struct str block)
{
	p->p = (const uint8_t *)block.p;
	p->block_end = p->p + block.n;
}

uint64_t pb_offset(const struct pb *p)
{
	return p->at;
}

bool pb_is_complete(const struct pb *p)
{
	return p->depth == 0 && p->state == AT_TAG && p->bits == 0;
}

static uint64_t room(const struct pb *p)
{
	return p->end[p->depth] - p->at;
}

/* A part of a token: it is whole, wants another block, or cannot be. */
enum part { WHOLE, CUT, BAD };

static enum part read_varint(struct pb *p)
{
	while (p->p < p->block_end) {
		uint8_t byte;

		if (room(p) == 0 || p->bits >= 70)
			return BAD;
		byte = *p->p++;
		p->at++;
		if (p->bits == 63 && byte > 1)
			return BAD;
		p->value |= (uint64_t)(byte & 127) << p->bits;
		p->bits += 7;
		if (byte < 128) {
			p->bits = 0;
			return WHOLE;
		}
	}
	return room(p) == 0 ? BAD : CUT;
}

static enum part read_fixed(struct pb *p)
{
	while (p->bits < 8 * p->fixed && p->p < p->block_end) {
		p->value |= (uint64_t)*p->p++ << p->bits;
		p->bits += 8;
		p->at++;
	}
	if (p->bits < 8 * p->fixed)
		return CUT;
	p->bits = 0;
	return WHOLE;
}

/* How many bytes of what ends at skip_to are here. */
static size_t here(const struct pb *p)
{
	uint64_t left = p->skip_to - p->at;
	size_t n = (size_t)(p->block_end - p->p);

	return left < n ? (size_t)left : n;
}

static void pass(struct pb *p, size_t n)
{
	p->p += n;
	p->at += n;
}

static bool skip(struct pb *p)
{
	pass(p, here(p));
	return p->at == p->skip_to;
}

static bool collect(struct pb *p)
{
	size_t n = here(p), fits = PB_TEXT_MAX - p->text_n;

	fits = n < fits ? n : fits;
	if (fits > 0)
		memcpy(p->text + p->text_n, p->p, fits);
	p->text_n += fits;
	p->cut |= n > fits;
	pass(p, n);
	return p->at == p->skip_to;
}

/* What the tag in value says comes next; BROKEN where it cannot. */
static enum state payload(struct pb *p)
{
	unsigned type = (unsigned)(p->value & 7);

	p->number = p->value >> 3;
	p->value = 0;
	if (p->number == 0 || p->number > NUMBER_MAX)
		return BROKEN;
	p->fixed = type == TYPE_FIXED64 ? 8 : 4;
	if (type == TYPE_VARINT)
		return AT_VARINT;
	if (type == TYPE_BYTES)
		return AT_LENGTH;
	if ((type == TYPE_FIXED64 || type == TYPE_FIXED32) && room(p) >= p->fixed)
		return AT_FIXED;
	return BROKEN;
}

static enum pb_token give(struct pb *p, struct pb_field *f, enum pb_token token, enum state next)
{
	*f = (struct pb_field){ .number = p->number,
		.value = p->value,
		.offset = p->tag_at,
		.text = str_make(p->text, p->text_n),
		.cut = p->cut };
	p->state = next;
	p->value = 0;
	return token;
}

static enum pb_token broken(struct pb *p, struct pb_field *f)
{
	p->bits = 0;
	return give(p, f, PB_ERROR, BROKEN);
}

static void begin_tag(struct pb *p)
{
	p->state = AT_TAG;
	p->value = 0;
	p->bits = 0;
}

/* One step of the machine: a token, or PB_MORE with *again set where there is none yet. */
static enum pb_token step(struct pb *p, struct pb_field *f, bool *again)
{
	enum part part;

	*again = false;
	switch (p->state) {
	case AT_TAG:
		if (p->bits == 0) {
			p->tag_at = p->at;
			if (p->depth > 0 && room(p) == 0) {
				p->depth--;
				return give(p, f, PB_END, AT_TAG);
			}
		}
		part = read_varint(p);
		if (part == WHOLE)
			p->state = payload(p);
		*again = part == WHOLE && p->state != BROKEN;
		return part == CUT || *again ? PB_MORE : broken(p, f);
	case AT_VARINT:
	case AT_FIXED:
		part = p->state == AT_VARINT ? read_varint(p) : read_fixed(p);
		return part == WHOLE ? give(p, f, PB_NUMBER, AT_TAG) : part == CUT ? PB_MORE : broken(p, f);
	case AT_LENGTH:
		part = read_varint(p);
		if (part != WHOLE)
			return part == CUT ? PB_MORE : broken(p, f);
		if (p->value > room(p) || p->value > UINT64_MAX / 2)
			return broken(p, f);
		p->skip_to = p->at + p->value;
		return give(p, f, PB_BYTES, AT_BYTES);
	case AT_BYTES:
	case IN_SKIP:
		p->state = IN_SKIP;
		*again = skip(p);
		if (*again)
			begin_tag(p);
		return PB_MORE;
	case IN_TEXT: return collect(p) ? give(p, f, PB_TEXT, AT_TAG) : PB_MORE;
	case BROKEN: break;
	}
	return PB_MORE;
}

enum pb_token pb_next(struct pb *p, struct pb_field *f)
{
	enum pb_token token;
	bool again;

	do
		token = step(p, f, &again);
	while (again);
	return token;
}

bool pb_enter(struct pb *p)
{
	if (p->state != AT_BYTES || p->depth + 1 == PB_DEPTH_MAX)
		return false;
	p->end[++p->depth] = p->skip_to;
	begin_tag(p);
	return true;
}

void pb_text(struct pb *p)
{
	if (p->state != AT_BYTES)
		return;
	p->text_n = 0;
	p->cut = false;
	p->state = IN_TEXT;
}

bool pb_recover(struct pb *p)
{
	if (p->state != BROKEN || p->depth == 0)
		return false;
	p->skip_to = p->end[p->depth];
	p->state = IN_SKIP;
	return true;
}
