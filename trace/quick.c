#include "trace/quick.h"

#include <string.h>

#include "base/mem.h"
#include "json/num.h"

enum {
	MARKS = 128,	     /* blocks of 64 bytes whose marks are kept */
	NEST_MAX = 64,	     /* arrays in each other */
	SPAN = MARKS * 64,
	PHRASES = 512,
	PHRASE_BYTES = 120,
	PHRASE_WAYS = 16,
	PHRASE_FIXED = 4,
};

/* A writer repeats itself: between two values that vary it mostly writes what it wrote there before. Such a phrase runs from
 * behind one value to the start of the next, or to behind the event's '}', and holds keys, the values of members that
 * take few (ph, cat, pid, tid), any 0 that nobody wants ("Fwd thread id": 0), and args' braces:
 *
 *	{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 100.5, "dur": 7, "args": {"External id": 12}}
 *	 ----------------------------          --------------------------      ---------   ------------------------      --
 *
 * What was read the long way is learned as a phrase that may follow the one before; the next event is compared with it,
 * which is one step instead of five for each member. Nothing is forgotten. The last way out of a place is kept for a
 * phrase without values, which fits whatever they are; where no way or no room is left, nothing is learned. */
struct way { /* to a phrase */
	uint64_t end;	   /* the last eight bytes of its text, shifted to the left where it has fewer */
	struct phrase *to; /* NULL: there is none */
	uint8_t end_at;	   /* where they stand in it */
	uint8_t shift;
};

struct phrase {
	char text[PHRASE_BYTES];
	uint8_t n;	/* bytes of text */
	uint8_t member; /* whose value follows, an enum member; MEMBERS for one that is passed over */
	bool ends;	/* the event is over instead */
	bool any;	/* it has a key */
	bool in_args, has_args; /* behind it */
	uint8_t n_fixed;
	struct {
		uint8_t member, from, n; /* text[from…from + n) is the value of a member, */
		bool is_string;		 /* without its quotes, or a number */
	} fixed[PHRASE_FIXED];
	size_t value_n;		      /* how long the value was that came last behind it */
	struct way ways[PHRASE_WAYS]; /* to phrases that were met behind it */
};

/* Marks of text[base…base + SPAN), made as far as "made"; events longer than SPAN / 2 are left to json/pull. */
struct quick {
	const struct json_mask_kernel *kernel;
	struct intake *in;
	const char *p; /* the text */
	size_t n;
	bool wants_again; /* the event has another ph behind the one for which its members were passed over */
	size_t base, made;
	struct json_mask_state state;
	struct json_mask marks[MARKS];
	char tail[64];
	struct phrase phrases[PHRASES]; /* the first is the place behind an event's '{' */
	uint16_t n_phrases;
};

/* Where nothing was found: past the text, or past what marks can hold. */
#define NOWHERE SIZE_MAX

struct quick *quick_new(const struct json_mask_kernel *kernel)
{
	struct quick *q = mem_get(sizeof(*q));

	q->kernel = kernel;
	q->n_phrases = 1;
	return q;
}

void quick_free(struct quick *q)
{
	mem_free(q);
}

/* ---- marks */

/* Marks from text[at] on, which stands outside of strings. */
static void start_marks(struct quick *q, size_t at)
{
	q->base = q->made = at;
	q->state = (struct json_mask_state){ 0 };
}

static bool more_marks(struct quick *q)
{
	size_t blocks = (q->n - q->made) / 64, slot = (q->made - q->base) / 64, room = MARKS - slot;

	if (q->made >= q->n || room == 0)
		return false;
	if (blocks > 0) {
		const size_t step = 16; /* 1 KiB: an odd event then costs little that was done in vain */

		blocks = blocks < room ? blocks : room;
		blocks = blocks < step ? blocks : step;
		q->kernel->run(q->p + q->made, blocks, &q->state, &q->marks[slot]);
		q->made += 64 * blocks;
		return true;
	}
	memset(q->tail, ' ', sizeof(q->tail));
	memcpy(q->tail, q->p + q->made, q->n - q->made);
	q->kernel->run(q->tail, 1, &q->state, &q->marks[slot]);
	q->made += 64;
	return true;
}

