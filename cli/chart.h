/* chart.h — one series over time, drawn in characters: bars on a time axis, deploys marked, plateaus labelled.
 *
 *	            v41                    v42
 *	                                   ┊      2.36 ms
 *	  2.00 ms ┤                        ┊▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
 *	          │                        ┊██████████████████
 *	  1.00 ms ┤         403 µs         ┊██████████████████
 *	          │▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄┊██████████████████
 *	        0 ┼───┬────────────┬───────┴─────┬────────────
 *	              Nov 10       Nov 17        Nov 24
 *
 * A column shows the median of its points; it never mixes points from before and after a mark. A mark has a column of
 * its own, so it hides no data. ASCII where the terminal is not UTF-8. Pure: text into a buffer. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

enum chart_unit { CHART_NS, CHART_COUNT, CHART_UNITS };

struct chart_point {
	int64_t t_ns;	    /* its start, ascending */
	double value, high; /* not negative; NaN for none. high is drawn as a shade above the bar */
};

struct chart_mark {
	int64_t t_ns; /* ascending */
	struct str label;
};

enum { CHART_WIDTH_MIN = 40, CHART_WIDTH_MAX = 400, CHART_HEIGHT_MIN = 4, CHART_HEIGHT_MAX = 60, CHART_MARKS_MAX = 12 };

struct chart {
	const struct chart_point *points;
	size_t n;
	int64_t point_ns; /* how long a point lasts */
	const struct chart_mark *marks;
	size_t n_marks; /* the first CHART_MARKS_MAX inside the time range are drawn */
	enum chart_unit unit;
	unsigned width, height; /* of everything, and of the bars; put into their limits */
	bool utf8, colour;
};

/* Nothing where no point has a value. Lines end with a newline and have no blanks at their ends. */
void chart_draw(const struct chart *c, struct buf *out);

/* A value as the chart labels it: "403 µs" ("403 us" in ASCII), or "2.5". */
struct str chart_value(const struct chart *c, double v, char out[CLOCK_TEXT]);

/* Are there points before this mark? One that falls into the first point, or before it, is drawn as a name only. */
bool chart_splits(const struct chart *c, size_t mark);

/* The median of the values between two times, NaN where there are none. */
double chart_median(const struct chart *c, int64_t from_ns, int64_t to_ns);

#endif
