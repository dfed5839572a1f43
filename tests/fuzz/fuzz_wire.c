/* Batches: any bytes, in each form, are refused with a sentence or give windows that pass window_check and come back
 * the same from being encoded. The first byte tells the form: '{' is JSON as it is, 'p' stands before a bare protobuf,
 * 'z' before one in zstd, 'j' before JSON in zstd. */
#include "base/must.h"
#include "tests/fuzz/fuzz.h"
#include "wire/wire.h"

static const struct wire_limits limits = { 1 << 20, 16 << 20, 100 };

/* Decoded once more from what was encoded, the same bytes come out. */
static void there_and_back(const struct wire_batch *batch)
{
	struct wire_limits wide = { 16 << 20, 64 << 20, 100 };
	struct wire_batch again = { 0 };
	struct buf one, two;
	struct arena a;
	struct err e = { 0 };
	int rc;

	buf_init(&one, 16 << 20);
	buf_init(&two, 16 << 20);
	arena_init(&a, 64 << 20);
	rc = wire_encode(batch, &one, &e);
	must(rc == OK || e.text[0] != '\0');
	if (rc == OK) {
		must(wire_decode(&a, buf_view(&one), WIRE_PROTOBUF, true, &wide, &again, NULL) == OK);
		must(again.n_windows == batch->n_windows);
		must(wire_encode(&again, &two, NULL) == OK && str_eq(buf_view(&one), buf_view(&two)));
		wire_batch_fini(&again);
	}
	arena_fini(&a);
	buf_fini(&one);
	buf_fini(&two);
}

static void decode(struct str bytes, enum wire_form form, bool zstd)
{
	struct wire_batch batch = { 0 };
	struct err e = { 0 };
	struct arena a;
	int rc;

	arena_init(&a, 64 << 20);
	rc = wire_decode(&a, bytes, form, zstd, &limits, &batch, &e);
	if (rc == OK) {
		for (size_t i = 0; i < batch.n_windows; i++)
			must(window_check(&batch.windows[i], &e) == OK);
		there_and_back(&batch);
		wire_batch_fini(&batch);
	} else {
		must((rc == E_FORMAT || rc == E_UNSUPPORTED || rc == E_LIMIT || rc == E_NOMEM) && e.text[0] != '\0');
	}
	arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_make(data, size);
	char first = size ? (char)data[0] : '{';

	if (first == 'p')
		decode(str_from(bytes, 1), WIRE_PROTOBUF, false);
	else if (first == 'z')
		decode(str_from(bytes, 1), WIRE_PROTOBUF, true);
	else if (first == 'j')
		decode(str_from(bytes, 1), WIRE_JSON, true);
	else
		decode(bytes, WIRE_JSON, false);
	return 0;
}
