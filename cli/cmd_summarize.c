/* trainspotter summarize — the key_averages() table of traces, HLO ops by module, and what the Neuron tools wrote. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/chrome_print.h"
#include "cli/cmd.h"
#include "cli/csv.h"
#include "cli/explain.h"
#include "cli/keyavg_print.h"
#include "cli/neuron_print.h"
#include "cli/pprof_print.h"
#include "cli/ranks.h"
#include "cli/steps_print.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/xla_print.h"
#include "trace/launch_delay.h"

enum format { FORMAT_TABLE, FORMAT_TSV, FORMAT_CSV, FORMAT_JSON, FORMAT_PPROF, FORMAT_CHROME, FORMAT_FOLDED,
	FORMATS };
static const char *const format_names[FORMATS + 1] = { "table", "tsv", "csv", "json", "pprof", "chrome", "folded",
	NULL };
static const char *const stacks_names[STACKS_OFS + 1] = { "cpu", "device", NULL };

enum { LIMIT_TABLE = 100, LIMIT_RANKS = 30, SORT_UNSET = -1, LIMIT_UNSET = -1, STACKS_UNSET = -1 };

struct answers {
	int64_t format, sort, limit, max_output, stacks;
	bool by_engine, by_module, by_shape, memory, python, steps, explain;
};

static unsigned wanted(const struct answers *a)
{
	return (a->by_shape ? TRACE_SHAPES : 0) | (a->memory ? TRACE_MEMORY : 0) | (a->python ? TRACE_PYTHON : 0);
}

static const struct opt opts[] = {
	{ .name = "format", .letter = 'f', .type = OPT_CHOICE, .offset = offsetof(struct answers, format),
		.value = "FORMAT", .help = "How to print it: table (as PyTorch does; a terminal gets the columns that it has room for), "
					   "tsv (in names tab, line ends, back-slash and control characters are written \\t, \\n, "
					   "\\r, \\\\ and \\u00XX), csv (RFC 4180, the same columns), json, pprof (a compressed "
					   "profile for go tool pprof and speedscope: chains of calls, kernels under what launched them), "
					   "chrome (a small Chrome trace for Perfetto and chrome://tracing: steps with their numbers and "
					   "largest ops, then all ops by their time), or folded (stacks of calls for flame graphs: root "
					   "first, then self time in whole microseconds).",
		.choices = format_names },
	{ .name = "sort", .letter = 's', .type = OPT_CHOICE, .offset = offsetof(struct answers, sort),
		.value = "COLUMN", .help = "Order of the rows, largest first: name, is_device, is_user_annotation, input_dims, "
					   "count, self_cpu_ns, cpu_total_ns, self_device_ns, device_total_ns, cpu_memory_bytes, "
					   "self_cpu_memory_bytes, device_memory_bytes or self_device_memory_bytes. Without it "
					   "self_device_ns where there is any, else self_cpu_ns; tsv and csv are ordered by their first columns.",
		.choices = keyavg_column_names },
	{ .name = "limit", .letter = 'n', .type = OPT_INT, .offset = offsetof(struct answers, limit), .min = 0,
		.max = INT64_MAX, .value = "ROWS", .help = "At most so many rows: 100 for a table, 30 for one of several files, all otherwise." },
	{ .name = "by-engine", .type = OPT_FLAG, .offset = offsetof(struct answers, by_engine),
		.help = "Of a Neuron device profile: calls and time of each opcode on each engine, without waiting for "
			"semaphores. Other files are an error." },
	{ .name = "by-module", .type = OPT_FLAG, .offset = offsetof(struct answers, by_module),
		.help = "Of a trace of JAX or PyTorch/XLA: calls and time of each HLO op of each module, under the file's own "
			"names. Other files are an error." },
	{ .name = "by-shape", .type = OPT_FLAG, .offset = offsetof(struct answers, by_shape),
		.help = "A row for each op and shapes of its inputs, as key_averages(group_by_input_shape=True); of traces made "
			"with record_shapes=True." },
	{ .name = "memory", .type = OPT_FLAG, .offset = offsetof(struct answers, memory),
		.help = "Bytes taken while an op ran, and by itself alone; of traces made with profile_memory=True." },
	{ .name = "python", .type = OPT_FLAG, .offset = offsetof(struct answers, python),
		.help = "Python calls are rows, too; of traces made with with_stack=True." },
	{ .name = "stacks", .type = OPT_CHOICE, .offset = offsetof(struct answers, stacks), .value = "TIME",
		.help = "Print stacks of calls for flame graphs, as --format folded does, by self time: cpu (also without this "
			"option) or device.",
		.choices = stacks_names },
	{ .name = "steps", .type = OPT_FLAG, .offset = offsetof(struct answers, steps),
		.help = "Instead of ops a row a step: wall time, how long devices were busy and how long they waited between "
			"executions (added up over devices), launches, and the ops that took most. Steps are "
			"ProfilerStep#N or what has a step_num, else end where the optimizer's step ends, or else begin where the tokens "
			"are looked up." },
	{ .name = "explain", .type = OPT_FLAG, .offset = offsetof(struct answers, explain),
		.help = "Say at length, on standard error, what was lost or odd: how often, where first, the bytes there, and "
			"what helps." },
	{ .name = "max-output", .type = OPT_SIZE, .offset = offsetof(struct answers, max_output), .min = 1,
		.max = INT64_MAX, .value = "SIZE", .help = "Refuse a file from which more than this comes out when it is "
							   "decompressed (64GiB)." },
};

static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "all was read; a dialect of JSON is no damage, and no timed events only a warning" },
	{ EXIT_FOUND, "something was lost (the file is truncated or damaged, events were skipped); the rest is printed" },
	{ EXIT_TROUBLE, "nothing could be read, or the command line is wrong" },
};

static void sort(struct keyavg_table *kt, const struct answers *a)
{
	bool device = false;

	if (a->sort != SORT_UNSET) {
		keyavg_sort(kt, (enum keyavg_column)a->sort);
		return;
	}
	if (a->format == FORMAT_TSV || a->format == FORMAT_CSV)
		return; /* as keyavg_table_make leaves it */
	for (size_t i = 0; i < kt->n; i++)
		device |= kt->v[i].self_device_ns > 0;
	keyavg_sort(kt, device ? KEYAVG_SELF_DEVICE : KEYAVG_SELF_CPU);
}

