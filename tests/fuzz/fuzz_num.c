/* Numbers: what is read as whole prints and reads back, agrees with the C library, and every reading agrees on what is a
 * number at all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/must.h"
#include "json/num.h"
#include "tests/fuzz/fuzz.h"

static void whole(struct str s)
{
	char text[32];
	int64_t v, back, fixed;
	uint64_t u;

	if (json_i64(s, &v) != OK)
		return;
	snprintf(text, sizeof(text), "%" PRId64, v);
	must(json_i64(str_of(text), &back) == OK && back == v);
	must(json_fixed(s, 0, &fixed) == OK && fixed == v);
	must((json_u64(s, &u) == OK) == (v >= 0));
	must(v < 0 || u == (uint64_t)v);
}

static void fraction(struct str s)
{
	char text[64];
	int64_t ns, us;
	double exact;

	if (json_fixed(s, 3, &ns) != OK || !str_copy_to(s, text, sizeof(text)))
		return;
	exact = strtod(text, NULL) * 1000;
	must(fabs(exact - (double)ns) <= 1 + fabs(exact) * 1e-15);
	must(json_fixed(s, 0, &us) == OK && us == ns / 1000);
}

static void floating(struct str s)
{
	char text[64];
	double v;
	int rc = json_double(s, &v);

	must((rc == E_FORMAT) == !json_number_valid(s));
	if (rc != OK)
		return;
	must(isfinite(v));
	if (str_copy_to(s, text, sizeof(text))) {
		double c = strtod(text, NULL);

		must(fabs(v - c) <= fabs(c) * 1e-15);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = str_make(data, size);
	int64_t v;

	whole(s);
	fraction(s);
	floating(s);
	must(json_number_valid(s) || json_fixed(s, 3, &v) == E_FORMAT);
	return 0;
}
