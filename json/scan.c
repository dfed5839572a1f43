#include "json/scan.h"

#include <stdint.h>
#include <string.h>

/* Eight bytes at a time in one register. In each step the lowest marked byte is exact; marks above it may be false, as
 * borrows travel upwards. Little-endian order makes the lowest byte the first. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH_BITS  EACH(0x80)

static uint64_t load8(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static uint64_t mark_below(uint64_t v, unsigned limit)
{
	return (v - EACH(limit)) & ~v & HIGH_BITS;
}

static uint64_t mark_equal(uint64_t v, unsigned byte)
{
	return mark_below(v ^ EACH(byte), 1);
}

static bool ends_text(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20;
}

static size_t scalar_string(const char *p, size_t n, bool *high)
{
	uint64_t seen = 0;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v = load8(p + i);
		uint64_t marks = mark_equal(v, '"') | mark_equal(v, '\\') | mark_below(v, 0x20);

		if (marks) {
			unsigned bits = (unsigned)__builtin_ctzll(marks) & ~7u;

			seen |= v & ((UINT64_C(1) << bits) - 1);
			i += bits / 8;
			goto out;
		}
		seen |= v;
	}
	for (; i < n && !ends_text((unsigned char)p[i]); i++)
		seen |= (unsigned char)p[i];
out:
	if (seen & HIGH_BITS)
		*high = true;
	return i;
}

static const bool is_structure[256] = {
	['"'] = true,
	['{'] = true,
	['}'] = true,
	['['] = true,
	[']'] = true,
};

/* Runs are short (a number, a comma): eight at a time would not pay. */
static size_t scalar_structure(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && !is_structure[(unsigned char)p[i]])
		i++;
	return i;
}

static size_t scalar_lines(const char *p, size_t n)
{
	size_t lines = 0, i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t v = load8(p + i) ^ EACH('\n');
		/* exact in every byte: the seven low bits cannot carry into the next */
		uint64_t zero = ~(((v & ~HIGH_BITS) + ~HIGH_BITS) | v | ~HIGH_BITS);

		lines += (size_t)((zero >> 7) * EACH(1) >> 56);
	}
	for (; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

const struct json_scan json_scan_scalar = {
	.name = "scalar",
	.string = scalar_string,
	.structure = scalar_structure,
	.lines = scalar_lines,
};

const struct json_scan *json_scan_best(void)
{
	return &json_scan_scalar;
}
