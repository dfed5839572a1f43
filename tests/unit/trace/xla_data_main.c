/* Real traces of JAX and PyTorch/XLA with the tables by module that they must give, whole, in blocks of any size and cut
 * short. They are found in $TRAINSPOTTER_TEST_DATA/xla; without it everything here is skipped. Prints TAP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "trace/dialect.h"
#include "trace/keyavg.h"
#include "trace/window.h"
#include "trace/xla.h"
#include "trace/xplane.h"

enum { PATH_TEXT = 2048, FILE_BYTES_MAX = 64 << 20, CUTS = 64 };

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
static const char *data;
static unsigned done;
static bool failed;

static void tap(bool good, const char *name, const char *what)
{
	printf("%s %u - %s %s\n", good ? "ok" : "not ok", ++done, name, what);
	failed |= !good;
}

static const struct sample {
	const char *name, *file;
	enum probe_kind kind;
	uint64_t steps, modules, executions, launches;
	const char *version; /* of jax, or NULL */
} samples[] = {
	{ "jit", "jit.trace.json.gz", PROBE_XLA_TRACE, 5, 1, 5, 125, NULL },
	{ "jit", "jit.xplane.pb", PROBE_XPLANE, 5, 1, 5, 125, "0.10.2" },
	{ "eager", "eager.trace.json.gz", PROBE_XLA_TRACE, 5, 11, 200, 240, NULL },
	{ "eager", "eager.xplane.pb", PROBE_XPLANE, 5, 17, 200, 240, "0.10.2" },
	{ "torch_xla_lazy", "torch_xla_lazy.xplane.pb", PROBE_XPLANE, 43, 1, 44, 479, NULL },
	{ "torch_xla_eager", "torch_xla_eager.xplane.pb", PROBE_XPLANE, 20, 11, 337, 455, NULL },
};

static void path_of(char out[PATH_TEXT], const char *name, const char *ending)
{
	struct buf b;

	buf_init(&b, PATH_TEXT);
	buf_fmt(&b, "%s/xla/%s%s", data, name, ending);
	str_copy_to(buf_view(&b), out, PATH_TEXT);
	buf_fini(&b);
}

static void add_rows(struct trace *t, struct buf *out)
{
	struct xla_table xt;

	if (xla_table_make(&xt, t, NULL) < 0)
		return;
	buf_text(out, "hlo_module\thlo_op\tcount\ttotal_ns\n");
	for (size_t i = 0; i < xt.n; i++)
		buf_fmt(out, "%.*s\t%.*s\t%" PRIu64 "\t%" PRId64 "\n", STR_ARG(xt.v[i].module),
			STR_ARG(xt.v[i].op), xt.v[i].count, xt.v[i].total_ns);
	xla_table_fini(&xt);
}

static void add_table(struct trace *t, struct buf *out)
{
	struct keyavg_table kt;

	if (keyavg_table_make(&kt, t, NULL) < 0)
		return;
	for (size_t i = 0; i < kt.n; i++)
		buf_fmt(out, "%.*s %d %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
			STR_ARG(kt.v[i].name), kt.v[i].is_device, kt.v[i].count, kt.v[i].self_cpu_ns,
			kt.v[i].cpu_total_ns, kt.v[i].self_device_ns);
	keyavg_table_fini(&kt);
}

static struct trace *read_file(const struct sample *s, struct trace_report *report)
{
	enum probe_kind kind = PROBE_UNKNOWN;
	struct input *in = NULL;
	struct trace *t = NULL;
	struct err e = { 0 };
	char path[PATH_TEXT];
	int rc;

	path_of(path, s->file, "");
	rc = input_open(&in, path, &limits, &e);
	if (rc == OK)
		rc = probe_input(in, path, &kind, &e);
	if (rc == OK)
		rc = dialect_read(kind, in, path, &limits, 0, NULL, report, &t, &e);
	if (rc < 0)
		printf("# %s\n", e.text);
	tap(rc == OK && kind == s->kind && report->n_skips + report->n_notes == 0, s->file, "is read whole");
	input_close(in);
	return t;
}

static void check_table(const struct sample *s, struct buf *table)
{
	struct trace_report report = { 0 };
	struct trace *t = read_file(s, &report);
	struct buf rows, want;
	struct err e = { 0 };
	char path[PATH_TEXT];
	uint64_t executions = 0;

	buf_init(&rows, FILE_BYTES_MAX);
	buf_init(&want, FILE_BYTES_MAX);
	path_of(path, s->name, ".hlo.tsv");
	if (t != NULL)
		add_rows(t, &rows);
	tap(file_read_all(path, &want, &e) == OK && str_eq(buf_view(&rows), buf_view(&want)), s->file,
		"gives its table by module exactly");
	for (size_t i = 0; t != NULL && i < xla_modules(t); i++)
		executions += xla_module(t, i)->executions;
	if (t == NULL || xla_modules(t) != s->modules || executions != s->executions)
		printf("# %zu modules, %" PRIu64 " executions\n", t == NULL ? 0 : xla_modules(t), executions);
	tap(t != NULL && xla_modules(t) == s->modules && executions == s->executions, s->file,
		"has modules and executions");
	if (t != NULL)
		add_table(t, table);
	trace_free(t);
	buf_fini(&rows);
	buf_fini(&want);
}

