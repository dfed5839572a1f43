#include "json/mask.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* What a kernel finds in 64 bytes before it is known which of them stand in strings. */
struct classes {
	uint64_t quote, back_slash, bracket, control, high;
};

/* The bytes that a back-slash takes its meaning from. Back-slashes are rare, so they are gone through one by one. */
static inline __attribute__((always_inline)) uint64_t escaped_bytes(uint64_t back_slash, uint64_t *carry)
{
	uint64_t escaped = *carry, open = back_slash & ~escaped;

	*carry = 0;
	while (open) {
		unsigned at = (unsigned)__builtin_ctzll(open);

		if (at == 63) {
			*carry = 1;
			break;
		}
		escaped |= UINT64_C(2) << at;
		open &= ~(UINT64_C(3) << at);
	}
	return escaped;
}

/* Bit i of the answer: how many of bits 0…i are set, modulo 2. */
static inline __attribute__((always_inline)) uint64_t prefix_parity(uint64_t v)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		v ^= v << shift;
	return v;
}

static inline __attribute__((always_inline)) void put(const struct classes *c, uint64_t quote, uint64_t parity,
	struct json_mask_state *s, struct json_mask *out)
{
	uint64_t inside = parity ^ s->in_string; /* from an opening quote up to the byte before the closing one */

	s->in_string = (uint64_t)((int64_t)inside >> 63);
	out->quote = quote;
	out->bracket = c->bracket & ~inside;
	out->odd = c->back_slash | ((c->control | c->high) & inside);
}

/* ---- scalar */

enum { C_QUOTE = 1, C_BACK_SLASH = 2, C_BRACKET = 4, C_CONTROL = 8, C_HIGH = 16 };

static inline unsigned class_of(unsigned char c)
{
	if (c >= 0x80)
		return C_HIGH;
	if (c < 0x20)
		return C_CONTROL;
	switch (c) {
	case '"': return C_QUOTE;
	case '\\': return C_BACK_SLASH;
	case '{':
	case '}':
	case '[':
	case ']': return C_BRACKET;
	default: return 0;
	}
}

static bool always(void)
{
	return true;
}

static void scalar_run(const char *p, size_t blocks, struct json_mask_state *s, struct json_mask *out)
{
	for (size_t b = 0; b < blocks; b++, p += 64) {
		struct classes c = { 0 };
		uint64_t quote;

		for (unsigned i = 0; i < 64; i++) {
			uint64_t class = class_of((unsigned char)p[i]);

			c.quote |= (class & 1) << i;
			c.back_slash |= (class >> 1 & 1) << i;
			c.bracket |= (class >> 2 & 1) << i;
			c.control |= (class >> 3 & 1) << i;
			c.high |= (class >> 4 & 1) << i;
		}
		quote = c.quote & ~escaped_bytes(c.back_slash, &s->escaped);
		put(&c, quote, prefix_parity(quote), s, &out[b]);
	}
}

static const struct json_mask_kernel scalar = { "scalar", always, scalar_run };

/* ---- x86-64 */
#if defined(__x86_64__)

/* A product without carries with all ones is the prefix parity. */
#define CLMUL_PARITY(v)                                                                                             \
	((uint64_t)_mm_cvtsi128_si64(                                                                               \
		_mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)(v)), _mm_set1_epi8((char)0xff), 0)))

static bool avx2_runs(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul");
}

/* '[' and '{' differ in bit 5 alone, and so do ']' and '}': with that bit set, two comparisons find all four. */
__attribute__((target("avx2,pclmul"))) static void avx2_run(const char *p, size_t blocks, struct json_mask_state *s,
	struct json_mask *out)
{
	const __m256i quotes = _mm256_set1_epi8('"'), back_slashes = _mm256_set1_epi8('\\');
	const __m256i opens = _mm256_set1_epi8('{'), closes = _mm256_set1_epi8('}');
	const __m256i bit5 = _mm256_set1_epi8(0x20), last_control = _mm256_set1_epi8(0x1f);

	for (size_t b = 0; b < blocks; b++, p += 64) {
		struct classes c = { 0 };
		uint64_t quote;

		for (unsigned half = 0; half < 2; half++) {
			const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * half));
			const __m256i folded = _mm256_or_si256(v, bit5);
			const unsigned shift = 32 * half;

#define BITS(x) ((uint64_t)(uint32_t)_mm256_movemask_epi8(x) << shift)
			c.quote |= BITS(_mm256_cmpeq_epi8(v, quotes));
			c.back_slash |= BITS(_mm256_cmpeq_epi8(v, back_slashes));
			c.bracket |= BITS(_mm256_or_si256(_mm256_cmpeq_epi8(folded, opens), _mm256_cmpeq_epi8(folded, closes)));
			c.control |= BITS(_mm256_cmpeq_epi8(_mm256_min_epu8(v, last_control), v));
			c.high |= BITS(v);
#undef BITS
		}
		quote = c.quote & ~escaped_bytes(c.back_slash, &s->escaped);
		put(&c, quote, CLMUL_PARITY(quote), s, &out[b]);
	}
}

