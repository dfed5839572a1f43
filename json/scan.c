#include "json/scan.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
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

static bool always(void)
{
	return true;
}

static const struct json_scan scalar = { "scalar", always, scalar_string, scalar_structure, scalar_lines };

/* ---- x86-64. '[' and '{' differ in bit 5 alone, and so do ']' and '}': with that bit set, two comparisons find all four. */
#if defined(__x86_64__)

static bool avx2_runs(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
}

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static inline unsigned avx2_bits(__m256i v)
{
	return (unsigned)_mm256_movemask_epi8(v);
}

AVX2 static size_t avx2_string(const char *p, size_t n, bool *high)
{
	const __m256i quote = _mm256_set1_epi8('"'), back_slash = _mm256_set1_epi8('\\');
	const __m256i last_control = _mm256_set1_epi8(0x1f);
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
		const __m256i text = _mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, back_slash));
		const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, last_control), v);
		const unsigned ends = avx2_bits(_mm256_or_si256(text, control));
		/* of the bytes before the first end: all, where there is none */
		const unsigned before = ends ? (ends & -ends) - 1 : UINT32_MAX;

		if (avx2_bits(v) & before)
			*high = true;
		if (ends)
			return i + (size_t)__builtin_ctz(ends);
	}
	return i + scalar_string(p + i, n - i, high);
}

AVX2 static size_t avx2_structure(const char *p, size_t n)
{
	const __m256i quote = _mm256_set1_epi8('"'), open = _mm256_set1_epi8('{'), close = _mm256_set1_epi8('}');
	const __m256i bit5 = _mm256_set1_epi8(0x20);
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
		const __m256i folded = _mm256_or_si256(v, bit5);
		const __m256i bracket = _mm256_or_si256(_mm256_cmpeq_epi8(folded, open), _mm256_cmpeq_epi8(folded, close));
		const unsigned ends = avx2_bits(_mm256_or_si256(_mm256_cmpeq_epi8(v, quote), bracket));

		if (ends)
			return i + (size_t)__builtin_ctz(ends);
	}
	return i + scalar_structure(p + i, n - i);
}

AVX2 static size_t avx2_lines(const char *p, size_t n)
{
	const __m256i feed = _mm256_set1_epi8('\n');
	size_t lines = 0, i = 0;

	for (; i + 32 <= n; i += 32) {
		const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));

		lines += (size_t)__builtin_popcount(avx2_bits(_mm256_cmpeq_epi8(v, feed)));
	}
	return lines + scalar_lines(p + i, n - i);
}

static const struct json_scan avx2 = { "avx2", avx2_runs, avx2_string, avx2_structure, avx2_lines };

static bool avx512_runs(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && avx2_runs();
}

#define AVX512 __attribute__((target("avx512f,avx512bw,bmi,popcnt")))

/* The next 64 bytes, zeros for what lies behind the end; *valid has a bit for each that is there. */
AVX512 static inline __m512i avx512_load(const char *p, size_t left, uint64_t *valid)
{
	*valid = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
	return _mm512_maskz_loadu_epi8(*valid, p);
}

AVX512 static size_t avx512_string(const char *p, size_t n, bool *high)
{
	const __m512i quote = _mm512_set1_epi8('"'), back_slash = _mm512_set1_epi8('\\');
	const __m512i space = _mm512_set1_epi8(' ');

	for (size_t i = 0; i < n; i += 64) {
		uint64_t valid, ends, before;
		const __m512i v = avx512_load(p + i, n - i, &valid);

		ends = _mm512_cmpeq_epi8_mask(v, quote) | _mm512_cmpeq_epi8_mask(v, back_slash) |
		       _mm512_cmplt_epu8_mask(v, space);
		ends &= valid;
		before = ends ? (ends & -ends) - 1 : UINT64_MAX;
		if (_mm512_movepi8_mask(v) & before)
			*high = true;
		if (ends)
			return i + (size_t)__builtin_ctzll(ends);
	}
	return n;
}

