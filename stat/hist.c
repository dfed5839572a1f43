#include "stat/hist.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

enum { SUBS = 1 << HIST_SCALE, GRAIN = 16 };

/* Where each of the 32 buckets of an octave begins: floor(2^(63 + j/32)). All but the first are irrational, so that
 * for whole m, m > 2^(63 + j/32) and m > threshold[j] say the same. */
static const uint64_t threshold[SUBS] = {
	UINT64_C(0x8000000000000000),
	UINT64_C(0x82cd8698ac2ba1d7),
	UINT64_C(0x85aac367cc487b14),
	UINT64_C(0x88980e8092da8527),
	UINT64_C(0x8b95c1e3ea8bd6e6),
	UINT64_C(0x8ea4398b45cd53c0),
	UINT64_C(0x91c3d373ab11c336),
	UINT64_C(0x94f4efa8fef70961),
	UINT64_C(0x9837f0518db8a96f),
	UINT64_C(0x9b8d39b9d54e5538),
	UINT64_C(0x9ef5326091a111ad),
	UINT64_C(0xa27043030c496818),
	UINT64_C(0xa5fed6a9b15138ea),
	UINT64_C(0xa9a15ab4ea7c0ef8),
	UINT64_C(0xad583eea42a14ac6),
	UINT64_C(0xb123f581d2ac258f),
	UINT64_C(0xb504f333f9de6484),
	UINT64_C(0xb8fbaf4762fb9ee9),
	UINT64_C(0xbd08a39f580c36be),
	UINT64_C(0xc12c4cca66709456),
	UINT64_C(0xc5672a115506dadd),
	UINT64_C(0xc9b9bd866e2f27a2),
	UINT64_C(0xce248c151f8480e3),
	UINT64_C(0xd2a81d91f12ae45a),
	UINT64_C(0xd744fccad69d6af4),
	UINT64_C(0xdbfbb797daf23755),
	UINT64_C(0xe0ccdeec2a94e111),
	UINT64_C(0xe5b906e77c8348a8),
	UINT64_C(0xeac0c6e7dd24392e),
	UINT64_C(0xefe4b99bdcdaf5cb),
	UINT64_C(0xf5257d152486cc2c),
	UINT64_C(0xfa83b2db722a033a),
};

/* How many thresholds lie below the smallest number whose five bits after the leading one are the index: at most two
 * more have to be looked at from there. */
static const uint8_t passed[SUBS] = {
	0,
	2,
	3,
	5,
	6,
	7,
	8,
	10,
	11,
	12,
	13,
	14,
	15,
	16,
	17,
	18,
	19,
	20,
	21,
	22,
	23,
	24,
	25,
	26,
	26,
	27,
	28,
	29,
	30,
	30,
	31,
	32,
};

int32_t hist_index(int64_t ns)
{
	int octave;
	uint64_t m;
	int32_t sub;

	must(ns >= 1);
	octave = 63 - __builtin_clzll((unsigned long long)ns);
	m = (uint64_t)ns << (63 - octave);
	sub = passed[(m >> (63 - HIST_SCALE)) & (SUBS - 1)];
	while (sub < SUBS && m > threshold[sub])
		sub++;
	return octave * SUBS + sub - 1;
}

bool hist_index_valid(int64_t index)
{
	return index >= HIST_INDEX_MIN && index <= HIST_INDEX_MAX;
}

double hist_lower(int32_t index)
{
	return exp2((double)index / (double)SUBS);
}

double hist_upper(int32_t index)
{
	return exp2(((double)index + 1) / (double)SUBS);
}

double hist_middle(int32_t index)
{
	return exp2(((double)index + 0.5) / (double)SUBS);
}

void hist_init(struct hist *h)
{
	*h = (struct hist){ 0 };
}

void hist_fini(struct hist *h)
{
	if (h == NULL)
		return;
	mem_free(h->count);
	*h = (struct hist){ 0 };
}

void hist_reset(struct hist *h)
{
	h->zero = 0;
	if (h->n)
		memset(h->count, 0, h->n * sizeof(*h->count));
}

