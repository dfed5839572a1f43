/* What a driver's file may say: any bytes are a number, a measurement of power, a list, a text or nothing, with values that can be. */
#include "agent/sysfs_walk.h"

#include <math.h>

#include "base/must.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_make(data, size);
	struct sysfs_value v = { .kind = SYSFS_KINDS };

	if (!sysfs_parse(text, &v))
		return 0;
	must(v.kind == SYSFS_LEVEL || v.kind == SYSFS_POWER || v.kind == SYSFS_PART || v.kind == SYSFS_TEXT);
	must(v.text.n > 0 && v.text.p >= text.p && v.text.p + v.text.n <= text.p + text.n);
	must(isfinite(v.value) && isfinite(v.low) && isfinite(v.high));
	must(v.kind != SYSFS_POWER || (v.unix_s >= 0 && v.unix_s <= INT64_C(100000000000) && v.value >= 0));
	return 0;
}
