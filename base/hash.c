#include "base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

struct hash128 {
	XXH3_state_t state;
};

uint64_t hash64(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}

struct hash128 *hash128_new(void)
{
	/* XXH3_createState aligns to 64 bytes, which calloc does not. */
	struct hash128 *h = (struct hash128 *)XXH3_createState();

	if (h == NULL)
		return mem_get(SIZE_MAX / 2); /* dies with the usual message */
	XXH3_128bits_reset(&h->state);
	return h;
}

void hash128_free(struct hash128 *h)
{
	if (h != NULL)
		XXH3_freeState(&h->state);
}

void hash128_add(struct hash128 *h, const void *p, size_t n)
{
	XXH3_128bits_update(&h->state, p, n);
}

void hash128_add_str(struct hash128 *h, struct str s)
{
	uint64_t n = s.n;
	uint8_t le[8];

	for (int i = 0; i < 8; i++)
		le[i] = (uint8_t)(n >> (8 * i));
	hash128_add(h, le, sizeof(le));
	hash128_add(h, s.p, s.n);
}

void hash128_get(const struct hash128 *h, uint8_t out[16])
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&h->state));
	memcpy(out, c.digest, 16);
}
