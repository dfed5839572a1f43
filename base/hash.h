/* hash.h — fast hashes of bytes: XXH3 of the xxHash library (doc/decisions/0004). Not cryptographic.
 * Runs on: any thread. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* 64 bits; a seed of the process's own keeps peers from choosing keys that collide in a map. */
uint64_t hash64(const void *p, size_t n, uint64_t seed);

/* 128 bits over a stream; the same bytes in any pieces give the same hash. */
struct hash128;

struct hash128 *hash128_new(void);
void hash128_free(struct hash128 *h);
void hash128_add(struct hash128 *h, const void *p, size_t n);
void hash128_add_str(struct hash128 *h, struct str s); /* its length, then its bytes: no two lists of texts are alike */
void hash128_get(const struct hash128 *h, uint8_t out[16]);

#endif
