/* num.h — decimal text to numbers, exactly, without the locale and without a double in between. Pure functions. */
#ifndef JSON_NUM_H
#define JSON_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/code.h"
#include "base/str.h"

bool json_number_valid(struct str number); /* by the grammar of RFC 8259, section 6 */

/* A JSON number that is whole (also "1e3" and "2.0"): E_FORMAT for others, E_LIMIT when out of range. */
int json_i64(struct str number, int64_t *out) MUST_USE;
int json_u64(struct str number, uint64_t *out) MUST_USE;
int json_double(struct str number, double *out) MUST_USE;

/* number x 10^shift as a whole number, further decimals cut off towards zero. Times in traces are microseconds as
 * decimal text of up to 19 digits and more, also with an exponent: shift 3 gives nanoseconds, 6 picoseconds.
 * E_FORMAT where it is no number, E_LIMIT out of range. */
int json_fixed(struct str number, int shift, int64_t *out) MUST_USE;
/* The same to the nearest whole number, of two equally near ones the even one. Times that went through a double have
 * decimals like 5.4059999999999997. */
int json_nearest(struct str number, int shift, int64_t *out) MUST_USE;

#endif