/* Marks of all bytes before text[at]; false where they do not fit. */
static bool marks_up_to(struct quick *q, size_t at)
{
	while (q->made < at)
		if (!more_marks(q))
			return false;
	return true;
}

/* Between events: what the marks hold before text[at] is no longer needed. */
static void shift_marks(struct quick *q, size_t at)
{
	size_t blocks = (at - q->base) / 64, have = (q->made - q->base) / 64;

	if (at - q->base < SPAN / 2 || q->made < at)
		return;
	memmove(q->marks, q->marks + blocks, (have - blocks) * sizeof(*q->marks));
	q->base += 64 * blocks;
}

static uint64_t quote_bits(const struct json_mask *m)
{
	return m->quote;
}

static uint64_t bracket_bits(const struct json_mask *m)
{
	return m->bracket;
}

static inline __attribute__((always_inline)) size_t next_mark(struct quick *q, size_t at,
	uint64_t (*bits)(const struct json_mask *))
{
	size_t i = at - q->base;
	uint64_t wanted = UINT64_MAX << (i % 64);

	for (;; i = (i | 63) + 1, wanted = UINT64_MAX) {
		uint64_t found;

		while (q->base + i >= q->made)
			if (!more_marks(q))
				return NOWHERE;
		found = bits(&q->marks[i / 64]) & wanted;
		if (found)
			return q->base + (i & ~(size_t)63) + (size_t)__builtin_ctzll(found);
	}
}

static size_t next_quote(struct quick *q, size_t at)
{
	return next_mark(q, at, quote_bits);
}

static size_t next_bracket(struct quick *q, size_t at)
{
	return next_mark(q, at, bracket_bits);
}

/* Is any byte of a string in text[from…to) more than plain text? */
static bool is_odd(const struct quick *q, size_t from, size_t to)
{
	size_t a = from - q->base, b = to - q->base;
	uint64_t first = UINT64_MAX << (a % 64), odd = 0;

	for (size_t block = a / 64; block < b / 64; block++, first = UINT64_MAX)
		odd |= q->marks[block].odd & first;
	if (b % 64)
		odd |= q->marks[b / 64].odd & first & ~(UINT64_MAX << (b % 64));
	return odd != 0;
}

/* ---- small steps; all stop at the text's end, where byte() is 0 */

static char byte(const struct quick *q, size_t at)
{
	return at < q->n ? q->p[at] : '\0';
}

static size_t spaces(const struct quick *q, size_t at)
{
	while (at < q->n && (q->p[at] == ' ' || q->p[at] == '\n' || q->p[at] == '\r' || q->p[at] == '\t'))
		at++;
	return at;
}

static struct str between(const struct quick *q, size_t from, size_t to)
{
	return str_make(q->p + from, to - from);
}

/* From a value's end to the next key's quote or the object's '}': what must follow there. */
static size_t after_member(const struct quick *q, size_t at)
{
	at = spaces(q, at);
	if (byte(q, at) == '}')
		return at;
	if (byte(q, at) != ',')
		return NOWHERE;
	at = spaces(q, at + 1);
	return byte(q, at) == '"' ? at : NOWHERE;
}

/* ---- numbers */

/* The top bit of each byte that is no digit, exact up to the first of them; v as loaded, the first byte lowest. */
static inline uint64_t non_digits(uint64_t v)
{
	const uint64_t x = v ^ UINT64_C(0x3030303030303030);

	return ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
}