static void check_window(const struct sample *s)
{
	const struct window_origin origin = {
		.agent_id = STR("a"), .source = STR("test"), .service = STR("llm")
	};
	struct trace_report report;
	struct window w;
	struct err e = { 0 };
	struct arena a;
	char path[PATH_TEXT];

	path_of(path, s->file, "");
	arena_init(&a, 64 << 20);
	if (window_from_file(&a, path, &origin, &limits, &w, &report, &e) == OK) {
		tap(w.start_ns > 0 && w.flags == 0 && w.has_device && w.steps == s->steps &&
				w.steps_from == STEPS_MARKER,
			s->file, "is a window with its steps");
		tap(w.launches > s->launches * 9 / 10 && w.launches <= s->launches, s->file,
			"has its launches inside steps");
		tap(s->version == NULL ||
				(w.n_versions > 0 && str_eq(w.versions[0].key, STR("cpu")) &&
					str_eq(w.versions[1].value, str_of(s->version))),
			s->file, "has its versions");
		if (s->kind == PROBE_XPLANE) /* when it was profiled, in November 2026 */
			tap(w.start_ns / INT64_C(100000000000000) == 17959 && str_eq(w.host, STR("vm")),
				s->file, "knows when and where it was");
		window_fini(&w);
	} else {
		printf("# %s\n", e.text);
		tap(false, s->file, "is a window");
	}
	arena_fini(&a);
}

/* ---- protobuf, piece by piece */

static struct trace *read_bytes(struct str bytes, size_t block, struct trace_report *report)
{
	struct xplane_reader *r = xplane_reader_new(limits.max_events, report);
	struct trace *t = NULL;
	struct err e = { 0 };

	*report = (struct trace_report){ 0 };
	for (size_t at = 0; at < bytes.n; at += block)
		xplane_reader_feed(r, str_upto(str_from(bytes, at), block));
	if (xplane_reader_end(r, &t, &e) < 0)
		t = NULL;
	xplane_reader_free(r);
	return t;
}

static void check_blocks(const struct sample *s, struct str bytes, struct str table)
{
	static const size_t sizes[] = { 1, 7, 4099 };
	struct trace_report report;
	bool all = true;
	struct buf got;

	buf_init(&got, FILE_BYTES_MAX);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct trace *t = read_bytes(bytes, sizes[i], &report);

		buf_reset(&got);
		if (t != NULL)
			add_table(t, &got);
		all &= str_eq(buf_view(&got), table);
		trace_free(t);
	}
	buf_fini(&got);
	tap(all, s->file, "gives the same rows in blocks of any size");
}

static void check_cuts(const struct sample *s, struct str bytes)
{
	struct trace_report report;
	bool all = true;

	for (size_t i = 1; i < CUTS; i++) {
		size_t n = bytes.n * i / CUTS;
		struct trace *t = read_bytes(str_upto(bytes, n), bytes.n, &report);
		const struct trace_skip *cut = trace_report_find(&report, TRACE_TRUNCATED);

		all &= t != NULL && cut != NULL && cut->offset == n;
		trace_free(t);
	}
	tap(all, s->file, "cut short says so");
}

static void check_pieces(const struct sample *s, struct str table)
{
	char path[PATH_TEXT];
	struct err e = { 0 };
	struct buf bytes;

	buf_init(&bytes, FILE_BYTES_MAX);
	path_of(path, s->file, "");
	if (file_read_all(path, &bytes, &e) == OK) {
		check_blocks(s, buf_view(&bytes), table);
		check_cuts(s, buf_view(&bytes));
	} else {
		tap(false, s->file, "is there");
	}
	buf_fini(&bytes);
}

int main(void)
{
	struct buf tables[2];
	char root[PATH_TEXT];

	data = getenv("TRAINSPOTTER_TEST_DATA");
	if (data == NULL || data[0] == '\0') {
		puts("1..0 # SKIP TRAINSPOTTER_TEST_DATA is not set");
		return 0;
	}
	path_of(root, "", "");
	if (!file_exists(root)) {
		puts("1..0 # SKIP no folder xla in TRAINSPOTTER_TEST_DATA");
		return 0;
	}
	for (size_t i = 0; i < 2; i++)
		buf_init(&tables[i], FILE_BYTES_MAX);
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];
		struct buf *table = &tables[s->kind == PROBE_XPLANE];

		buf_reset(table);
		check_table(s, table);
		check_window(s);
		if (s->kind == PROBE_XPLANE)
			check_pieces(s, buf_view(table));
		if (s->kind == PROBE_XPLANE && i > 0 && samples[i - 1].kind == PROBE_XLA_TRACE)
			tap(str_eq(buf_view(&tables[0]), buf_view(&tables[1])), s->file,
				"gives the same rows as the JSON of the run");
	}
	printf("1..%u\n", done);
	buf_fini(&tables[0]);
	buf_fini(&tables[1]);
	return failed ? 1 : 0;
}
