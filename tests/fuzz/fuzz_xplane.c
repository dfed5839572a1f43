/* Any bytes as what JAX and PyTorch/XLA leave: trace JSON where they begin with '{', else an XSpace protobuf. At once and cut
 * at random they must give the same rows and the same report; as a window they must be one that the daemon takes. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/rand.h"
#include "tests/fuzz/fuzz.h"
#include "trace/fold.h"
#include "trace/keyavg.h"
#include "trace/xla.h"
#include "trace/xla_json.h"
#include "trace/xplane.h"

enum { EVENTS_MAX = 100000 };

static struct trace *read_json(struct str text, struct rand_gen *cuts, struct trace_report *report)
{
	const struct trace_limits limits = { UINT64_MAX, 1000, EVENTS_MAX, 0 };
	struct input *in = NULL;
	struct trace *t = NULL;
	struct err e = { 0 };
	struct tokens tokens;
	int rc;

	must(input_open_memory(&in, text, "input", &limits, &e) == OK);
	tokens_init(&tokens, in, report, &e);
	tokens.piece = cuts == NULL ? tokens.piece : 1 + rand_below(cuts, 100);
	rc = xla_json_tokens(&tokens, EVENTS_MAX, NULL, &t, &e);
	must((rc == OK) == (t != NULL));
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	tokens_fini(&tokens);
	input_close(in);
	return t;
}

static struct trace *read_xspace(struct str bytes, struct rand_gen *cuts, struct trace_report *report)
{
	struct xplane_reader *r = xplane_reader_new(EVENTS_MAX, report);
	struct trace *t = NULL;
	struct err e = { 0 };
	int rc;

	for (size_t at = 0, n; at < bytes.n; at += n) {
		n = cuts == NULL ? bytes.n : 1 + rand_below(cuts, 1 + rand_below(cuts, 200));
		xplane_reader_feed(r, str_upto(str_from(bytes, at), n));
	}
	rc = xplane_reader_end(r, &t, &e);
	must((rc == OK) == (t != NULL));
	must(rc == OK || (rc == e.code && e.text[0] != '\0'));
	xplane_reader_free(r);
	return t;
}

static struct trace *read_bytes(struct str bytes, struct rand_gen *cuts, struct trace_report *report)
{
	*report = (struct trace_report){ 0 };
	return bytes.n > 0 && bytes.p[0] == '{' ? read_json(bytes, cuts, report)
						: read_xspace(bytes, cuts, report);
}

static void say_rows(struct trace *t, struct buf *out)
{
	struct keyavg_table kt;
	struct xla_table xt;

	must(keyavg_table_make(&kt, t, NULL) == OK);
	for (size_t i = 0; i < kt.n; i++) {
		buf_str(out, kt.v[i].name);
		buf_fmt(out, " %d %" PRIu64 " %" PRId64 " %" PRId64 "\n", kt.v[i].is_device, kt.v[i].count,
			kt.v[i].self_cpu_ns, kt.v[i].self_device_ns);
	}
	keyavg_table_fini(&kt);
	must(xla_table_make(&xt, t, NULL) == OK);
	for (size_t i = 0; i < xt.n; i++) {
		buf_str(out, xt.v[i].module);
		buf_fmt(out, " %" PRIu64 " %" PRId64 "\n", xt.v[i].count, xt.v[i].total_ns);
	}
	xla_table_fini(&xt);
}

static void say(struct trace *t, const struct trace_report *report, struct buf *out)
{
	for (size_t i = 0; i < report->n_skips; i++)
		buf_fmt(out, "%s %" PRIu64 " %" PRIu64 "\n", report->skips[i].reason, report->skips[i].count,
			report->skips[i].offset);
	for (size_t i = 0; i < report->n_notes; i++)
		buf_fmt(out, "%s %" PRIu64 "\n", report->notes[i].reason, report->notes[i].count);
	if (t != NULL)
		say_rows(t, out);
}

/* Only sums that do not fit 64 bits and the NUL in a device's name may be refused. */
static void fold_window(struct trace *t)
{
	struct window w = { .service = STR("s"), .host = STR("h") };
	struct err e = { 0 };
	struct arena a;
	int64_t first_ns;
	int rc;

	arena_init(&a, 256 << 20);
	must(fold_trace(t, &a, &w, &first_ns, &e) == OK);
	rc = window_check(&w, &e);
	must(rc == OK || strstr(e.text, "sum over all ops") != NULL || strstr(e.text, "holds a NUL") != NULL);
	window_fini(&w);
	arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_make(data, size);
	struct trace_report report;
	struct buf one, two;
	struct trace *t;
	struct rand_gen g;

	rand_seed(&g, hash64(data, size, 1));
	buf_init(&one, 64 << 20);
	buf_init(&two, 64 << 20);
	t = read_bytes(bytes, NULL, &report);
	say(t, &report, &one);
	trace_free(t);
	t = read_bytes(bytes, &g, &report);
	say(t, &report, &two);
	trace_free(t);
	must(str_eq(buf_view(&one), buf_view(&two)));
	t = read_bytes(bytes, NULL, &report);
	if (t != NULL)
		fold_window(t);
	trace_free(t);
	buf_fini(&one);
	buf_fini(&two);
	return 0;
}