/* ---- what was odd */
static void warn_reason(const struct summary *s, enum trace_reason reason)
{
	const struct trace_skip *skip = trace_report_find(&s->report, reason);

	if (skip == NULL)
		return;
	fprintf(stderr, "%s: %s: %s: %llu", s->label, reason < TRACE_LOSSES ? "warning" : "note", skip->reason,
		(unsigned long long)skip->count);
	if (reason <= TRACE_TRAILING_GARBAGE)
		fprintf(stderr, ", first at byte %llu", (unsigned long long)skip->offset);
	fprintf(stderr, " (%s)\n", trace_reason_meaning(reason));
}

/* limits: under which the file is read once more to explain; NULL where short words will do. */
static void warn(const struct summary *s, const struct trace_limits *limits)
{
	const struct keyavg_table *kt = &s->table;

	if (!s->readable) {
		fprintf(stderr, "trainspotter: %s\n", s->error.text);
		return;
	}
	if (limits != NULL)
		explain(s, limits, stderr);
	for (int reason = 0; reason < TRACE_REASONS && limits == NULL; reason++)
		warn_reason(s, (enum trace_reason)reason);
	if (kt->crossings > 0)
		fprintf(stderr, "%s: note: crossing: %llu (events end after one that they began in; they are not counted as "
				"part of it)\n",
			s->label, (unsigned long long)kt->crossings);
	if (kt->orphan_ns > 0 && (s->trace == NULL || s->trace->xla == NULL)) /* no HLO event says which call launched it */
		fprintf(stderr, "%s: note: %lld of %lld ns (%.3g %%) of device time belong to no op\n", s->label,
			(long long)kt->orphan_ns, (long long)kt->self_device_ns,
			100.0 * (double)kt->orphan_ns / (double)kt->self_device_ns);
	if ((kt->want & TRACE_SHAPES) && s->trace->dims_of.n > 0 && intern_count(&s->trace->dims) == 0)
		fprintf(stderr, "%s: note: no shapes (record_shapes=True writes them)\n", s->label);
	if ((kt->want & TRACE_MEMORY) && s->trace->allocs.n == 0)
		fprintf(stderr, "%s: note: no allocations (profile_memory=True writes them)\n", s->label);
	if (s->report.events == 0)
		fprintf(stderr, "%s: warning: no timed events\n", s->label);
}

