#include "agent/podinfo.h"

#include "base/buf.h"
#include "base/enc.h"
#include "json/text.h"

/* The digits of \x, \u and \U; their value, or -1. */
static int64_t take_hex(struct str *rest, size_t digits)
{
	uint8_t bytes[4];
	int64_t value = 0;

	if (rest->n < digits || enc_unhex(str_upto(*rest, digits), bytes, digits / 2) < 0)
		return -1;
	for (size_t i = 0; i < digits / 2; i++)
		value = value << 8 | bytes[i];
	*rest = str_from(*rest, digits);
	return value;
}

static bool add_rune(struct buf *b, int64_t rune)
{
	if (rune < 0 || rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000))
		return false;
	json_add_code_point(b, (uint32_t)rune);
	return true;
}

/* What stands behind a back-slash. */
static bool add_escaped(struct buf *b, struct str *rest)
{
	static const char letters[] = "abfnrtv\\\"'", bytes[] = "\a\b\f\n\r\t\v\\\"'";
	const char *at;
	int64_t value;
	char c;

	if (rest->n == 0)
		return false;
	c = rest->p[0];
	*rest = str_from(*rest, 1);
	if (c == 'u' || c == 'U')
		return add_rune(b, take_hex(rest, c == 'u' ? 4 : 8));
	if (c == 'x') {
		value = take_hex(rest, 2);
		buf_byte(b, (int)value);
		return value >= 0;
	}
	at = c == '\0' ? NULL : strchr(letters, c);
	if (at == NULL)
		return false;
	buf_byte(b, bytes[at - letters]);
	return true;
}

/* text: from the first quote to the end of the line. */
static bool unquote(struct buf *b, struct str text)
{
	struct str rest = str_from(text, 1);

	while (rest.n > 0) {
		char c = rest.p[0];

		rest = str_from(rest, 1);
		if (c == '"')
			return str_empty(rest);
		if (c != '\\')
			buf_byte(b, c);
		else if (!add_escaped(b, &rest))
			return false;
	}
	return false; /* no closing quote */
}

static bool take_value(struct str value, char *out, size_t cap)
{
	struct buf b;
	bool good = true;

	buf_init(&b, cap - 1);
	if (str_has_prefix(value, STR("\"")))
		good = unquote(&b, value);
	else
		buf_str(&b, value);
	good = good && b.rc == OK && str_copy_to(buf_view(&b), out, cap);
	if (!good)
		out[0] = '\0';
	buf_fini(&b);
	return good;
}

bool podinfo_get(struct str text, struct str key, char *out, size_t cap)
{
	out[0] = '\0';
	while (text.p != NULL) {
		struct str value = str_split(&text, '\n'), name = str_split(&value, '=');

		if (value.p != NULL && str_eq(name, key))
			return take_value(value, out, cap);
	}
	return false;
}
