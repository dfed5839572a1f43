#include "base/rand.h"

#include <errno.h>
#include <math.h>
#include <sys/random.h>

#include "base/must.h"

void rand_seed(struct rand_gen *g, uint64_t seed)
{
	g->state = seed;
}

void rand_os_bytes(void *p, size_t n)
{
	char *b = p;

	while (n > 0) {
		ssize_t got = getrandom(b, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		must(got > 0);
		b += got;
		n -= (size_t)got;
	}
}

void rand_seed_os(struct rand_gen *g)
{
	rand_os_bytes(&g->state, sizeof(g->state));
}

uint64_t rand_u64(struct rand_gen *g)
{
	uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t rand_below(struct rand_gen *g, uint64_t limit)
{
	return limit == 0 ? 0 : (uint64_t)(((unsigned __int128)rand_u64(g) * limit) >> 64);
}

double rand_unit(struct rand_gen *g)
{
	return (double)(rand_u64(g) >> 11) * 0x1.0p-53;
}

double rand_normal(struct rand_gen *g)
{
	double u = 1.0 - rand_unit(g), v = rand_unit(g);

	return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}