/* An empty output looks like one that went wrong. */
static void warn_no_stacks(const struct summary *s, const struct answers *a)
{
	if (a->format == FORMAT_FOLDED && s->readable && s->report.events > 0 && s->stacks.n == 0)
		fprintf(stderr, "%s: note: no stacks: no call has a microsecond of %s time\n", s->label,
			a->stacks == STACKS_DEVICE ? "device" : "CPU");
}

/* ---- printing */
static void json_skips(struct json_writer *w, const struct trace_skip *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		jw_object(w);
		jw_key_text(w, "reason", v[i].reason);
		jw_key_u64(w, "count", v[i].count);
		jw_key_u64(w, "offset", v[i].offset);
		jw_end(w);
	}
}

/* What the rows are. */
static void json_rows(struct json_writer *w, const struct summary *s, const struct answers *a, size_t limit)
{
	if (a->by_engine && s->readable)
		neuron_print_engines_json(s->window, limit, w);
	else if (a->by_module)
		xla_print_json(&s->modules, limit, w);
	else if (a->steps)
		steps_print_json(&s->steps, limit, w);
	else
		keyavg_print_json(&s->table, limit, w);
}

/* Only where there are any. */
static void json_launch_delay(struct json_writer *w, const struct summary *s)
{
	const struct hist *delays =
		s->trace == NULL || s->trace->delays == NULL ? NULL : launch_delays_finish(s->trace->delays);

	if (delays == NULL || hist_empty(delays))
		return;
	jw_key_object(w, "launch_delay");
	jw_key_u64(w, "calls", hist_count(delays));
	jw_key_i64(w, "p50_ns", llround(hist_quantile(delays, 0.50)));
	jw_key_i64(w, "p99_ns", llround(hist_quantile(delays, 0.99)));
	jw_end(w);
}

static void print_json(struct json_writer *w, const struct summary *s, const struct answers *a, size_t limit)
{
	const struct trace_skip *empty = trace_report_find(&s->report, TRACE_EMPTY_OBJECT);

	jw_object(w);
	jw_key_text(w, "file", s->name);
	if (!s->readable)
		jw_key_text(w, "error", s->error.text);
	jw_key_u64(w, "events", s->report.events);
	jw_key_u64(w, "steps", s->table.steps);
	jw_key_array(w, "skipped"); /* empty objects were skipped, too, though nothing was lost */
	json_skips(w, s->report.skips, s->report.n_skips);
	if (empty != NULL)
		json_skips(w, empty, 1);
	jw_end(w);
	jw_key_array(w, "notes");
	json_skips(w, s->report.notes, s->report.n_notes);
	jw_end(w);
	jw_key_i64(w, "self_cpu_ns", s->table.self_cpu_ns);
	jw_key_i64(w, "self_device_ns", s->table.self_device_ns);
	jw_key_i64(w, "orphan_ns", s->table.orphan_ns);
	json_launch_delay(w, s);
	json_rows(w, s, a, limit);
	if (s->readable)
		neuron_print_gauges_json(s->window != NULL ? s->window : &s->gauges, w);
	jw_end(w);
}

static void print_tsv(const struct summary *s, const struct answers *a, size_t limit, struct buf *out)
{
	if (a->by_engine)
		neuron_print_engines_tsv(s->window, limit, out);
	else if (a->by_module)
		xla_print_tsv(&s->modules, limit, out);
	else if (a->steps)
		steps_print_tsv(&s->steps, limit, out);
	else
		keyavg_print_tsv(&s->table, limit, out);
}

static const char *device_of(const struct summary *s)
{
	if (s->window != NULL)
		return "NEURON";
	return s->trace->device != NULL ? s->trace->device : "DEVICE";
}

