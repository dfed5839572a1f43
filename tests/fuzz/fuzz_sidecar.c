/* Any bytes as a sidecar: read into sound texts and times, or refused with a sentence. */
#include "base/must.h"
#include "json/text.h"
#include "tests/fuzz/fuzz.h"
#include "trace/sidecar.h"

static void check_text(struct str s)
{
	must(s.p != NULL || s.n == 0);
	must(json_utf8_valid(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sidecar s = { .has_start = false };
	struct err e = { 0 };
	struct arena a;
	int rc;

	arena_init(&a, 16 << 20);
	rc = sidecar_parse(&a, str_make(data, size), &s, &e);
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	if (rc == OK) {
		must(s.start_ns >= 0 && (s.has_start || s.start_ns == 0));
		check_text(s.service);
		check_text(s.deploy);
		check_text(s.host);
		check_text(s.worker);
		for (size_t i = 0; i < s.n_labels; i++) {
			check_text(s.labels[i].key);
			check_text(s.labels[i].value);
		}
	}
	arena_fini(&a);
	return 0;
}
