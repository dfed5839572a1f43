/* robust.h — medians and kin over small arrays of doubles. Pure; arrays given as "scratch" are reordered. */
#ifndef STAT_ROBUST_H
#define STAT_ROBUST_H

#include <stddef.h>

double robust_median(double *scratch, size_t n);	       /* 0 for none; the mean of the middle two when even */
double robust_quantile(double *scratch, size_t n, double q);   /* linear between ranks (type 7 of Hyndman and Fan) */
double robust_mad(double *scratch, size_t n, double *median);  /* median absolute deviation, not scaled by 1.4826 */
/* The value at which half of all weight lies below: for ratios weighted by time. Values and weights are reordered. */
double robust_weighted_median(double *values, double *weights, size_t n);

#endif