AVX512 static size_t avx512_structure(const char *p, size_t n)
{
	const __m512i quote = _mm512_set1_epi8('"'), open = _mm512_set1_epi8('{'), close = _mm512_set1_epi8('}');
	const __m512i bit5 = _mm512_set1_epi8(0x20);

	for (size_t i = 0; i < n; i += 64) {
		uint64_t valid, ends;
		const __m512i v = avx512_load(p + i, n - i, &valid), folded = _mm512_or_si512(v, bit5);

		ends = _mm512_cmpeq_epi8_mask(v, quote) | _mm512_cmpeq_epi8_mask(folded, open) |
		       _mm512_cmpeq_epi8_mask(folded, close);
		if (ends) /* the zeros behind the end are none of these */
			return i + (size_t)__builtin_ctzll(ends);
	}
	return n;
}

AVX512 static size_t avx512_lines(const char *p, size_t n)
{
	const __m512i feed = _mm512_set1_epi8('\n');
	size_t lines = 0;

	for (size_t i = 0; i < n; i += 64) {
		uint64_t valid;

		lines += (size_t)__builtin_popcountll(_mm512_cmpeq_epi8_mask(avx512_load(p + i, n - i, &valid), feed));
	}
	return lines;
}

static const struct json_scan avx512 = { "avx512", avx512_runs, avx512_string, avx512_structure, avx512_lines };

const struct json_scan *const json_scan_kernels[] = { &scalar, &avx2, &avx512, NULL };

/* ---- arm64 */
#elif defined(__aarch64__)

/* Four bits for each byte of a comparison's result, the first byte's lowest. */
static inline uint64_t neon_nibbles(uint8x16_t v)
{
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(v), 4)), 0);
}

static size_t neon_string(const char *p, size_t n, bool *high)
{
	const uint8x16_t quote = vdupq_n_u8('"'), back_slash = vdupq_n_u8('\\'), space = vdupq_n_u8(' ');
	const uint8x16_t first_high = vdupq_n_u8(0x80);
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		const uint8x16_t v = vld1q_u8((const uint8_t *)p + i);
		const uint8x16_t text = vorrq_u8(vceqq_u8(v, quote), vceqq_u8(v, back_slash));
		const uint64_t ends = neon_nibbles(vorrq_u8(text, vcltq_u8(v, space)));
		const uint64_t before = ends ? (ends & -ends) - 1 : UINT64_MAX;

		if (neon_nibbles(vcgeq_u8(v, first_high)) & before)
			*high = true;
		if (ends)
			return i + (size_t)__builtin_ctzll(ends) / 4;
	}
	return i + scalar_string(p + i, n - i, high);
}

static size_t neon_structure(const char *p, size_t n)
{
	const uint8x16_t quote = vdupq_n_u8('"'), open = vdupq_n_u8('{'), close = vdupq_n_u8('}');
	const uint8x16_t bit5 = vdupq_n_u8(0x20);
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		const uint8x16_t v = vld1q_u8((const uint8_t *)p + i), folded = vorrq_u8(v, bit5);
		const uint8x16_t bracket = vorrq_u8(vceqq_u8(folded, open), vceqq_u8(folded, close));
		const uint64_t ends = neon_nibbles(vorrq_u8(vceqq_u8(v, quote), bracket));

		if (ends)
			return i + (size_t)__builtin_ctzll(ends) / 4;
	}
	return i + scalar_structure(p + i, n - i);
}

static size_t neon_lines(const char *p, size_t n)
{
	const uint8x16_t feed = vdupq_n_u8('\n'), one = vdupq_n_u8(1);
	size_t lines = 0, i = 0;

	for (; i + 16 <= n; i += 16)
		lines += vaddvq_u8(vandq_u8(vceqq_u8(vld1q_u8((const uint8_t *)p + i), feed), one));
	return lines + scalar_lines(p + i, n - i);
}

static const struct json_scan neon = { "neon", always, neon_string, neon_structure, neon_lines };

const struct json_scan *const json_scan_kernels[] = { &scalar, &neon, NULL };

#else

const struct json_scan *const json_scan_kernels[] = { &scalar, NULL };

#endif

const struct json_scan *json_scan_best(void)
{
	const struct json_scan *best = &scalar;

	for (size_t i = 0; json_scan_kernels[i] != NULL; i++)
		if (json_scan_kernels[i]->runs_here())
			best = json_scan_kernels[i];
	return best;
}