static inline uint64_t load8(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* Eight digits, the first byte lowest: pairs, then fours, then all. */
static inline uint64_t eight_digits(uint64_t v)
{
	v -= UINT64_C(0x3030303030303030);
	v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
	return (v * 10000 + (v >> 32)) & UINT32_MAX;
}

static const uint64_t power_of_ten[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };

/* Digits from text[at] on into *v, which they are put behind. Where they end. */
static inline size_t digits(const struct quick *q, size_t at, uint64_t *v)
{
	while (q->n - at >= 8) {
		const uint64_t bytes = load8(q->p + at), stop = non_digits(bytes);
		const unsigned have = stop ? (unsigned)__builtin_ctzll(stop) / 8 : 8;

		if (have > 0) { /* fewer than eight: zeros in front */
			const unsigned shift = 8 * (8 - have);
			const uint64_t zeros = shift ? UINT64_C(0x3030303030303030) >> (64 - shift) : 0;

			*v = *v * power_of_ten[have] + eight_digits(bytes << shift | zeros);
		}
		at += have;
		if (have < 8)
			return at;
	}
	for (; at < q->n && q->p[at] >= '0' && q->p[at] <= '9'; at++)
		*v = *v * 10 + (uint64_t)(q->p[at] - '0');
	return at;
}

static bool ends_number(char c)
{
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

struct number {
	uint64_t whole;	   /* its digits before the point */
	uint64_t fraction; /* and behind */
	size_t n_whole, n_fraction;
	bool usual; /* no sign, no exponent: all that it is stands above, unless it is too long */
};

static unsigned digit(char c)
{
	return (unsigned)(unsigned char)c - '0'; /* above 9 for anything else */
}

/* The digits behind a point: nearly always three, for a trace counts nanoseconds. Where they end. */
static inline size_t fraction_digits(const struct quick *q, size_t at, struct number *num)
{
	size_t end;

	if (q->n - at > 3) {
		const char *p = q->p + at;
		unsigned a = digit(p[0]), b = digit(p[1]), c = digit(p[2]);

		if (a < 10 && b < 10 && c < 10 && digit(p[3]) > 9) {
			num->fraction = 100 * a + 10 * b + c;
			num->n_fraction = 3;
			return at + 3;
		}
	}
	end = digits(q, at, &num->fraction);
	num->n_fraction = end - at;
	return end;
}

/* A number as RFC 8259 has it: usual ones here, the others by json/num. */
static inline bool read_number(const struct quick *q, size_t at, struct number *num, size_t *end)
{
	size_t i;

	num->whole = num->fraction = 0;
	num->n_fraction = 0;
	i = digits(q, at, &num->whole);
	num->n_whole = i - at;
	if (byte(q, i) == '.') {
		i = fraction_digits(q, i + 1, num);
		if (num->n_fraction == 0)
			return false;
	}
	num->usual = num->n_whole > 0 && (q->p[at] != '0' || num->n_whole == 1);
	if (num->usual && ends_number(byte(q, i))) {
		*end = i;
		return true;
	}
	num->usual = false;
	while (i < q->n && !ends_number(q->p[i]))
		i++;
	*end = i;
	return i < q->n && i > at && json_number_valid(between(q, at, i));
}

/* Microseconds as nanoseconds, where that is a matter of a few digits. */
static inline bool usual_ns(const struct number *num, int64_t *ns)
{
	if (!num->usual || num->n_whole > 15 || num->n_fraction > 3)
		return false;
	*ns = (int64_t)(num->whole * 1000 + num->fraction * power_of_ten[3 - num->n_fraction]);
	return true;
}

static bool literal_ends(const struct quick *q, size_t at, struct str word, enum json_token tok, size_t *end,
	enum json_token *out, struct str *raw)
{
	if (q->n - at <= word.n || memcmp(q->p + at, word.p, word.n) != 0)
		return false;
	*end = at + word.n;
	*out = tok;
	*raw = word;
	return true; /* after_member refuses a longer word */
}

/* Does tolerant reading end a string of an array where text[at] stands behind it? Surely before ',' or ']', but for another
 * quote behind that. */
static bool ends_item(const struct quick *q, size_t at)
{
	at = spaces(q, at);
	if (byte(q, at) == ',')
		return true;
	if (byte(q, at) != ']')
		return false;
	while (byte(q, at) == ']')
		at = spaces(q, at + 1);
	return byte(q, at) != '"' && byte(q, at) != '\0';
}

/* Behind an array's '[' up to its ']'. */
static bool array_ends(struct quick *q, size_t at, size_t *end)
{
	unsigned depth = 1;

	while (depth > 0) {
		size_t bracket = next_bracket(q, at);
		size_t quote = next_quote(q, at);

		if (bracket == NOWHERE)
			return false;
		if (quote < bracket) {
			size_t close = next_quote(q, quote + 1);

			if (close == NOWHERE || !ends_item(q, close + 1))
				return false;
			at = close + 1;
			continue;
		}
		if (q->p[bracket] == '[')
			depth++;
		else if (q->p[bracket] == ']')
			depth--;
		else
			return false; /* objects in arrays */
		if (depth > NEST_MAX)
			return false;
		at = bracket + 1;
	}
	*end = at;
	return true;
}

/* A value that is no object, from text[at]: its kind, its raw text, what it is where it is a number, and where it ends. */
static bool read_value(struct quick *q, size_t at, enum json_token *tok, struct str *raw, struct number *num, size_t *end)
{
	size_t close;

	switch (byte(q, at)) {
	case '"':
		close = next_quote(q, at + 1);
		if (close == NOWHERE)
			return false;
		*tok = JSON_STRING;
		*raw = between(q, at + 1, close);
		*end = close + 1;
		return true;
	case '[':
		*tok = JSON_ARRAY;
		if (!array_ends(q, at + 1, end))
			return false;
		*raw = between(q, at, *end);
		return true;
	case 't': return literal_ends(q, at, STR("true"), JSON_TRUE, end, tok, raw);
	case 'f': return literal_ends(q, at, STR("false"), JSON_FALSE, end, tok, raw);
	case 'n': return literal_ends(q, at, STR("null"), JSON_NULL, end, tok, raw);
	default:
		if (!read_number(q, at, num, end))
			return false;
	}
	*tok = JSON_NUMBER;
	*raw = between(q, at, *end);
	return true;
}

/* A key's text from its opening quote, and where its value starts. */
static bool read_key(struct quick *q, size_t at, struct str *key, size_t *value)
{
	size_t close = next_quote(q, at + 1), colon;

	if (close == NOWHERE)
		return false;
	*key = between(q, at + 1, close);
	colon = spaces(q, close + 1);
	if (byte(q, colon) != ':')
		return false;
	*value = spaces(q, colon + 1);
	return true;
}

/* ---- members */

struct place { /* in an event, while it is read */
	size_t at;
	struct phrase *phrase; /* the last one, NULL where that is not known */
	bool in_args, has_args, first;
	bool any; /* it has members */
};

static void take_plain(struct quick *q, enum member m, enum json_token tok, struct str raw)
{
	if (q->in->wants)
		intake_take_plain(q->in, m, tok, raw);
	else if (m == M_PH)
		q->wants_again = true;
}

/* May the phrase that a way leads to stand here? By its end, which is where phrases that start alike differ. */
static inline bool may_be_here(const char *at, const struct way *way)
{
	return (load8(at + way->end_at) << way->shift) == way->end;
}

/* Is the same text here? Both have PHRASE_BYTES to look at; the last eight bytes are known to be the same. */
static inline bool is_here(const char *at, const struct phrase *ph)
{
	for (unsigned i = 0; i + 8 < ph->n; i += 8)
		if (load8(at + i) != load8(ph->text + i))
			return false;
	return true;
}

/* The phrase that stands here, if it is a known one; what it holds is taken. */
static inline __attribute__((always_inline)) struct phrase *follow(struct quick *q, struct place *pl)
{
	const char *here = q->p + pl->at;
	struct phrase *ph = NULL;
	const struct way *way;

	if (pl->phrase == NULL || q->n - pl->at < PHRASE_BYTES)
		return NULL;
	way = pl->phrase->ways;
	for (unsigned i = 0; i < PHRASE_WAYS && way->to != NULL; i++, way++)
		if (may_be_here(here, way) && is_here(here, way->to)) {
			ph = way->to;
			break;
		}
	if (ph == NULL)
		return NULL;
	for (unsigned i = 0; i < ph->n_fixed; i++)
		take_plain(q, (enum member)ph->fixed[i].member, ph->fixed[i].is_string ? JSON_STRING : JSON_NUMBER,
			str_make(here + ph->fixed[i].from, ph->fixed[i].n));
	pl->phrase = ph;
	pl->at += ph->n;
	pl->in_args = ph->in_args;
	pl->has_args = ph->has_args;
	pl->first = false;
	return ph;
}

/* ---- phrases, the long way */

/* How many more may follow the last one. */
static size_t free_ways(const struct quick *q, const struct place *pl)
{
	const struct way *ways = pl->phrase == NULL ? NULL : pl->phrase->ways;
	size_t used = 0;

	if (ways == NULL || q->n_phrases == PHRASES)
		return 0;
	while (used < PHRASE_WAYS && ways[used].to != NULL)
		used++;
	return PHRASE_WAYS - used;
}

static void learn(struct quick *q, struct place *pl, size_t from, const struct phrase *like)
{
	size_t n = pl->at - from, ways = free_ways(q, pl);
	struct phrase *ph = &q->phrases[q->n_phrases % PHRASES];
	struct way *way;

	/* Near the text's end nothing was compared, so what is there may be known: learning it at the end of each block would
	 * fill the table with copies. And a phrase that the end cuts (", \"tid\":" without its space) would fit ever after and
	 * lead nowhere. */
	if (ways == 0 || n > PHRASE_BYTES || q->n - from <= PHRASE_BYTES || !marks_up_to(q, pl->at) ||
		is_odd(q, from, pl->at)) {
		pl->phrase = NULL; /* the long way until the event is over */
		return;
	}
	*ph = *like;
	ph->n = (uint8_t)n;
	ph->in_args = pl->in_args;
	ph->has_args = pl->has_args;
	memcpy(ph->text, q->p + from, n);
	way = &pl->phrase->ways[PHRASE_WAYS - ways];
	way->to = pl->phrase = ph;
	q->n_phrases++;
	way->end_at = (uint8_t)(n < 8 ? 0 : n - 8);
	way->shift = (uint8_t)(n < 8 ? 64 - 8 * n : 0);
	way->end = load8(ph->text + way->end_at) << way->shift;
}

/* The value of a member that takes few becomes a part of the phrase. False where it cannot, and nothing has happened. */
static bool fix_value(struct quick *q, struct place *pl, size_t from, enum member m, struct phrase *ph)
{
	struct number num;
	enum json_token tok;
	struct str raw;
	size_t end, at;

	if (m == MEMBERS && byte(q, pl->at) == '0' && ends_number(byte(q, pl->at + 1)) &&
		pl->at - from < PHRASE_BYTES / 2) {
		pl->at++;
		return true;
	}
	if ((m != M_PH && m != M_CAT && m != M_PID && m != M_TID) || ph->n_fixed == PHRASE_FIXED)
		return false;
	if (!read_value(q, pl->at, &tok, &raw, &num, &end) || (tok != JSON_STRING && tok != JSON_NUMBER))
		return false;
	at = (size_t)(raw.p - q->p) - from;
	if (end - from > PHRASE_BYTES / 2)
		return false; /* leave room for the next key */
	ph->fixed[ph->n_fixed].member = (uint8_t)m;
	ph->fixed[ph->n_fixed].from = (uint8_t)at;
	ph->fixed[ph->n_fixed].n = (uint8_t)raw.n;
	ph->fixed[ph->n_fixed++].is_string = tok == JSON_STRING;
	take_plain(q, m, tok, raw);
	pl->at = end;
	return true;
}

enum turn { TURN_ON, TURN_PHRASE, TURN_BAD };

/* One key, or one '}'. TURN_PHRASE: the phrase ends here. */
static enum turn long_step(struct quick *q, struct place *pl, size_t from, bool may_fix, struct phrase *ph)
{
	size_t at = pl->first ? spaces(q, pl->at) : after_member(q, pl->at);
	enum member m;
	struct str key;

	pl->first = false;
	if (at == NOWHERE)
		return TURN_BAD;
	if (byte(q, at) == '}') {
		pl->at = at + 1;
		ph->ends = !pl->in_args;
		pl->in_args = false;
		return ph->ends ? TURN_PHRASE : TURN_ON;
	}
	if (byte(q, at) != '"' || !read_key(q, at, &key, &pl->at))
		return TURN_BAD;
	ph->any = true;
	m = pl->in_args ? member_of_args(q->in, key) : member_of_event(key);
	if (m == M_ARGS) {
		if (pl->has_args || byte(q, pl->at) != '{')
			return TURN_BAD; /* args twice, or that are none */
		pl->at++;
		pl->in_args = pl->has_args = pl->first = true;
		return TURN_ON;
	}
	if (may_fix && fix_value(q, pl, from, m, ph))
		return TURN_ON;
	ph->member = (uint8_t)m;
	return TURN_PHRASE;
}

/* From behind a '{' or a value to the next value that is to be read, or behind the event's '}'. */
static bool long_way(struct quick *q, struct place *pl, struct phrase *ph)
{
	bool may_fix = free_ways(q, pl) > 1;
	size_t from = pl->at;
	enum turn turn;

	memset(ph, 0, sizeof(*ph));
	do
		turn = long_step(q, pl, from, may_fix, ph);
	while (turn == TURN_ON);
	if (turn == TURN_BAD)
		return false;
	learn(q, pl, from, ph);
	return true;
}

/* ---- values */

/* Is the value what an event's time or id nearly always is? Then it is taken, and nothing else remains to be done. */
static inline bool take_usual(struct intake *in, enum member m, const struct number *num)
{
	switch ((int)m) {
	case M_TS:
		if (!usual_ns(num, &in->start_ns))
			return false;
		in->bad_ts = false;
		break;
	case M_DUR:
		if (!usual_ns(num, &in->dur_ns))
			return false;
		in->bad_dur = false;
		break;
	case M_EXT:
	case M_CORRELATION:
		if (!num->usual || num->n_whole > 18 || num->n_fraction > 0)
			return false;
		*(m == M_EXT ? &in->ext : &in->correlation) = num->whole;
		break;
	default: return false;
	}
	in->seen |= 1u << m;
	return true;
}

/* Where a value ends that was found to end there. Mostly it is as long as the one before behind the same phrase; going by
 * that, the processor need not wait for the end to be found before it goes on, only to check it later. */
static inline size_t likely_end(struct phrase *ph, size_t at, size_t end)
{
	size_t likely = at + ph->value_n;

	if (end != likely) {
		ph->value_n = end - at;
		return end;
	}
	__asm__("" : "+r"(likely)); /* or the compiler takes the other one, which is the same */
	return likely;
}

/* A value that nobody wants: nearly always a short whole number, else whatever read_value knows. */
static inline bool pass_value(struct quick *q, struct place *pl, struct phrase *ph)
{
	struct number num;
	enum json_token tok;
	struct str raw;
	size_t end;

	if (q->n - pl->at > 8) {
		const uint64_t stop = non_digits(load8(q->p + pl->at));
		const unsigned have = stop ? (unsigned)__builtin_ctzll(stop) / 8 : 0;

		if (have > 0 && ends_number(q->p[pl->at + have]) && (q->p[pl->at] != '0' || have == 1)) {
			pl->at = likely_end(ph, pl->at, pl->at + have);
			return true;
		}
	}
	if (!read_value(q, pl->at, &tok, &raw, &num, &end))
		return false;
	pl->at = end;
	return true;
}

/* The value of a member, from where it starts. */
static inline bool take_value(struct quick *q, struct place *pl, struct phrase *ph)
{
	const enum member m = (enum member)ph->member;
	struct number num;
	struct str raw;
	enum json_token tok;
	size_t end;

	if (m == MEMBERS || (!q->in->wants && m != M_PH && m != M_DIMS)) /* lists of shapes are looked into in any event */
		return pass_value(q, pl, ph);
	if (digit(byte(q, pl->at)) <= 9) {
		if (!read_number(q, pl->at, &num, &end))
			return false;
		if (!take_usual(q->in, m, &num))
			take_plain(q, m, JSON_NUMBER, between(q, pl->at, end));
		pl->at = likely_end(ph, pl->at, end);
		return true;
	}
	if (!read_value(q, pl->at, &tok, &raw, &num, &end))
		return false;
	pl->at = end;
	if (m == M_DIMS && tok == JSON_ARRAY)
		return intake_dims_text(q->in, raw);
	take_plain(q, m, tok, raw);
	return true;
}

/* ---- events */

/* Does the event, from text[at] to before text[end], end where tolerant reading has it end? Behind a string's quote only where
 * another object follows; what else may (json/behind.h) is left to json/pull. */
static bool ends_surely(const struct quick *q, size_t at, size_t end)
{
	size_t last = end;

	while (last > at && q->p[last - 1] != '"') {
		char c = q->p[last - 1];

		if (c != '}' && c != ']' && c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return true;
		last--;
	}
	end = spaces(q, end);
	return byte(q, end) == ',' && byte(q, spaces(q, end + 1)) == '{';
}

/* Behind an event's '{' up to behind its '}'. Nothing is kept yet. */
static bool read_event(struct quick *q, size_t at, size_t *end)
{
	struct place pl = { .at = at, .phrase = q->phrases, .first = true }, aside;
	struct phrase learned;

	q->wants_again = false;
	for (;;) {
		struct phrase *ph = follow(q, &pl);

		if (ph == NULL) {
			aside = pl;
			if (!long_way(q, &aside, &learned))
				return false;
			pl = aside;
			ph = &learned;
		}
		pl.any |= ph->any;
		if (ph->ends)
			break;
		if (!take_value(q, &pl, ph))
			return false;
	}
	*end = pl.at;
	q->in->any = pl.any;
	return pl.any && !q->wants_again && marks_up_to(q, pl.at) && !is_odd(q, at, pl.at) && ends_surely(q, at, pl.at);
}

/* From behind a value, or the array's start, to the next event's '{'. */
static size_t next_event(const struct quick *q, size_t at, bool after_value)
{
	at = spaces(q, at);
	if (after_value) {
		if (byte(q, at) != ',')
			return NOWHERE;
		at = spaces(q, at + 1);
	}
	return byte(q, at) == '{' ? at : NOWHERE;
}

size_t quick_events(struct quick *q, struct intake *in, const struct json_unread *unread)
{
	bool after_value = unread->after_value;
	size_t done = 0;

	q->in = in;
	q->p = unread->text.p;
	q->n = unread->text.n;
	start_marks(q, 0);
	for (;;) {
		size_t at = next_event(q, done, after_value), end;

		if (at == NOWHERE)
			return done;
		shift_marks(q, at);
		intake_begin(in, unread->offset + at);
		if (!read_event(q, at + 1, &end))
			return done;
		intake_finish(in);
		done = end;
		after_value = true;
	}
}
