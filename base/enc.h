/* enc.h — small encodings: hex, CRC-32C, little-endian numbers, varints. Pure functions. */
#ifndef BASE_ENC_H
#define BASE_ENC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/code.h"
#include "base/str.h"

/* Lower-case hex of n bytes; out holds 2n + 1. */
void enc_hex(const uint8_t *p, size_t n, char *out);
/* Exactly 2n digits of either case; E_FORMAT otherwise. */
int enc_unhex(struct str s, uint8_t *out, size_t n) MUST_USE;
int enc_hex_digit(char c); /* of either case; -1 for what is none */

/* CRC-32C (Castagnoli, RFC 3720 appendix B.4). Start with 0, hand the last value on. */
uint32_t enc_crc32c(uint32_t crc, const void *p, size_t n);

static inline void enc_put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline uint32_t enc_get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void enc_put64(uint8_t *p, uint64_t v)
{
	enc_put32(p, (uint32_t)v);
	enc_put32(p + 4, (uint32_t)(v >> 32));
}

static inline uint64_t enc_get64(const uint8_t *p)
{
	return (uint64_t)enc_get32(p) | (uint64_t)enc_get32(p + 4) << 32;
}

static inline uint64_t enc_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t enc_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* LEB128 as protobuf has it: seven bits a byte, low first. */
enum { ENC_VARINT_MAX = 10 };
size_t enc_put_varint(uint8_t *out, uint64_t v); /* bytes written, at most ENC_VARINT_MAX */
/* Bytes read, 0 when it ends early or is longer than 64 bits. */
size_t enc_get_varint(const uint8_t *p, size_t n, uint64_t *v);

#endif
