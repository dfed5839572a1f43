#include "cli/overhead.h"

#include <stdio.h>

struct str overhead_text(int64_t workers, int64_t measured, int64_t cost_ppm, char out[CLOCK_TEXT])
{
	if (workers == 0)
		return STR("-");
	if (measured == 0)
		return STR("unmeasured");
	snprintf(out, CLOCK_TEXT, "%.3g %%", (double)cost_ppm / 10000);
	return str_of(out);
}
