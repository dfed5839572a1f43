#include "base/str.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c != 0)
		return c;
	return (a.n > b.n) - (a.n < b.n);
}

bool str_has_prefix(struct str s, struct str prefix)
{
	return s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0;
}

bool str_has_suffix(struct str s, struct str suffix)
{
	return s.n >= suffix.n && memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0;
}

size_t str_find(struct str s, struct str needle)
{
	const char *at;

	if (needle.n == 0)
		return 0;
	at = s.n == 0 ? NULL : memmem(s.p, s.n, needle.p, needle.n);
	return at == NULL ? s.n : (size_t)(at - s.p);
}

bool str_contains(struct str s, struct str needle)
{
	return needle.n == 0 || str_find(s, needle) < s.n;
}

size_t str_find_byte(struct str s, char c)
{
	const char *at = s.n == 0 ? NULL : memchr(s.p, c, s.n);

	return at == NULL ? s.n : (size_t)(at - s.p);
}

struct str str_from(struct str s, size_t offset)
{
	return offset >= s.n ? (struct str){ "", 0 } : (struct str){ s.p + offset, s.n - offset };
}

struct str str_upto(struct str s, size_t n)
{
	return (struct str){ s.p, n < s.n ? n : s.n };
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0]))
		s = (struct str){ s.p + 1, s.n - 1 };
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_drop_prefix(struct str *s, struct str prefix)
{
	if (!str_has_prefix(*s, prefix))
		return false;
	*s = (struct str){ s->p + prefix.n, s->n - prefix.n };
	return true;
}

bool str_drop_suffix(struct str *s, struct str suffix)
{
	if (!str_has_suffix(*s, suffix))
		return false;
	s->n -= suffix.n;
	return true;
}

struct str str_split(struct str *rest, char sep)
{
	size_t at = str_find_byte(*rest, sep);
	struct str part = { rest->p, at };

	*rest = at < rest->n ? (struct str){ rest->p + at + 1, rest->n - at - 1 } : (struct str){ NULL, 0 };
	return part;
}

struct str str_last_line(struct str text)
{
	struct str last = STR("");

	while (text.p != NULL) {
		struct str line = str_trim(str_split(&text, '\n'));

		if (!str_empty(line))
			last = line;
	}
	return last;
}

/* The usual two-pointer walk: after a mismatch only the last star is tried one byte further on. */
bool str_glob(struct str pattern, struct str s)
{
	size_t p = 0, i = 0, star = SIZE_MAX, mark = 0;

	while (i < s.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			mark = i;
		} else if (p < pattern.n && (pattern.p[p] == '?' || pattern.p[p] == s.p[i])) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

int str_to_u64(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0)
		return E_FORMAT;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return E_FORMAT;
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
			__builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return E_LIMIT;
	}
	*out = v;
	return OK;
}

int str_to_i64(struct str s, int64_t *out)
{
	bool minus = s.n && s.p[0] == '-';
	uint64_t v;
	int rc;

	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = str_from(s, 1);
	rc = str_to_u64(s, &v);
	if (rc < 0)
		return rc;
	if (v > (uint64_t)INT64_MAX + minus)
		return E_LIMIT;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return OK;
}

int str_to_double(struct str s, double *out)
{
	char text[64], *end;
	locale_t c_locale, old;
	double v;

	if (!str_copy_to(s, text, sizeof(text)) || s.n == 0 || is_space(text[0]))
		return E_FORMAT;
	c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	old = uselocale(c_locale);
	v = strtod(text, &end);
	uselocale(old);
	freelocale(c_locale);
	if (*end != '\0')
		return E_FORMAT;
	if (!isfinite(v))
		return E_LIMIT;
	*out = v;
	return OK;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t str_chars(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += !continues(s.p[i]);
	return n;
}

struct str str_upto_chars(struct str s, size_t n_chars)
{
	size_t i = 0;

	while (i < s.n && (n_chars > 0 || continues(s.p[i])))
		n_chars -= !continues(s.p[i++]);
	return str_upto(s, i);
}

bool str_copy_to(struct str s, char *dst, size_t cap)
{
	size_t n = s.n < cap - 1 ? s.n : cap - 1;

	if (n)
		memcpy(dst, s.p, n);
	dst[n] = '\0';
	return n == s.n && memchr(dst, '\0', n) == NULL;
}

size_t str_tame(const char *p, size_t n, char *out)
{
	size_t made = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		bool c1 = c == 0xc2 && i + 1 < n && (unsigned char)p[i + 1] >= 0x80 && (unsigned char)p[i + 1] < 0xa0;

		out[made++] = c < ' ' || c == 0x7f || c1 ? '?' : p[i];
		i += c1;
	}
	return made;
}
