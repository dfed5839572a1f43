/* With each value as often as it occurs, the two samples in ascending order, ties shared:
 *	U = sum over b's values of (a's values below + half of a's values alike)
 *	z = (U - ab/2) / sqrt(ab/12 (N + 1 - sum of (t^3 - t) / (N (N - 1)))), t being the sizes of the ties, N = a + b
 * as scipy.stats.mannwhitneyu(b, a, use_continuity=False, method="asymptotic") has it. */
#include "stat/rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Values in ascending order, each with how often it occurs. */
struct cursor {
	const double *values; /* of an array… */
	size_t n, at;
	const struct hist *hist; /* …or of a histogram, its zeros first */
	double divisor;
	double value, weight; /* the current one; weight 0 at the end */
};

static void next_of_array(struct cursor *c)
{
	c->weight = 0;
	if (c->at == c->n)
		return;
	c->value = c->values[c->at];
	while (c->at < c->n && !(c->values[c->at] > c->value)) {
		c->weight++;
		c->at++;
	}
}

static void next_of_hist(struct cursor *c)
{
	int32_t index;
	uint64_t count;

	c->at = hist_next(c->hist, c->at, &index, &count);
	c->weight = 0;
	if (c->at == 0) {
		c->at = c->hist->n;
		return;
	}
	c->value = hist_middle(index) / c->divisor;
	c->weight = (double)count;
}

static void next(struct cursor *c)
{
	if (c->hist != NULL)
		next_of_hist(c);
	else
		next_of_array(c);
}

static void first(struct cursor *c)
{
	if (c->hist != NULL && c->hist->zero > 0) {
		c->value = 0;
		c->weight = (double)c->hist->zero;
	} else {
		next(c);
	}
}

/* Values closer than rounding are the same: a bucket's middle divided is not exactly another's. */
static bool alike(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

struct sums {
	double a, b; /* values gone by */
	double u;
	double ties; /* sum of t^3 - t */
};

/* The next value of either side, with all that are alike on both. */
static void take_lowest(struct sums *s, struct cursor *a, struct cursor *b)
{
	bool from_a = a->weight > 0 && (!(b->weight > 0) || a->value < b->value || alike(a->value, b->value));
	bool from_b = b->weight > 0 && (!(a->weight > 0) || b->value < a->value || alike(a->value, b->value));
	double in_a = from_a ? a->weight : 0, in_b = from_b ? b->weight : 0, t = in_a + in_b;

	s->u += in_b * (s->a + in_a / 2);
	s->ties += t * t * t - t;
	s->a += in_a;
	s->b += in_b;
	if (from_a)
		next(a);
	if (from_b)
		next(b);
}

static struct rank_test compare(struct cursor a, struct cursor b)
{
	struct rank_test out = { 0, 0 };
	struct sums s = { 0, 0, 0, 0 };
	double n, variance;

	first(&a);
	first(&b);
	while (a.weight > 0 || b.weight > 0)
		take_lowest(&s, &a, &b);
	n = s.a + s.b;
	if (!(s.a > 0 && s.b > 0))
		return out;
	variance = s.a * s.b / 12 * (n + 1 - s.ties / (n * (n - 1)));
	out.cliff_delta = 2 * s.u / (s.a * s.b) - 1;
	if (variance > 0)
		out.z = (s.u - s.a * s.b / 2) / sqrt(variance);
	return out;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct rank_test rank_values(double *a, size_t n_a, double *b, size_t n_b)
{
	if (n_a)
		qsort(a, n_a, sizeof(*a), by_value);
	if (n_b)
		qsort(b, n_b, sizeof(*b), by_value);
	return compare((struct cursor){ .values = a, .n = n_a }, (struct cursor){ .values = b, .n = n_b });
}

struct rank_test rank_hists(const struct hist *a, const struct hist *b, double divisor)
{
	return compare(
		(struct cursor){ .hist = a, .divisor = 1 }, (struct cursor){ .hist = b, .divisor = divisor });
}
