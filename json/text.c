#include "json/text.h"

#include <string.h>

#include "base/enc.h"
#include "json/utf8.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* The four digits at p, or -1. */
static int hex4(const char *p, size_t n)
{
	int v = 0;

	if (n < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = enc_hex_digit(p[i]);

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/* What the letter after a back-slash stands for; 0 for none, 'u' left to the caller. */
static const char escaped[256] = {
	['"'] = '"',
	['\\'] = '\\',
	['/'] = '/',
	['b'] = '\b',
	['f'] = '\f',
	['n'] = '\n',
	['r'] = '\r',
	['t'] = '\t',
};

size_t json_escape_length(const char *p, size_t n)
{
	if (n < 2)
		return 0;
	if (escaped[(unsigned char)p[1]])
		return 2;
	return p[1] == 'u' && hex4(p + 2, n - 2) >= 0 ? 6 : 0;
}

void json_add_code_point(struct buf *out, uint32_t cp)
{
	char b[4];

	if (cp < 0x80) {
		buf_byte(out, (int)cp);
	} else if (cp < 0x800) {
		b[0] = (char)(0xc0 | cp >> 6);
		b[1] = (char)(0x80 | (cp & 0x3f));
		buf_add(out, b, 2);
	} else if (cp < 0x10000) {
		b[0] = (char)(0xe0 | cp >> 12);
		b[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		b[2] = (char)(0x80 | (cp & 0x3f));
		buf_add(out, b, 3);
	} else {
		b[0] = (char)(0xf0 | cp >> 18);
		b[1] = (char)(0x80 | (cp >> 12 & 0x3f));
		b[2] = (char)(0x80 | (cp >> 6 & 0x3f));
		b[3] = (char)(0x80 | (cp & 0x3f));
		buf_add(out, b, 4);
	}
}

/* "\uXXXX" at p, and the second half of a pair where there is one; answers how many bytes that was. */
static size_t add_u_escape(const char *p, size_t n, struct buf *out)
{
	int high = hex4(p + 2, n - 2), low = -1;

	if (high < 0xd800 || high > 0xdfff) {
		json_add_code_point(out, (uint32_t)high);
		return 6;
	}
	if (high < 0xdc00 && n >= 12 && p[6] == '\\' && p[7] == 'u')
		low = hex4(p + 8, n - 8);
	if (low < 0xdc00 || low > 0xdfff) {
		buf_text(out, replacement);
		return 6;
	}
	json_add_code_point(out, 0x10000 + ((unsigned)(high - 0xd800) << 10) + (unsigned)(low - 0xdc00));
	return 12;
}

static size_t add_escape(const char *p, size_t n, struct buf *out)
{
	switch (json_escape_length(p, n)) {
	case 2: buf_byte(out, escaped[(unsigned char)p[1]]); return 2;
	case 6: return add_u_escape(p, n, out);
	default: buf_byte(out, '\\'); return 1;
	}
}

static size_t add_high(const char *p, size_t n, struct buf *out)
{
	bool good;
	size_t len = utf8_length(p, n, &good);

	if (good)
		buf_add(out, p, len);
	else
		buf_text(out, replacement);
	return len;
}

void json_unescape(struct str raw, struct buf *out)
{
	size_t i = 0;

	while (i < raw.n) {
		size_t from = i;

		while (i < raw.n && raw.p[i] != '\\' && (unsigned char)raw.p[i] < 0x80)
			i++;
		buf_add(out, raw.p + from, i - from);
		if (i == raw.n)
			break;
		i += raw.p[i] == '\\' ? add_escape(raw.p + i, raw.n - i, out)
				      : add_high(raw.p + i, raw.n - i, out);
	}
}

struct str json_unescape_to(struct arena *a, struct str raw)
{
	struct str copy = { "", 0 };
	struct buf text;

	if (str_find_byte(raw, '\\') == raw.n && json_utf8_valid(raw))
		return arena_str(a, raw);
	/* an ill-formed byte becomes three */
	buf_init(&text, 3 * raw.n);
	json_unescape(raw, &text);
	if (buf_finish(&text, "text", NULL) == OK)
		copy = arena_str(a, buf_view(&text));
	else
		a->full = true;
	buf_fini(&text);
	return copy;
}

bool json_utf8_valid(struct str s)
{
	return utf8_bad(s) == 0;
}

static void add_escaped_byte(unsigned char c, struct buf *out)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'
	};

	if (c == '"' || c == '\\')
		buf_fmt(out, "\\%c", c);
	else if (c < 0x20 && letters[c])
		buf_fmt(out, "\\%c", letters[c]);
	else
		buf_fmt(out, "\\u%04x", c);
}

/* C1 controls, LINE SEPARATOR and PARAGRAPH SEPARATOR: how many bytes, and which; else 0. */
static size_t odd_character(struct str s, unsigned *c)
{
	const unsigned char *p = (const unsigned char *)s.p;

	if (s.n > 1 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) {
		*c = p[1];
		return 2;
	}
	if (s.n > 2 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)) {
		*c = 0x2000 | (p[2] & 0x3f);
		return 3;
	}
	return 0;
}

static size_t escape_high(struct str s, struct buf *out)
{
	unsigned c;
	size_t n = odd_character(s, &c);

	if (n == 0)
		return add_high(s.p, s.n, out);
	buf_fmt(out, "\\u%04x", c);
	return n;
}

void json_escape(struct str s, struct buf *out)
{
	size_t i = 0;

	while (i < s.n) {
		size_t from = i;

		while (i < s.n && s.p[i] != '"' && s.p[i] != '\\' && (unsigned char)s.p[i] >= 0x20 &&
			(unsigned char)s.p[i] < 0x7f)
			i++;
		buf_add(out, s.p + from, i - from);
		if (i == s.n)
			break;
		if ((unsigned char)s.p[i] < 0x80)
			add_escaped_byte((unsigned char)s.p[i++], out);
		else
			i += escape_high(str_from(s, i), out);
	}
}