static uint64_t add_or_stay_full(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int32_t grain_down(int32_t index)
{
	int32_t at = (index - HIST_INDEX_MIN) / GRAIN * GRAIN + HIST_INDEX_MIN;

	return at;
}

static int32_t grain_up(int32_t index)
{
	int32_t last = grain_down(index) + GRAIN - 1;

	return last > HIST_INDEX_MAX ? HIST_INDEX_MAX : last;
}

/* Room for the buckets first to last; grown by grains, so that neighbours do not each cost a move. */
static void cover(struct hist *h, int32_t first, int32_t last)
{
	uint64_t *count;
	int32_t lo, hi;

	if (h->n && first >= h->lo && last < h->lo + (int32_t)h->n)
		return;
	lo = grain_down(first);
	hi = grain_up(last);
	if (h->n) {
		lo = h->lo < lo ? h->lo : lo;
		hi = h->lo + (int32_t)h->n - 1 > hi ? h->lo + (int32_t)h->n - 1 : hi;
	}
	count = mem_get_array((size_t)(hi - lo + 1), sizeof(*count));
	if (h->n)
		memcpy(count + (h->lo - lo), h->count, h->n * sizeof(*count));
	mem_free(h->count);
	h->count = count;
	h->lo = lo;
	h->n = (uint32_t)(hi - lo + 1);
}

void hist_add_bucket(struct hist *h, int32_t index, uint64_t count)
{
	uint64_t *at;

	must(hist_index_valid(index));
	if (count == 0)
		return;
	cover(h, index, index);
	at = &h->count[index - h->lo];
	*at = add_or_stay_full(*at, count);
}

void hist_add_n(struct hist *h, int64_t ns, uint64_t times)
{
	if (ns <= 0)
		h->zero = add_or_stay_full(h->zero, times);
	else
		hist_add_bucket(h, hist_index(ns), times);
}

void hist_add(struct hist *h, int64_t ns)
{
	hist_add_n(h, ns, 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	uint32_t first = 0, end = from->n;

	into->zero = add_or_stay_full(into->zero, from->zero);
	while (first < end && from->count[first] == 0)
		first++;
	while (end > first && from->count[end - 1] == 0)
		end--;
	if (first == end)
		return;
	cover(into, from->lo + (int32_t)first, from->lo + (int32_t)end - 1);
	for (uint32_t i = first; i < end; i++) {
		uint64_t *at = &into->count[from->lo + (int32_t)i - into->lo];

		*at = add_or_stay_full(*at, from->count[i]);
	}
}

void hist_copy(struct hist *into, const struct hist *from)
{
	if (into == from)
		return;
	hist_reset(into);
	hist_merge(into, from);
}

uint64_t hist_count(const struct hist *h)
{
	uint64_t sum = h->zero;

	for (uint32_t i = 0; i < h->n; i++)
		sum = add_or_stay_full(sum, h->count[i]);
	return sum;
}

bool hist_empty(const struct hist *h)
{
	return hist_count(h) == 0;
}

double hist_quantile(const struct hist *h, double q)
{
	uint64_t total = hist_count(h), below = h->zero;
	double rank = ceil(q * (double)total);

	if (total == 0)
		return 0;
	if (!(rank >= 1)) /* also a q that is no number */
		rank = 1;
	if (rank > (double)total)
		rank = (double)total;
	if (rank <= (double)below)
		return 0;
	for (uint32_t i = 0; i < h->n; i++) {
		below = add_or_stay_full(below, h->count[i]);
		if (h->count[i] && rank <= (double)below)
			return hist_middle(h->lo + (int32_t)i);
	}
	return hist_middle(h->lo + (int32_t)h->n - 1); /* only where counts are too large for a double */
}

double hist_rank(const struct hist *h, double ns)
{
	double total = (double)hist_count(h), below = 0;

	if (total <= 0 || !(ns >= 0))
		return 0;
	below = (double)h->zero;
	for (uint32_t i = 0; i < h->n; i++) {
		double lower = hist_lower(h->lo + (int32_t)i), upper = hist_upper(h->lo + (int32_t)i);

		if (ns <= lower)
			break;
		below += (double)h->count[i] * (ns >= upper ? 1 : (ns - lower) / (upper - lower));
	}
	return below > total ? 1 : below / total;
}

size_t hist_next(const struct hist *h, size_t at, int32_t *index, uint64_t *count)
{
	while (at < h->n && h->count[at] == 0)
		at++;
	if (at >= h->n)
		return 0;
	*index = h->lo + (int32_t)at;
	*count = h->count[at];
	return at + 1;
}

size_t hist_used(const struct hist *h)
{
	size_t used = 0;

	for (uint32_t i = 0; i < h->n; i++)
		used += h->count[i] != 0;
	return used;
}
