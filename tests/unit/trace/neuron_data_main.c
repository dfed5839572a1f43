/* Files in the shape of real ones of the Neuron tools, with what they must give, whole and cut short. They
 * are found in $TRAINSPOTTER_TEST_DATA/neuron; without it everything here is skipped. Prints TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "trace/neuron.h"
#include "trace/neuron_device.h"
#include "trace/window.h"

enum { PATH_TEXT = 2048, FILE_BYTES_MAX = 64 << 20, CUTS = 64 };

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
static unsigned done;
static bool failed;

static void tap(bool good, const char *name, const char *what)
{
	printf("%s %u - %s %s\n", good ? "ok" : "not ok", ++done, name, what);
	failed |= !good;
}

static const struct sample {
	const char *path;
	enum probe_kind kind;
	const char *expected; /* by engine, or NULL */
	const char *gauge;    /* one that must be there */
	double value;
} samples[] = {
	{ "device/matmul_throttled.json", PROBE_NEURON_DEVICE, "device/matmul_throttled.expected.tsv", "throttle_events", 6 },
	{ "device/rmsnorm_eager.json", PROBE_NEURON_DEVICE, "device/rmsnorm_eager.expected.tsv", "peak_hbm_bandwidth", 4.1e11 },
	{ "device/rmsnorm_fused.json", PROBE_NEURON_DEVICE, "device/rmsnorm_fused.expected.tsv", "mfu_estimated_ratio", 0.00019 },
	{ "trnblas_mp2_summary_trn1.2xlarge.json", PROBE_NEURON_SUMMARY, NULL, "hbm_read_bytes", 6582249472 },
	{ "system_profile_docs_shape.json", PROBE_NEURON_SYSTEM, NULL, "host_memory_used", 51805806592 },
	{ "neuron-monitor-trn1.2xlarge.jsonl", PROBE_NEURON_MONITOR, NULL, "loaded_models", 2 },
	{ "neuron-ls-j_trn2.48xlarge_2026-10-10.json", PROBE_NEURON_LS, NULL, "neuroncores", 4 },
};

static void path_of(char out[PATH_TEXT], const char *folder, const char *name)
{
	struct buf b;

	buf_init(&b, PATH_TEXT);
	buf_fmt(&b, "%s/%s", folder, name);
	str_copy_to(buf_view(&b), out, PATH_TEXT);
	buf_fini(&b);
}

static void add_engines(const struct window *w, struct buf *out)
{
	buf_text(out, "engine\topcode\tcount\ttotal_ns\n");
	for (size_t i = 0; i < w->n_ops; i++) {
		struct str engine, opcode;

		if (neuron_device_split(&w->ops[i], &engine, &opcode))
			buf_fmt(out, "%.*s\t%.*s\t%" PRIu64 "\t%" PRId64 "\n", STR_ARG(engine), STR_ARG(opcode),
				w->ops[i].calls, w->ops[i].device_total_ns);
	}
}

/* Reads the first n bytes of a sample; what the window is asked about goes to rows. */
static int read_start(const struct sample *s, struct str text, struct trace_report *report, struct window *w,
	struct arena *a, struct err *e)
{
	enum probe_kind kind = PROBE_UNKNOWN;
	struct input *in = NULL;
	int rc = input_open_memory(&in, text, s->path, &limits, e);

	if (rc == OK)
		rc = probe_input(in, s->path, &kind, e);
	if (rc == OK)
		rc = neuron_read(s->kind, a, in, s->path, w, report, e);
	if (rc == OK && text.n > 4096 && kind != s->kind)
		rc = err_set(e, E_FORMAT, "taken for %s", probe_word(kind));
	input_close(in);
	return rc;
}

