#include "cli/width.h"

#include "base/code.h"

struct range {
	uint32_t from, to;
};

/* Unassigned characters between wide ones are taken for wide. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },	{ 0x23f0, 0x23f0 },
	{ 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },   { 0x2648, 0x2653 },	{ 0x267f, 0x267f },
	{ 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },   { 0x26aa, 0x26ab },   { 0x26bd, 0x26be },	{ 0x26c4, 0x26c5 },
	{ 0x26ce, 0x26ce },   { 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },	{ 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },	{ 0x2728, 0x2728 },
	{ 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },   { 0x2757, 0x2757 },	{ 0x2795, 0x2797 },
	{ 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },   { 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },	{ 0x2b55, 0x2b55 },
	{ 0x2e80, 0x303e },   { 0x3041, 0x3247 },   { 0x3250, 0x4dbf },   { 0x4e00, 0xa4cf },	{ 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe1f },   { 0xfe30, 0xfe6f },	{ 0xff01, 0xff60 },
	{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18d7f }, { 0x1aff0, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c },
	{ 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 },
	{ 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e },
	{ 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f },
	{ 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ef },
	{ 0x1f6f4, 0x1f6ff }, { 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

/* Those that names of programs may hold; of scripts of India and further ones a mark counts as one. */
static const struct range empty[] = {
	{ 0x0300, 0x036f },   { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a }, { 0x064b, 0x065f },
	{ 0x0e31, 0x0e31 },   { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1160, 0x11ff }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },   { 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x206f }, { 0x20d0, 0x20ff },
	{ 0x302a, 0x302d },   { 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	{ 0xe0000, 0xe0fff },
};

static bool is_in(const struct range *ranges, size_t n, uint32_t c)
{
	size_t from = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (c > ranges[from + half].to) {
			from += half + 1;
			n -= half + 1;
		} else if (c >= ranges[from + half].from) {
			return true;
		} else {
			n = half;
		}
	}
	return false;
}

static size_t columns_of(uint32_t c)
{
	if (c < 0x300)
		return 1;
	if (is_in(empty, COUNT(empty), c))
		return 0;
	return is_in(wide, COUNT(wide), c) ? 2 : 1;
}

/* The character at p and how many bytes it has: 1 where it is no UTF-8. */
static size_t decode(const char *p, size_t n, uint32_t *c)
{
	unsigned char lead = (unsigned char)*p;
	size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 1;

	if (length > n)
		length = 1;
	*c = length == 1 ? '?' : lead & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)p[i] & 0xc0) != 0x80) {
			*c = '?';
			return 1;
		}
		*c = *c << 6 | ((unsigned char)p[i] & 0x3f);
	}
	return length;
}

struct str width_next(struct str s, size_t *columns)
{
	uint32_t c;
	size_t n = decode(s.p, s.n, &c);

	*columns = columns_of(c);
	while (n < s.n && (unsigned char)s.p[n] >= 0xc0) {
		size_t more = decode(s.p + n, s.n - n, &c);

		if (columns_of(c) > 0)
			break;
		n += more;
	}
	return str_upto(s, n);
}

size_t width_of(struct str s)
{
	size_t sum = 0;

	while (s.n > 0) {
		size_t columns, n = width_next(s, &columns).n;

		sum += columns;
		s = str_from(s, n);
	}
	return sum;
}

struct str width_upto(struct str s, size_t columns)
{
	struct str rest = s;

	while (rest.n > 0) {
		size_t wide_by, n = width_next(rest, &wide_by).n;

		if (wide_by > columns)
			break;
		columns -= wide_by;
		rest = str_from(rest, n);
	}
	return str_upto(s, s.n - rest.n);
}

struct str width_ending(struct str s, size_t columns)
{
	size_t left = width_of(s);

	while (left > columns) {
		size_t wide_by, n = width_next(s, &wide_by).n;

		left -= wide_by;
		s = str_from(s, n);
	}
	return s;
}
