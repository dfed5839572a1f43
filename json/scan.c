#include "json/scan.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

/* ---- x86-64: line feeds 32 at a time; the other two are for what trace/quick leaves over */
#if defined(__x86_64__)

__attribute__((target("avx2,popcnt"))) static size_t avx2_lines(const char *p, size_t n)
{
	const __m256i feed = _mm256_set1_epi8('\n');
	size_t lines = 0, i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));

		lines += (size_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, feed)));
	}
	return lines + scalar_lines(p + i, n - i);
}

const struct json_scan json_scan_avx2 = {
	.name = "avx2",
	.string = scalar_string,
	.structure = scalar_structure,
	.lines = avx2_lines,
};
#endif

const struct json_scan json_scan_scalar = {
	.name = "scalar",
	.string = scalar_string,
	.structure = scalar_structure,
	.lines = scalar_lines,
};

const struct json_scan *json_scan_best(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
		return &json_scan_avx2;
#endif
	return &json_scan_scalar;
}