static const struct json_mask_kernel avx2 = { "avx2", avx2_runs, avx2_run };

static bool avx512_runs(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("pclmul");
}

__attribute__((target("avx512f,avx512bw,pclmul"))) static void avx512_run(const char *p, size_t blocks,
	struct json_mask_state *s, struct json_mask *out)
{
	const __m512i quotes = _mm512_set1_epi8('"'), back_slashes = _mm512_set1_epi8('\\');
	const __m512i opens = _mm512_set1_epi8('{'), closes = _mm512_set1_epi8('}');
	const __m512i bit5 = _mm512_set1_epi8(0x20);

	for (size_t b = 0; b < blocks; b++, p += 64) {
		const __m512i v = _mm512_loadu_si512((const void *)p);
		const __m512i folded = _mm512_or_si512(v, bit5);
		const struct classes c = {
			.quote = _mm512_cmpeq_epi8_mask(v, quotes),
			.back_slash = _mm512_cmpeq_epi8_mask(v, back_slashes),
			.bracket = _mm512_cmpeq_epi8_mask(folded, opens) | _mm512_cmpeq_epi8_mask(folded, closes),
			.control = _mm512_cmplt_epu8_mask(v, bit5),
			.high = _mm512_movepi8_mask(v),
		};
		const uint64_t quote = c.quote & ~escaped_bytes(c.back_slash, &s->escaped);

		put(&c, quote, CLMUL_PARITY(quote), s, &out[b]);
	}
}

static const struct json_mask_kernel avx512 = { "avx512", avx512_runs, avx512_run };

const struct json_mask_kernel *const json_mask_kernels[] = { &scalar, &avx2, &avx512, NULL };

/* ---- arm64 */
#elif defined(__aarch64__)

/* 64 comparison results of 0 or 0xff to 64 bits: each keeps the bit of its place in eight, then neighbours are added. */
static inline uint64_t neon_bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	const uint8x16_t place = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t ab = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
	uint8x16_t cd = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
	uint8x16_t all = vpaddq_u8(ab, cd);

	all = vpaddq_u8(all, all);
	return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}

#define NEON_BITS(test) neon_bits(test(0), test(1), test(2), test(3))

static void neon_run(const char *p, size_t blocks, struct json_mask_state *s, struct json_mask *out)
{
	const uint8x16_t quotes = vdupq_n_u8('"'), back_slashes = vdupq_n_u8('\\');
	const uint8x16_t opens = vdupq_n_u8('{'), closes = vdupq_n_u8('}');
	const uint8x16_t bit5 = vdupq_n_u8(0x20), first_high = vdupq_n_u8(0x80);

	for (size_t b = 0; b < blocks; b++, p += 64) {
		uint8x16_t v[4], folded[4];
		struct classes c;
		uint64_t quote;

		for (unsigned i = 0; i < 4; i++) {
			v[i] = vld1q_u8((const uint8_t *)p + 16 * i);
			folded[i] = vorrq_u8(v[i], bit5);
		}
#define IS_QUOTE(i) vceqq_u8(v[i], quotes)
#define IS_BACK_SLASH(i) vceqq_u8(v[i], back_slashes)
#define IS_BRACKET(i) vorrq_u8(vceqq_u8(folded[i], opens), vceqq_u8(folded[i], closes))
#define IS_CONTROL(i) vcltq_u8(v[i], bit5)
#define IS_HIGH(i) vcgeq_u8(v[i], first_high)
		c = (struct classes){ NEON_BITS(IS_QUOTE), NEON_BITS(IS_BACK_SLASH), NEON_BITS(IS_BRACKET),
			NEON_BITS(IS_CONTROL), NEON_BITS(IS_HIGH) };
		quote = c.quote & ~escaped_bytes(c.back_slash, &s->escaped);
		put(&c, quote, prefix_parity(quote), s, &out[b]);
	}
}

static const struct json_mask_kernel neon = { "neon", always, neon_run };

const struct json_mask_kernel *const json_mask_kernels[] = { &scalar, &neon, NULL };

#else

const struct json_mask_kernel *const json_mask_kernels[] = { &scalar, NULL };

#endif

const struct json_mask_kernel *json_mask_best(void)
{
	const struct json_mask_kernel *best = &scalar;

	for (size_t i = 0; json_mask_kernels[i] != NULL; i++)
		if (json_mask_kernels[i]->runs_here())
			best = json_mask_kernels[i];
	return best;
}
