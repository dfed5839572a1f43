#include "json/utf8.h"

static bool continues(unsigned char c, unsigned lowest, unsigned highest)
{
	return c >= lowest && c <= highest;
}

/* How long a character is by its first byte (0: no first byte), and what its second byte may be. */
static size_t lead(unsigned char c, unsigned *lowest, unsigned *highest)
{
	*lowest = 0x80;
	*highest = 0xbf;
	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4)
		return 0;
	if (c == 0xe0)
		*lowest = 0xa0; /* no overlong forms */
	if (c == 0xf0)
		*lowest = 0x90;
	if (c == 0xed)
		*highest = 0x9f; /* no surrogates */
	if (c == 0xf4)
		*highest = 0x8f; /* nothing above U+10FFFF */
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

size_t utf8_length(const char *p, size_t n, bool *good)
{
	unsigned lowest, highest;
	size_t want = lead((unsigned char)p[0], &lowest, &highest), have = 1;

	while (have < want && have < n && continues((unsigned char)p[have], lowest, highest)) {
		have++;
		lowest = 0x80;
		highest = 0xbf;
	}
	*good = have == want;
	return have;
}

uint64_t utf8_bad(struct str s)
{
	uint64_t bad = 0, eight;
	size_t i = 0;
	bool good;

	while (i < s.n) {
		if (i + 8 <= s.n) {
			memcpy(&eight, s.p + i, 8);
			if ((eight & UINT64_C(0x8080808080808080)) == 0) {
				i += 8;
				continue;
			}
		}
		i += utf8_length(s.p + i, s.n - i, &good);
		bad += !good;
	}
	return bad;
}
