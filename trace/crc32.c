#include "trace/crc32.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <zlib.h>

static bool always(void)
{
	return true;
}

static uint32_t zlib_add(uint32_t crc, const void *p, size_t n)
{
	return (uint32_t)crc32_z(crc, p, n);
}

static const struct crc32_kernel zlib = { "zlib", always, zlib_add };

/* ---- x86-64
 *
 * The bytes are a polynomial over one bit, of which the checksum is the rest modulo P. Hence a piece of 128 bits may be replaced
 * by what is congruent to it so many bits further on: its two halves times x to that distance modulo P, which are constants
 * (V. Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009).
 *
 *	| x0 | x1 | x2 | x3 | next 64 bytes …		x0…x3 are folded over the next four, and so on
 *	               | x3 | up to 63 bytes		at the end over each other, and the rest of it is zlib's
 *
 * With AVX-512 each x is four of them side by side. Bits are reflected: the lowest bit of the first byte is the highest power, and
 * constants are shifted left by one. */
#if defined(__x86_64__)

#define PCLMUL __attribute__((target("pclmul,sse2")))
#define VPCLMUL __attribute__((target("vpclmulqdq,avx512f,pclmul")))

/* x to the power of the distance + 32, and of the distance - 32, modulo P */
#define BY_2048 0x1322d1430, 0x11542778a
#define BY_512 0x1c6e41596, 0x154442bd4
#define BY_128 0x0ccaa009e, 0x1751997d0

static bool pclmul_runs(void)
{
	return __builtin_cpu_supports("pclmul");
}

PCLMUL static inline __m128i load(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

PCLMUL static inline __m128i fold(__m128i x, __m128i by, __m128i onto)
{
	__m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

/* What four stand for, and the n bytes at p behind them. */
PCLMUL static inline uint32_t finish(__m128i x0, __m128i x1, __m128i x2, __m128i x3, const unsigned char *p, size_t n)
{
	const __m128i by_128 = _mm_set_epi64x(BY_128);
	unsigned char rest[16];
	uint32_t crc;

	x3 = fold(fold(fold(x0, by_128, x1), by_128, x2), by_128, x3);
	_mm_storeu_si128((__m128i *)(void *)rest, x3);
	crc = zlib_add(UINT32_MAX, rest, sizeof(rest)); /* as if nothing was before: it is in them */
	return zlib_add(crc, p, n);
}

PCLMUL static uint32_t pclmul_add(uint32_t crc, const void *bytes, size_t n)
{
	const __m128i by = _mm_set_epi64x(BY_512);
	const unsigned char *p = bytes;
	__m128i x0, x1, x2, x3;

	if (n < 64)
		return zlib_add(crc, p, n);
	x0 = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)~crc));
	x1 = load(p + 16);
	x2 = load(p + 32);
	x3 = load(p + 48);
	for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
		x0 = fold(x0, by, load(p));
		x1 = fold(x1, by, load(p + 16));
		x2 = fold(x2, by, load(p + 32));
		x3 = fold(x3, by, load(p + 48));
	}
	return finish(x0, x1, x2, x3, p, n);
}

static const struct crc32_kernel pclmul = { "pclmul", pclmul_runs, pclmul_add };

static bool vpclmul_runs(void)
{
	return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f") && pclmul_runs();
}

VPCLMUL static inline __m512i load4(const unsigned char *p)
{
	return _mm512_loadu_si512((const void *)p);
}

VPCLMUL static inline __m512i fold4(__m512i x, __m512i by, __m512i onto)
{
	__m512i low = _mm512_clmulepi64_epi128(x, by, 0x00), high = _mm512_clmulepi64_epi128(x, by, 0x11);

	return _mm512_xor_si512(_mm512_xor_si512(low, high), onto);
}

VPCLMUL static uint32_t vpclmul_add(uint32_t crc, const void *bytes, size_t n)
{
	const __m512i by = _mm512_broadcast_i32x4(_mm_set_epi64x(BY_2048)), last = _mm512_broadcast_i32x4(_mm_set_epi64x(BY_512));
	const unsigned char *p = bytes;
	__m512i x0, x1, x2, x3;

	if (n < 256)
		return pclmul_add(crc, p, n);
	x0 = _mm512_xor_si512(load4(p), _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
	x1 = load4(p + 64);
	x2 = load4(p + 128);
	x3 = load4(p + 192);
	for (p += 256, n -= 256; n >= 256; p += 256, n -= 256) {
		x0 = fold4(x0, by, load4(p));
		x1 = fold4(x1, by, load4(p + 64));
		x2 = fold4(x2, by, load4(p + 128));
		x3 = fold4(x3, by, load4(p + 192));
	}
	x3 = fold4(fold4(fold4(x0, last, x1), last, x2), last, x3);
	for (; n >= 64; p += 64, n -= 64)
		x3 = fold4(x3, last, load4(p));
	return finish(_mm512_castsi512_si128(x3), _mm512_extracti32x4_epi32(x3, 1), _mm512_extracti32x4_epi32(x3, 2),
		_mm512_extracti32x4_epi32(x3, 3), p, n);
}

static const struct crc32_kernel vpclmul = { "vpclmul", vpclmul_runs, vpclmul_add };
#endif

const struct crc32_kernel *const crc32_kernels[] = {
	&zlib,
#if defined(__x86_64__)
	&pclmul,
	&vpclmul,
#endif
	NULL,
};

uint32_t crc32_add(uint32_t crc, const void *p, size_t n)
{
	const struct crc32_kernel *best = &zlib;

	for (size_t i = 0; crc32_kernels[i] != NULL; i++)
		if (crc32_kernels[i]->runs_here())
			best = crc32_kernels[i];
	return best->add(crc, p, n);
}
