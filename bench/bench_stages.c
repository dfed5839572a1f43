/* bench_stages — where the processor's time goes while a trace is read, stage by stage, in one thread:
 *
 *	inflate   the file's bytes, decompressed (of a plain file: read) and thrown away
 *	scan      marks of quotes and brackets (json/mask.h), one pass over every byte
 *	events    members, numbers, names: what reading takes beyond those two
 *	nesting   links, order by thread, the tree, the table (trace/keyavg.h)
 *	fold      what making the ops of a window takes beyond that (trace/fold.h)
 *
 * Each run measures all of them, so that one run's stages belong together. One JSON line a stage:
 *
 *	{"bench":"stage","stage":"events","kernel":"avx2","bytes":…,"events":…,"ns_per_event_median":…,"seconds_min":…,…}
 *
 * Stages that are differences of two measurements may come out a little off, below 0 even, on a noisy machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/opt.h"
#include "bench/sample.h"
#include "json/mask.h"
#include "trace/fold.h"
#include "trace/input.h"
#include "trace/keyavg.h"
#include "trace/reader.h"

enum stage { STAGE_INFLATE, STAGE_SCAN, STAGE_EVENTS, STAGE_NESTING, STAGE_FOLD, STAGES };
static const char *const stage_names[] = {
	[STAGE_INFLATE] = "inflate", [STAGE_SCAN] = "scan",   [STAGE_EVENTS] = "events",
	[STAGE_NESTING] = "nesting", [STAGE_FOLD] = "fold",
};
_Static_assert(COUNT(stage_names) == STAGES, "name every stage");

enum { ARENA_MAX = 1 << 30, MARKS = INPUT_BLOCK / 64 };

struct options {
	int64_t runs;
	const char *kernel;
};

static const struct opt opts[] = {
	{ "runs", 'r', OPT_INT, offsetof(struct options, runs), 1, SAMPLE_MAX, "N", "of each stage; 5 without", NULL },
	{ "kernel", 'k', OPT_TEXT, offsetof(struct options, kernel), 0, 0, "NAME",
		"scalar, avx2, avx512 or neon; the fastest that runs here without", NULL },
};

static const struct opt_command command = {
	.name = "bench_stages",
	.operands = "FILE",
	.summary = "measures the stages of reading a trace",
	.opts = opts,
	.n_opts = COUNT(opts),
};

struct bench {
	const char *path;
	const struct json_mask_kernel *kernel;
	uint64_t bytes, events;
	struct sample seconds[STAGES];
};

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;

/* Of this thread's own processor time: what other programs do meanwhile does not count. */
static int64_t now(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static double since(int64_t start_ns)
{
	return (double)(now() - start_ns) / 1e9;
}

static int open_input(const struct bench *b, struct input **in, struct err *e)
{
	int rc = input_open(in, b->path, &limits, e);

	if (rc == OK)
		input_without_hash(*in);
	return rc;
}

/* Drains the file; with marks each block goes through the kernel, too. */
static int drain(struct bench *b, struct json_mask *marks, double *seconds, struct err *e)
{
	struct json_mask_state state = { 0 };
	int64_t start_ns = now();
	struct input *in = NULL;
	struct str block = { 0 };
	int rc = open_input(b, &in, e);

	b->bytes = 0;
	while (rc == OK) {
		rc = input_next(in, &block, e);
		if (rc < 0 || block.n == 0)
			break;
		b->bytes += block.n;
		if (marks != NULL)
			b->kernel->run(block.p, block.n / 64, &state, marks);
	}
	input_close(in);
	*seconds = since(start_ns);
	return rc;
}

static int read_trace(struct bench *b, struct trace **t, double *seconds, struct err *e)
{
	int64_t start_ns = now();
	struct trace_reader *r = trace_reader_new(limits.max_events);
	struct trace_report report = { 0 };
	struct input *in = NULL;
	struct str block = { 0 };
	int rc = open_input(b, &in, e);

	trace_reader_kernel(r, b->kernel);
	while (rc == OK) {
		rc = input_next(in, &block, e);
		if (rc < 0 || block.n == 0)
			break;
		rc = trace_reader_feed(r, block, e);
	}
	if (rc == OK)
		rc = trace_reader_end(r, &report, t, e);
	trace_reader_free(r);
	input_close(in);
	*seconds = since(start_ns);
	b->events = report.events;
	return rc;
}

static int nest(struct trace *t, double *seconds, struct err *e)
{
	int64_t start_ns = now();
	struct keyavg_table table = { 0 };
	int rc = keyavg_table_make(&table, t, e);

	keyavg_table_fini(&table);
	*seconds = since(start_ns);
	return rc;
}

static int fold(struct trace *t, double *seconds, struct err *e)
{
	int64_t start_ns = now(), first_ns;
	struct window w = { 0 };
	struct arena a;
	int rc;

	arena_init(&a, ARENA_MAX);
	rc = fold_trace(t, &a, &w, &first_ns, e);
	window_fini(&w);
	arena_fini(&a);
	*seconds = since(start_ns);
	return rc;
}

static int one_run(struct bench *b, struct json_mask *marks, struct err *e)
{
	double inflate = 0, scan = 0, read = 0, nesting = 0, folding = 0;
	struct trace *t = NULL;
	int rc = drain(b, NULL, &inflate, e);

	if (rc == OK)
		rc = drain(b, marks, &scan, e);
	if (rc == OK)
		rc = read_trace(b, &t, &read, e);
	if (rc == OK)
		rc = nest(t, &nesting, e);
	trace_free(t);
	t = NULL;
	if (rc == OK)
		rc = read_trace(b, &t, &read, e);
	if (rc == OK)
		rc = fold(t, &folding, e);
	trace_free(t);
	sample_add(&b->seconds[STAGE_INFLATE], inflate);
	sample_add(&b->seconds[STAGE_SCAN], scan - inflate);
	sample_add(&b->seconds[STAGE_EVENTS], read - scan);
	sample_add(&b->seconds[STAGE_NESTING], nesting);
	sample_add(&b->seconds[STAGE_FOLD], folding - nesting);
	return rc;
}

static int report(const struct bench *b, enum stage stage, struct err *e)
{
	const struct sample *s = &b->seconds[stage];
	struct sample_line line;
	struct json_writer *w = sample_begin(&line, "stage");

	jw_key_text(w, "stage", stage_names[stage]);
	jw_key_text(w, "kernel", b->kernel->name);
	jw_key_u64(w, "bytes", b->bytes);
	jw_key_u64(w, "events", b->events);
	jw_key_u64(w, "runs", s->n);
	if (b->events > 0)
		jw_key_double(w, "ns_per_event_median", sample_median(s) * 1e9 / (double)b->events);
	sample_write(w, "seconds", s);
	return sample_end(&line, e);
}

static int find_kernel(const char *name, const struct json_mask_kernel **out, struct err *e)
{
	*out = json_mask_best();
	if (name == NULL)
		return OK;
	for (size_t i = 0; json_mask_kernels[i] != NULL; i++)
		if (str_eq(str_of(name), str_of(json_mask_kernels[i]->name)) && json_mask_kernels[i]->runs_here()) {
			*out = json_mask_kernels[i];
			return OK;
		}
	return err_set(e, E_USAGE, "no kernel %s runs here", name);
}

static int measure(struct bench *b, int64_t runs, struct err *e)
{
	struct json_mask *marks = mem_get_array(MARKS, sizeof(*marks));
	int rc = OK;

	for (int64_t i = 0; rc == OK && i < runs; i++)
		rc = one_run(b, marks, e);
	mem_free(marks);
	for (int stage = 0; rc == OK && stage < STAGES; stage++)
		rc = report(b, (enum stage)stage, e);
	return rc;
}

int main(int argc, char **argv)
{
	static struct bench b;
	struct options o = { .runs = 5 };
	struct err e = { 0 };
	int operands = 0, rc;

	rc = opt_parse(&command, command.name, argc - 1, argv + 1, &o, &operands, &e);
	if (rc == OK && operands != 1)
		rc = err_set(&e, E_USAGE, "takes one file");
	if (rc == OK)
		rc = find_kernel(o.kernel, &b.kernel, &e);
	if (rc == OK) {
		b.path = argv[1]; /* opt_parse puts operands first */
		rc = measure(&b, o.runs, &e);
	}
	if (rc != OK)
		fprintf(stderr, "bench_stages: %s\n", e.text);
	return rc == OK ? 0 : rc == E_USAGE ? 2 : 1;
}
