/* overhead.h — what capturing costs, as the tables show it. Pure. */
#ifndef CLI_OVERHEAD_H
#define CLI_OVERHEAD_H

#include "base/clock.h"
#include "base/str.h"

/* "0.03 %"; "unmeasured" where nothing of some is measured, "-" where there is nothing. */
struct str overhead_text(int64_t workers, int64_t measured, int64_t cost_ppm, char out[CLOCK_TEXT]);

#endif