static void print_table(struct summary *s, const struct answers *a, size_t limit, struct buf *out)
{
	size_t screen = cli_columns(stdout);

	if (a->by_engine)
		neuron_print_engines_table(s->window, limit, screen, out);
	else if (a->by_module)
		xla_print_table(&s->modules, limit, screen, out);
	else if (a->steps)
		steps_print_table(&s->steps, limit, cli_colour(stdout), screen, out);
	else if (s->window == NULL || s->table.n > 0)
		keyavg_print_table(&s->table, limit, device_of(s), screen, out);
	if (s->window != NULL && !a->by_engine)
		neuron_print_gauges(s->window, screen, out);
}

/* ---- all files as one output */
struct output {
	const struct answers *a;
	size_t limit;
	bool several; /* files: each has its name */
	size_t n;     /* readable ones so far */
	struct buf bytes;
	struct json_writer json;
	struct pprof_print *pprof;
	struct ranks *ranks; /* several files as one table */
};

static void output_begin(struct output *o, const struct answers *a, bool several)
{
	int64_t limit = a->limit != LIMIT_UNSET ? a->limit : a->format == FORMAT_TABLE ? LIMIT_TABLE : INT64_MAX;

	*o = (struct output){ .a = a, .limit = (size_t)limit, .several = several };
	buf_init(&o->bytes, (size_t)2 << 30);
	jw_init(&o->json, &o->bytes);
	if (a->format == FORMAT_PPROF)
		o->pprof = pprof_print_new();
	if (a->format != FORMAT_JSON && a->format != FORMAT_CHROME)
		return;
	jw_object(&o->json);
	if (a->format == FORMAT_CHROME)
		jw_key_text(&o->json, "displayTimeUnit", "ms");
	jw_key_array(&o->json, a->format == FORMAT_JSON ? "files" : "traceEvents");
}

static void output_csv(struct output *o, const struct summary *s)
{
	struct buf tsv;

	buf_init(&tsv, (size_t)2 << 30);
	print_tsv(s, o->a, o->limit, &tsv);
	csv_from_tsv(buf_view(&tsv), o->several ? s->text : NULL, o->n == 0, &o->bytes);
	if (tsv.rc < 0)
		o->bytes.rc = tsv.rc;
	buf_fini(&tsv);
}

static void output_pprof(struct output *o, struct summary *s)
{
	if (s->window != NULL)
		pprof_print_window(o->pprof, s->window, str_of(s->label), o->several);
	else
		pprof_print_trace(o->pprof, &s->chains, str_of(s->label), o->several);
}

static void output_chrome(struct output *o, struct summary *s)
{
	if (s->window != NULL)
		chrome_print_window(s->window, s->label, o->n, o->limit, &o->json);
	else
		chrome_print(&s->table, &s->steps, s->label, o->n, o->limit, &o->json);
}

/* Tables of ops of several files stand side by side. */
static bool is_side_by_side(const struct output *o)
{
	const struct answers *a = o->a;

	return a->format == FORMAT_TABLE && o->several && !a->by_engine && !a->by_module && !a->by_shape && !a->memory &&
	       !a->steps;
}

static void output_ranks(struct output *o, const struct summary *s)
{
	if (o->ranks == NULL)
		o->ranks = ranks_new();
	ranks_add(o->ranks, &s->table, s->trace != NULL ? s->trace->rank : -1, s->label);
	o->n++;
}

static void output_add(struct output *o, struct summary *s)
{
	enum format format = (enum format)o->a->format;

	o->several |= s->member;
	sort(&s->table, o->a);
	if (format == FORMAT_JSON)
		print_json(&o->json, s, o->a, o->limit);
	if (!s->readable)
		return;
	if (s->window == NULL && is_side_by_side(o)) {
		output_ranks(o, s);
		return;
	}
	if (o->several && (format == FORMAT_TABLE || format == FORMAT_TSV))
		buf_fmt(&o->bytes, "# %s\n", s->label);
	switch (format) {
	case FORMAT_TABLE: print_table(s, o->a, o->limit, &o->bytes); break;
	case FORMAT_TSV: print_tsv(s, o->a, o->limit, &o->bytes); break;
	case FORMAT_CSV: output_csv(o, s); break;
	case FORMAT_PPROF: output_pprof(o, s); break;
	case FORMAT_CHROME: output_chrome(o, s); break;
	case FORMAT_FOLDED: buf_str(&o->bytes, buf_view(&s->stacks)); break; /* of several files below each other */
	case FORMAT_JSON:
	case FORMATS: break;
	}
	o->n++;
}