static void check_whole(const char *root, const struct sample *s, struct str text)
{
	char path[PATH_TEXT];
	struct trace_report report = { 0 };
	struct window w = { 0 };
	const struct gauge *g;
	struct err e = { 0 };
	struct arena a;
	struct buf rows, want;
	int rc;

	arena_init(&a, 64 << 20);
	buf_init(&rows, FILE_BYTES_MAX);
	buf_init(&want, FILE_BYTES_MAX);
	rc = read_start(s, text, &report, &w, &a, &e);
	if (rc < 0)
		printf("# %s\n", e.text);
	tap(rc == OK && report.n_skips == 0, s->path, "is read whole");
	g = window_gauge(&w, str_of(s->gauge));
	tap(g != NULL && g->value == s->value, s->path, s->gauge);
	if (s->expected != NULL) {
		path_of(path, root, s->expected);
		add_engines(&w, &rows);
		rc = file_read_all(path, &want, &e);
		tap(rc == OK && str_eq(buf_view(&rows), buf_view(&want)), s->path, "gives its table by engine exactly");
	}
	window_fini(&w);
	buf_fini(&rows);
	buf_fini(&want);
	arena_fini(&a);
}

static bool cut_is_told(const struct sample *s, struct str text)
{
	struct trace_report report = { 0 };
	struct window w = { 0 };
	struct err e = { 0 };
	struct arena a;
	bool told;
	int rc;

	arena_init(&a, 64 << 20);
	rc = read_start(s, text, &report, &w, &a, &e);
	told = rc < 0 || trace_report_find(&report, TRACE_TRUNCATED) != NULL || text.n == 0 || text.p[text.n] == '\n';
	if (rc == OK) {
		w.service = w.host = STR("x");
		told = told && window_check(&w, &e) == OK;
	}
	if (!told)
		printf("# cut to %zu bytes: rc %d, not told %s\n", text.n, rc, e.text);
	window_fini(&w);
	arena_fini(&a);
	return told;
}

static void check_cuts(const struct sample *s, struct str text)
{
	bool all = true;

	text = str_trim(text);
	for (size_t i = 0; i < CUTS; i++)
		all &= cut_is_told(s, str_upto(text, text.n * i / CUTS));
	tap(all, s->path, "cut short is readable or an error, and says so");
}

static void check_window(const char *path, const struct sample *s)
{
	const struct window_origin origin = { .agent_id = STR("a"), .source = STR("test"), .service = STR("llm") };
	struct trace_report report;
	struct window w;
	struct err e = { 0 };
	struct arena a;

	arena_init(&a, 64 << 20);
	if (window_from_file(&a, path, &origin, &limits, &w, &report, &e) == OK) {
		tap(w.start_ns > 0 && w.n_ops + w.n_gauges > 0 && w.flags == 0, s->path, "is a window");
		window_fini(&w);
	} else {
		printf("# %s\n", e.text);
		tap(false, s->path, "is a window");
	}
	arena_fini(&a);
}

static void check_sample(const char *root, const struct sample *s)
{
	char path[PATH_TEXT];
	struct err e = { 0 };
	struct buf text;

	path_of(path, root, s->path);
	buf_init(&text, FILE_BYTES_MAX);
	if (file_read_all(path, &text, &e) < 0) {
		printf("# %s\n", e.text);
		tap(false, s->path, "is there");
	} else {
		check_whole(root, s, buf_view(&text));
		check_cuts(s, buf_view(&text));
		check_window(path, s);
	}
	buf_fini(&text);
}

int main(void)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");
	char root[PATH_TEXT];

	if (data == NULL || data[0] == '\0') {
		puts("1..0 # SKIP TRAINSPOTTER_TEST_DATA is not set");
		return 0;
	}
	path_of(root, data, "neuron");
	if (!file_exists(root)) {
		puts("1..0 # SKIP no folder neuron in TRAINSPOTTER_TEST_DATA");
		return 0;
	}
	for (size_t i = 0; i < COUNT(samples); i++)
		check_sample(root, &samples[i]);
	printf("1..%u\n", done);
	return failed ? 1 : 0;
}
