#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
	struct str suffix;
	int64_t bytes;
} units[] = { /* of two, then of ten; each larger before smaller, plain bytes last */
	{ STR("TiB"), INT64_C(1) << 40 }, { STR("GiB"), 1 << 30 }, { STR("MiB"), 1 << 20 }, { STR("KiB"), 1 << 10 },
	{ STR("TB"), INT64_C(1000000000000) }, { STR("GB"), 1000000000 }, { STR("MB"), 1000000 }, { STR("kB"), 1000 },
	{ STR("B"), 1 },
};
enum { BINARY_UNITS = 4 };

int size_parse(struct str s, int64_t *bytes)
{
	int64_t unit = 1, v;
	int rc;

	for (size_t i = 0; i < COUNT(units); i++)
		if (str_drop_suffix(&s, units[i].suffix)) {
			unit = units[i].bytes;
			break;
		}
	if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
		return E_FORMAT;
	rc = str_to_i64(s, &v);
	if (rc < 0)
		return rc;
	return __builtin_mul_overflow(v, unit, bytes) ? E_LIMIT : OK;
}

struct str size_exact(int64_t bytes, char out[SIZE_TEXT])
{
	size_t i = 0;

	while (i < BINARY_UNITS && (bytes == 0 || bytes % units[i].bytes != 0))
		i++;
	if (i == BINARY_UNITS)
		return (struct str){ out, (size_t)snprintf(out, SIZE_TEXT, "%" PRId64, bytes) };
	return (struct str){ out, (size_t)snprintf(out, SIZE_TEXT, "%" PRId64 "%s", bytes / units[i].bytes,
					  units[i].suffix.p) };
}

struct str size_human(int64_t bytes, char out[SIZE_TEXT])
{
	for (size_t i = 0; i < BINARY_UNITS; i++) {
		double v = (double)bytes / (double)units[i].bytes;

		if (v >= 1)
			return (struct str){ out, (size_t)snprintf(out, SIZE_TEXT, "%.*f %s",
							  v < 10 ? 2 : v < 100 ? 1 : 0, v, units[i].suffix.p) };
	}
	return (struct str){ out, (size_t)snprintf(out, SIZE_TEXT, "%" PRId64 " B", bytes) };
}