static int output_end(struct output *o, struct err *e)
{
	int rc = OK;

	if (o->a->format == FORMAT_JSON || o->a->format == FORMAT_CHROME) {
		jw_end(&o->json);
		jw_end(&o->json);
		rc = jw_finish(&o->json, e);
		buf_byte(&o->bytes, '\n');
	}
	if (o->ranks != NULL)
		rc = ranks_print(o->ranks, o->a->sort == SORT_UNSET ? KEYAVG_COLUMNS : (enum keyavg_column)o->a->sort,
			o->a->limit == LIMIT_UNSET ? LIMIT_RANKS : o->limit, cli_colour(stdout), cli_columns(stdout),
			&o->bytes, e);
	if (o->pprof != NULL && o->n > 0)
		rc = pprof_print_finish(o->pprof, &o->bytes, e);
	if (rc == OK)
		rc = buf_finish(&o->bytes, "the output", e);
	if (rc == OK && (fwrite(buf_view(&o->bytes).p, 1, o->bytes.n, stdout) != o->bytes.n || fflush(stdout) != 0))
		rc = err_sys(e, "standard output");
	return rc;
}

static void output_fini(struct output *o)
{
	buf_fini(&o->bytes);
	pprof_print_free(o->pprof);
	ranks_free(o->ranks);
}

struct tally {
	int read, lost;
};

static void tally_add(struct tally *t, const struct summary *s)
{
	t->read += s->readable;
	t->lost += !s->readable || s->report.n_skips > 0;
}

struct visit {
	struct output *out;
	struct tally *tally;
	const struct trace_limits *explain; /* how a file is read once more; NULL: short words will do */
};

static void visit(void *arg, struct summary *s)
{
	struct visit *v = arg;

	output_add(v->out, s);
	warn(s, v->explain);
	warn_no_stacks(s, v->out->a);
	tally_add(v->tally, s);
}

static void summarize(char **files, int n, const struct answers *a, struct output *o, struct tally *t)
{
	const struct summary_want want = { .by_engine = a->by_engine, .by_module = a->by_module,
		.by_step = a->steps,
		.steps = a->format == FORMAT_CHROME, .chains = a->format == FORMAT_PPROF,
		.gauges = a->format == FORMAT_JSON, .folded = a->format == FORMAT_FOLDED,
		.stacks_of = a->stacks == STACKS_UNSET ? STACKS_CPU : (enum stacks_of)a->stacks, .more = wanted(a) };
	const struct trace_limits defaults = TRACE_LIMITS_DEFAULT;
	struct trace_limits limits = defaults;
	struct visit v = { o, t, a->explain ? &limits : NULL };

	limits.max_output_bytes = (uint64_t)a->max_output;
	for (int i = 0; i < n; i++)
		summary_read(files[i], &want, &limits, visit, &v);
}

static int run(int argc, char **argv);

const struct opt_command cmd_summarize = {
	.name = "summarize",
	.operands = "FILE...",
	.summary = "print the key_averages() table of traces",
	.detail = "Reads PyTorch (Kineto, Chrome) traces, plain or compressed by gzip or zstd whatever their name, and "
		  "whole archives of them (.tar, .tar.gz, .tar.zst), and prints per op what PyTorch's own key_averages() "
		  "gives, to the nanosecond. A FILE of - is standard input. Tables of several files stand side by side, as "
		  "those of the ranks of one job (of more than eight, and on a narrow screen, as least, median and most): "
		  "the most of each row is marked, and the slowest rank is the one whose device works longest without "
		  "collectives, for the others wait for it in theirs. What could not be read is told on standard error: a "
		  "reason, how many, and the byte offset of the first in the decompressed text. What the Neuron tools "
		  "write is read too (neuron-explorer view's json and summary-json, neuron-monitor, neuron-ls -j): their "
		  "ops in the same columns, then versions and gauges. So are traces of JAX and PyTorch/XLA "
		  "(.trace.json.gz, .xplane.pb): HLO ops are device rows.",
	.examples = "trainspotter summarize trace.json.gz    the table as PyTorch prints it\n"
		    "trainspotter summarize --format tsv --sort self_cpu_ns a.json b.json    for other programs\n"
		    "trainspotter summarize --steps trace.json.gz    each step, and what took longest in it\n"
		    "trainspotter summarize rank*.json.gz    ranks side by side, the slowest marked\n"
		    "trainspotter summarize -f pprof trace.json.gz > t.pb.gz; go tool pprof -top t.pb.gz    chains of calls in pprof\n"
		    "trainspotter summarize --by-engine profile.json    a Neuron device profile by engine and opcode\n"
		    "trainspotter summarize --format folded trace.json | flamegraph.pl > trace.svg    a flame graph\n"
		    "trainspotter summarize --by-module host.xplane.pb    HLO ops by module\n"
		    "curl -s URL | trainspotter summarize -    from a pipe\n",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};

