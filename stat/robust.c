#include "stat/robust.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double robust_quantile(double *scratch, size_t n, double q)
{
	double at, low;
	size_t i;

	if (n == 0)
		return 0;
	qsort(scratch, n, sizeof(*scratch), by_value);
	at = fmin(fmax(q, 0), 1) * (double)(n - 1);
	low = floor(at);
	i = (size_t)low;
	if (i + 1 >= n)
		return scratch[n - 1];
	return scratch[i] + (at - low) * (scratch[i + 1] - scratch[i]);
}

double robust_median(double *scratch, size_t n)
{
	return robust_quantile(scratch, n, 0.5);
}

double robust_mad(double *scratch, size_t n, double *median)
{
	double middle = robust_median(scratch, n);

	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(scratch[i] - middle);
	if (median != NULL)
		*median = middle;
	return robust_median(scratch, n);
}

static void swap(double *v, size_t i, size_t k)
{
	double kept = v[i];

	v[i] = v[k];
	v[k] = kept;
}

/* Heap order from i down, over n items that carry their weights along: qsort cannot move two arrays. */
static void sift(double *values, double *weights, size_t i, size_t n)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n && values[child + 1] > values[child])
			child++;
		if (!(values[child] > values[i]))
			return;
		swap(values, i, child);
		swap(weights, i, child);
		i = child;
	}
}

static void sort_together(double *values, double *weights, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(values, weights, i, n);
	for (size_t end = n; end-- > 1;) {
		swap(values, 0, end);
		swap(weights, 0, end);
		sift(values, weights, 0, end);
	}
}

double robust_weighted_median(double *values, double *weights, size_t n)
{
	double total = 0, below = 0;

	if (n == 0)
		return 0;
	sort_together(values, weights, n);
	for (size_t i = 0; i < n; i++)
		total += weights[i];
	for (size_t i = 0; i < n; i++) {
		below += weights[i];
		if (below > total / 2)
			return values[i];
		if (below >= total / 2 && i + 1 < n && total > 0)
			return (values[i] + values[i + 1]) / 2;
	}
	return values[n - 1];
}
