/* rand.h — a seeded generator (SplitMix64, Steele et al. 2014) for jitter, tests and stories. Not for secrets. */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand_gen {
	uint64_t state;
};

void rand_seed(struct rand_gen *g, uint64_t seed);
void rand_seed_os(struct rand_gen *g); /* from the kernel */
uint64_t rand_u64(struct rand_gen *g);
uint64_t rand_below(struct rand_gen *g, uint64_t limit); /* 0 … limit - 1; 0 where limit is 0 */
double rand_unit(struct rand_gen *g);			 /* 0 <= x < 1 */
double rand_normal(struct rand_gen *g);			 /* mean 0, deviation 1 */

void rand_os_bytes(void *p, size_t n); /* from the kernel, fit for ids and secrets; dies when there are none */

#endif