/* ---- options that do not go together */

/* Formats that are not of rows, and what they are of. */
static const char *const whole_of[FORMATS] = {
	[FORMAT_PPROF] = "chains of calls",
	[FORMAT_CHROME] = "all ops and steps",
	[FORMAT_FOLDED] = "chains of calls",
};

/* The table that is not the one of ops; NULL where it is. */
static const char *view_of(const struct answers *a)
{
	if (a->by_engine)
		return "--by-engine";
	if (a->by_module)
		return "--by-module";
	return a->steps ? "--steps" : NULL;
}

static int check_formats(const struct answers *a, struct err *e)
{
	const char *whole = whole_of[a->format], *name = format_names[a->format];

	if (whole == NULL)
		return OK;
	if (view_of(a) != NULL || a->by_shape || a->memory)
		return err_set(e, E_USAGE, "--format %s is of %s: leave out --by-engine, --by-module, --by-shape, --memory and --steps",
			name, whole);
	if (a->sort != SORT_UNSET)
		return err_set(e, E_USAGE, "--format %s has an order of its own: leave out --sort", name);
	if (a->limit != LIMIT_UNSET && a->format != FORMAT_CHROME)
		return err_set(e, E_USAGE, "--format %s is of %s and not of rows: leave out --limit", name, whole);
	if (a->format == FORMAT_PPROF && isatty(STDOUT_FILENO))
		return err_set(e, E_USAGE, "a pprof profile is no text: send it into a file (> profile.pb.gz)");
	return OK;
}

static int check(const struct answers *a, int n_files, struct err *e)
{
	const char *view = view_of(a);

	if (n_files == 0)
		return err_set(e, E_USAGE, "a FILE is missing (\"-\" is standard input)");
	if (a->by_engine + a->by_module + a->steps > 1)
		return err_set(e, E_USAGE, "--by-engine, --by-module and --steps are different tables: choose one");
	if (view != NULL && (a->by_shape || a->memory))
		return err_set(e, E_USAGE, "--by-shape and --memory are columns of the table of ops, and %s is another", view);
	if (view != NULL && a->sort != SORT_UNSET)
		return err_set(e, E_USAGE, "--sort orders the table of ops, and %s is another with an order of its own", view);
	return check_formats(a, e);
}

static int run(int argc, char **argv)
{
	struct answers a = { .sort = SORT_UNSET, .limit = LIMIT_UNSET, .stacks = STACKS_UNSET,
		.max_output = INT64_C(64) << 30 };
	struct tally t = { 0 };
	struct err e = { 0 };
	struct output o;
	int n = 0, rc;

	rc = opt_parse(&cmd_summarize, "trainspotter", argc, argv, &a, &n, &e);
	if (rc == OK && a.stacks != STACKS_UNSET && a.format != FORMAT_TABLE && a.format != FORMAT_FOLDED)
		rc = err_set(&e, E_USAGE, "--stacks has a format of its own, folded");
	if (rc == OK && a.stacks != STACKS_UNSET)
		a.format = FORMAT_FOLDED;
	if (rc == OK)
		rc = check(&a, n, &e);
	if (rc < 0)
		return cmd_trouble(&cmd_summarize, &e);
	output_begin(&o, &a, n > 1);
	summarize(argv, n, &a, &o, &t);
	rc = output_end(&o, &e);
	output_fini(&o);
	if (rc < 0)
		return cmd_trouble(&cmd_summarize, &e);
	if (t.read == 0)
		return EXIT_TROUBLE;
	return t.lost > 0 ? EXIT_FOUND : EXIT_GOOD;
}
