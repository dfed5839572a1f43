#include "json/num.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* A number's parts: digits before and after the point, and the exponent. */
struct parts {
	bool minus;
	struct str whole, fraction;
	int64_t exponent;
};

/* Beyond this no exponent changes whether a 64-bit number fits. */
enum { EXPONENT_MAX = 100000000 };

static size_t after_digits(struct str s, size_t i)
{
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

static bool is_at(struct str s, size_t i, char c)
{
	return i < s.n && s.p[i] == c;
}

static int64_t clamped(struct str digits)
{
	int64_t v = 0;

	for (size_t i = 0; i < digits.n && v < EXPONENT_MAX; i++)
		v = v * 10 + (digits.p[i] - '0');
	return v < EXPONENT_MAX ? v : EXPONENT_MAX;
}

/* "e+12" at s[*i], if there is an exponent at all; *i moves behind it. */
static int split_exponent(struct str s, size_t *i, int64_t *exponent)
{
	bool minus;
	size_t from;

	if (!is_at(s, *i, 'e') && !is_at(s, *i, 'E'))
		return OK;
	minus = is_at(s, *i + 1, '-');
	from = *i + 1 + (minus || is_at(s, *i + 1, '+'));
	*i = after_digits(s, from);
	if (*i == from)
		return E_FORMAT;
	*exponent = clamped(str_make(s.p + from, *i - from));
	if (minus)
		*exponent = -*exponent;
	return OK;
}

/* The grammar of RFC 8259, section 6. */
static int split(struct str s, struct parts *n)
{
	size_t from, i;

	*n = (struct parts){ .minus = is_at(s, 0, '-') };
	from = n->minus;
	i = after_digits(s, from);
	n->whole = str_make(s.p + from, i - from);
	if (n->whole.n == 0 || (n->whole.n > 1 && n->whole.p[0] == '0'))
		return E_FORMAT;
	if (is_at(s, i, '.')) {
		from = i + 1;
		i = after_digits(s, from);
		n->fraction = str_make(s.p + from, i - from);
		if (n->fraction.n == 0)
			return E_FORMAT;
	}
	if (split_exponent(s, &i, &n->exponent) != OK)
		return E_FORMAT;
	return i == s.n ? OK : E_FORMAT;
}

bool json_number_valid(struct str number)
{
	struct parts n;

	return split(number, &n) == OK;
}

static unsigned digit_at(const struct parts *n, size_t i)
{
	char c = i < n->whole.n ? n->whole.p[i] : n->fraction.p[i - n->whole.n];

	return (unsigned)(c - '0');
}

static bool push_digit(uint64_t *v, unsigned digit)
{
	return !__builtin_mul_overflow(*v, UINT64_C(10), v) &&
		!__builtin_add_overflow(*v, (uint64_t)digit, v);
}

/* The digits before the point once it has moved by shift; *rest tells whether anything but zeros stood behind it. */
static int magnitude(const struct parts *n, int shift, uint64_t *out, bool *rest)
{
	size_t have = n->whole.n + n->fraction.n, i = 0;
	int64_t point = (int64_t)n->whole.n + n->exponent + shift;
	uint64_t v = 0;

	for (; i < have && (int64_t)i < point; i++)
		if (!push_digit(&v, digit_at(n, i)))
			return E_LIMIT;
	*rest = false;
	for (size_t k = i; k < have && !*rest; k++)
		*rest = digit_at(n, k) != 0;
	for (int64_t k = (int64_t)have; v != 0 && k < point; k++)
		if (!push_digit(&v, 0))
			return E_LIMIT;
	*out = v;
	return OK;
}

static int with_sign(bool minus, uint64_t v, int64_t *out)
{
	if (v > (uint64_t)INT64_MAX + minus)
		return E_LIMIT;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return OK;
}

static int whole_number(struct str number, struct parts *n, uint64_t *v)
{
	bool rest;
	int rc = split(number, n);

	if (rc == OK)
		rc = magnitude(n, 0, v, &rest);
	if (rc == OK && rest)
		rc = E_FORMAT;
	return rc;
}

int json_i64(struct str number, int64_t *out)
{
	struct parts n;
	uint64_t v;
	int rc = whole_number(number, &n, &v);

	return rc == OK ? with_sign(n.minus, v, out) : rc;
}

int json_u64(struct str number, uint64_t *out)
{
	struct parts n;
	uint64_t v;
	int rc;

	if (number.n <= 18 && str_to_u64(number, out) == OK && (number.p[0] != '0' || number.n == 1))
		return OK;
	rc = whole_number(number, &n, &v);
	if (rc != OK)
		return rc;
	if (n.minus && v != 0)
		return E_LIMIT;
	*out = v;
	return OK;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Nearly every number of a trace: at most 18 digits once the point has moved, no sign, no exponent. The same answers as
 * the long way's, or false. */
static bool usual_fixed(struct str s, int shift, int64_t *out, bool *rest)
{
	int64_t v = 0;
	size_t i = 0;

	*rest = false;
	for (; i < s.n && is_digit(s.p[i]); i++)
		v = (int64_t)((uint64_t)v * 10 + (uint64_t)(s.p[i] - '0'));
	if (shift < 0 || i == 0 || i + (size_t)shift > 18 || (s.p[0] == '0' && i > 1))
		return false;
	if (i < s.n) {
		size_t point = i++;

		if (s.p[point] != '.')
			return false;
		for (; i < s.n && is_digit(s.p[i]); i++)
			if (shift > 0) {
				v = v * 10 + (s.p[i] - '0');
				shift--;
			} else {
				*rest |= s.p[i] != '0';
			}
		if (i != s.n || i == point + 1)
			return false;
	}
	for (; shift > 0; shift--)
		v *= 10;
	*out = v;
	return true;
}

int json_fixed(struct str number, int shift, int64_t *out)
{
	struct parts n;
	uint64_t v;
	bool rest;
	int rc;

	if (usual_fixed(number, shift, out, &rest))
		return OK;
	rc = split(number, &n);
	if (rc == OK)
		rc = magnitude(&n, shift, &v, &rest);
	return rc == OK ? with_sign(n.minus, v, out) : rc;
}

/* Is v, with what stands behind the point once it has moved, nearer to v + 1? */
static bool rounds_up(const struct parts *n, int shift, uint64_t v)
{
	const int64_t have = (int64_t)(n->whole.n + n->fraction.n), point = (int64_t)n->whole.n + n->exponent + shift;
	unsigned first;

	if (point < 0 || point >= have)
		return false;
	first = digit_at(n, (size_t)point);
	for (int64_t k = point + 1; first == 5 && k < have; k++)
		if (digit_at(n, (size_t)k) != 0)
			return true;
	return first > 5 || (first == 5 && v % 2 == 1);
}

int json_nearest(struct str number, int shift, int64_t *out)
{
	struct parts n;
	uint64_t v;
	bool rest;
	int rc;

	if (usual_fixed(number, shift, out, &rest) && !rest)
		return OK;
	rc = split(number, &n);
	if (rc == OK)
		rc = magnitude(&n, shift, &v, &rest);
	if (rc != OK)
		return rc;
	if (rest && rounds_up(&n, shift, v) && v++ == UINT64_MAX)
		return E_LIMIT;
	return with_sign(n.minus, v, out);
}

/* More digits than a double can tell apart are cut, so that the text fits what str_to_double takes. */
static int long_double_text(const struct parts *n, double *out)
{
	char text[80];
	size_t have = n->whole.n + n->fraction.n, i = 0, len = 0;
	int64_t exponent;

	while (i < have && digit_at(n, i) == 0)
		i++;
	exponent = (int64_t)n->whole.n - (int64_t)i + n->exponent;
	if (n->minus)
		text[len++] = '-';
	text[len++] = '0';
	text[len++] = '.';
	text[len++] = '0';
	for (size_t k = 0; k < 36 && i < have; k++, i++)
		text[len++] = (char)('0' + digit_at(n, i));
	snprintf(text + len, sizeof(text) - len, "e%" PRId64, exponent + 1);
	return str_to_double(str_of(text), out);
}

int json_double(struct str number, double *out)
{
	struct parts n;
	int rc = split(number, &n);

	if (rc != OK)
		return rc;
	return number.n < 60 ? str_to_double(number, out) : long_double_text(&n, out);
}
