/* trainspotter summarize — the key_averages() table of traces, HLO ops by module, and what the Neuron tools wrote. */
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/keyavg_print.h"
#include "cli/neuron_print.h"
#include "cli/xla_print.h"
#include "trace/dialect.h"
#include "trace/input.h"
#include "trace/neuron.h"
#include "trace/stacks.h"

enum format { FORMAT_TABLE, FORMAT_TSV, FORMAT_JSON, FORMAT_FOLDED, FORMATS };
static const char *const format_names[FORMATS + 1] = { "table", "tsv", "json", "folded", NULL };
static const char *const stacks_names[STACKS_OFS + 1] = { "cpu", "device", NULL };

enum { ARENA_BYTES_MAX = 1 << 30, LIMIT_TABLE = 100, SORT_UNSET = -1, LIMIT_UNSET = -1, STACKS_UNSET = -1 };

struct answers {
	int64_t format, sort, limit, max_output, stacks;
	bool by_engine, by_module, by_shape, memory, python;
};

static unsigned wanted(const struct answers *a)
{
	return (a->by_shape ? TRACE_SHAPES : 0) | (a->memory ? TRACE_MEMORY : 0) | (a->python ? TRACE_PYTHON : 0);
}

static const struct opt opts[] = {
	{ .name = "format", .letter = 'f', .type = OPT_CHOICE, .offset = offsetof(struct answers, format),
		.value = "FORMAT", .help = "How to print it: table (as PyTorch does), tsv, json, or folded, which is stacks of calls for flame graphs.",
		.choices = format_names },
	{ .name = "sort", .letter = 's', .type = OPT_CHOICE, .offset = offsetof(struct answers, sort),
		.value = "COLUMN", .help = "Order of the rows, largest first: name, is_device, is_user_annotation, input_dims, "
					   "count, self_cpu_ns, cpu_total_ns, self_device_ns, device_total_ns, cpu_memory_bytes, "
					   "self_cpu_memory_bytes, device_memory_bytes or self_device_memory_bytes. Without it "
					   "self_device_ns where there is any, else self_cpu_ns; tsv is ordered by its first columns.",
		.choices = keyavg_column_names },
	{ .name = "limit", .letter = 'n', .type = OPT_INT, .offset = offsetof(struct answers, limit), .min = 0,
		.max = INT64_MAX, .value = "ROWS", .help = "At most so many rows: 100 for a table, all otherwise." },
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
		.help = "Print stacks of calls for flame graphs (folded), by self time in whole microseconds: cpu (which folded is by "
			"itself) or device.",
		.choices = stacks_names },
	{ .name = "max-output", .type = OPT_SIZE, .offset = offsetof(struct answers, max_output), .min = 1,
		.max = INT64_MAX, .value = "SIZE", .help = "Refuse a file from which more than this comes out when it is "
							   "decompressed (64GiB)." },
};

static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "all was read; a dialect of JSON is no damage, and no timed events only a warning" },
	{ EXIT_FOUND, "something was lost (the file is truncated or damaged, events were skipped); the rest is printed" },
	{ EXIT_TROUBLE, "nothing could be read, or the command line is wrong" },
};

/* ---- progress, on a terminal, from the second second on */
struct progress {
	const char *name;
	bool terminal, shown;
	int64_t start_ns, last_ns;
};

static void progress_block(void *arg, const struct input *in)
{
	struct progress *p = arg;
	int64_t now_ns;
	double mb = (double)input_raw_bytes(in) / 1e6, seconds;

	if (!p->terminal)
		return;
	now_ns = clock_mono_ns();
	if (now_ns - p->start_ns < 2 * NS_PER_S || now_ns - p->last_ns < NS_PER_S / 5)
		return;
	p->last_ns = now_ns;
	p->shown = true;
	seconds = (double)(now_ns - p->start_ns) / 1e9;
	if (input_raw_size(in) > 0)
		fprintf(stderr, "\r%s: %.0f %%, %.0f MB, %.0f MB/s ", p->name,
			100.0 * mb * 1e6 / (double)input_raw_size(in), mb, mb / seconds);
	else
		fprintf(stderr, "\r%s: %.0f MB, %.0f MB/s ", p->name, mb, mb / seconds);
}

static void progress_over(const struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}

/* ---- one file */
struct summary {
	const char *name;
	const char *label;     /* the name as a terminal may see it; in the arena */
	struct trace *trace;   /* NULL for a Neuron file */
	struct window *window; /* NULL for a trace */
	struct arena arena;    /* the window's */
	struct keyavg_table table;
	struct xla_table modules; /* with --by-module */
	struct buf stacks;	  /* with --format folded */
	struct trace_report report;
	bool readable;
	struct err error;
};

static int open_input(struct input **in, const char *name, const struct trace_limits *limits, struct err *e)
{
	if (str_eq(str_of(name), STR("-")))
		return input_open_fd(in, STDIN_FILENO, "standard input", limits, e);
	return input_open(in, name, limits, e);
}

static int read_trace(struct summary *s, struct input *in, enum probe_kind kind, const struct trace_limits *limits,
	unsigned want)
{
	struct progress p = { .name = s->label, .terminal = isatty(STDERR_FILENO), .start_ns = clock_mono_ns() };
	const struct trace_watcher watcher = { progress_block, &p };
	int rc = want == 0 ? dialect_read(kind, in, s->name, limits, &watcher, &s->report, &s->trace, &s->error)
			   : trace_read_more(in, s->name, limits, want, &watcher, &s->report, &s->trace, &s->error);

	progress_over(&p);
	return rc == OK ? keyavg_table_make(&s->table, s->trace, &s->error) : rc;
}

static int read_neuron(struct summary *s, struct input *in, enum probe_kind kind)
{
	int rc;

	s->window = mem_get(sizeof(*s->window));
	rc = neuron_read(kind, &s->arena, in, s->name, s->window, &s->report, &s->error);
	if (rc == OK)
		neuron_rows_make(&s->table, s->window, &s->arena);
	return rc;
}

static int read_stacks(struct summary *s, struct input *in, enum probe_kind kind, const struct trace_limits *limits,
	const struct answers *a)
{
	bool torch = kind != PROBE_XPLANE && kind != PROBE_XLA_TRACE;
	int rc;

	if (probe_is_neuron(kind) || a->by_engine || a->by_module)
		return err_set(&s->error, E_FORMAT, "%s: stacks are of traces whose calls stand in each other, and this is %s",
			s->name, probe_sentence(kind));
	input_without_hash(in);
	input_ahead(in);
	rc = read_trace(s, in, kind, limits, torch ? TRACE_PYTHON : 0);
	if (rc == OK)
		rc = stacks_print(s->trace, a->stacks == STACKS_UNSET ? STACKS_CPU : (enum stacks_of)a->stacks, &s->stacks,
			&s->error);
	return rc == OK ? buf_finish(&s->stacks, "the stacks", &s->error) : rc;
}

static int read_kind(struct summary *s, struct input *in, enum probe_kind kind, const struct trace_limits *limits,
	const struct answers *a)
{
	int rc;

	if (a->format == FORMAT_FOLDED)
		return read_stacks(s, in, kind, limits, a);
	if (wanted(a) != 0 && (probe_is_neuron(kind) || kind == PROBE_XPLANE || kind == PROBE_XLA_TRACE))
		return err_set(&s->error, E_FORMAT, "%s: --by-shape, --memory and --python are for PyTorch traces, and this is %s",
			s->name, probe_sentence(kind));
	if (!probe_is_neuron(kind) && !a->by_engine) {
		input_without_hash(in);
		input_ahead(in);
		rc = read_trace(s, in, kind, limits, wanted(a));
		if (rc == OK && a->by_module && s->trace->xla != NULL)
			return xla_table_make(&s->modules, s->trace, &s->error);
	} else {
		rc = probe_is_neuron(kind) ? read_neuron(s, in, kind) : OK;
	}
	if (rc == OK && a->by_engine && kind != PROBE_NEURON_DEVICE)
		return err_set(&s->error, E_FORMAT, "%s: --by-engine is for Neuron device profiles, and this is %s", s->name,
			probe_sentence(kind));
	if (rc == OK && a->by_module)
		return err_set(&s->error, E_FORMAT, "%s: --by-module is for traces of JAX and PyTorch/XLA, and this is %s",
			s->name, probe_sentence(kind));
	return rc;
}

static const char *label_of(struct arena *a, const char *name)
{
	size_t n = strlen(name);
	char *label = arena_get(a, n + 1);

	if (label == NULL)
		return "?";
	label[str_tame(name, n, label)] = '\0';
	return label;
}

static void summary_read(struct summary *s, const char *name, const struct trace_limits *limits, const struct answers *a)
{
	const char *shown = str_eq(str_of(name), STR("-")) ? "standard input" : name;
	enum probe_kind kind = PROBE_UNKNOWN;
	struct input *in = NULL;
	int rc;

	*s = (struct summary){ .name = shown };
	arena_init(&s->arena, ARENA_BYTES_MAX);
	buf_init(&s->stacks, ARENA_BYTES_MAX);
	s->label = label_of(&s->arena, shown);
	rc = open_input(&in, name, limits, &s->error);
	if (rc == OK)
		rc = probe_input(in, shown, &kind, &s->error);
	if (rc == OK)
		rc = read_kind(s, in, kind, limits, a);
	input_close(in);
	s->readable = rc == OK;
}

static void summary_fini(struct summary *s)
{
	keyavg_table_fini(&s->table);
	buf_fini(&s->stacks);
	xla_table_fini(&s->modules);
	trace_free(s->trace);
	window_fini(s->window);
	mem_free(s->window);
	arena_fini(&s->arena);
}

static void sort(struct keyavg_table *kt, const struct answers *a)
{
	bool device = false;

	if (a->sort != SORT_UNSET) {
		keyavg_sort(kt, (enum keyavg_column)a->sort);
		return;
	}
	if (a->format == FORMAT_TSV)
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

static void warn(const struct summary *s)
{
	const struct keyavg_table *kt = &s->table;

	if (!s->readable) {
		fprintf(stderr, "trainspotter: %s\n", s->error.text);
		return;
	}
	for (int reason = 0; reason < TRACE_REASONS; reason++)
		warn_reason(s, (enum trace_reason)reason);
	if (kt->crossings > 0)
		fprintf(stderr, "%s: note: crossing: %llu (events end after one that they began in; they are not counted as "
				"part of it)\n",
			s->label, (unsigned long long)kt->crossings);
	if (kt->orphan_ns > 0 && (s->trace == NULL || s->trace->xla == NULL)) /* no HLO event says which call launched it */
		fprintf(stderr, "%s: note: %lld of %lld ns (%.0f %%) of device time belong to no op\n", s->label,
			(long long)kt->orphan_ns, (long long)kt->self_device_ns,
			100.0 * (double)kt->orphan_ns / (double)kt->self_device_ns);
	if ((kt->want & TRACE_SHAPES) && s->trace->dims_of.n > 0 && intern_count(&s->trace->dims) == 0)
		fprintf(stderr, "%s: note: no shapes (record_shapes=True writes them)\n", s->label);
	if ((kt->want & TRACE_MEMORY) && s->trace->allocs.n == 0)
		fprintf(stderr, "%s: note: no allocations (profile_memory=True writes them)\n", s->label);
	if (s->report.events == 0)
		fprintf(stderr, "%s: warning: no timed events\n", s->label);
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
	if (a->by_engine && s->readable)
		neuron_print_engines_json(s->window, w);
	else if (a->by_module)
		xla_print_json(&s->modules, limit, w);
	else
		keyavg_print_json(&s->table, limit, w);
	if (s->window != NULL && s->readable)
		neuron_print_gauges_json(s->window, w);
	jw_end(w);
}

static void print_neuron(const struct summary *s, const struct answers *a, size_t limit, struct buf *out)
{
	if (a->by_engine && a->format == FORMAT_TSV)
		neuron_print_engines_tsv(s->window, out);
	else if (a->by_engine)
		neuron_print_engines_table(s->window, out);
	else if (a->format == FORMAT_TSV)
		keyavg_print_tsv(&s->table, limit, out);
	else if (s->table.n > 0)
		keyavg_print_table(&s->table, limit, "NEURON", out);
	if (!a->by_engine && a->format == FORMAT_TABLE)
		neuron_print_gauges(s->window, out);
}

static void print_text(struct summary *s, const struct answers *a, size_t limit, bool titled, struct buf *out)
{
	if (!s->readable)
		return;
	if (a->format == FORMAT_FOLDED) { /* of several files all together: no title */
		buf_str(out, buf_view(&s->stacks));
		return;
	}
	if (titled)
		buf_fmt(out, "# %s\n", s->label);
	if (s->window != NULL)
		print_neuron(s, a, limit, out);
	else if (a->by_module && a->format == FORMAT_TSV)
		xla_print_tsv(&s->modules, limit, out);
	else if (a->by_module)
		xla_print_table(&s->modules, limit, out);
	else if (a->format == FORMAT_TSV)
		keyavg_print_tsv(&s->table, limit, out);
	else
		keyavg_print_table(&s->table, limit, s->trace->device != NULL ? s->trace->device : "DEVICE", out);
}

struct tally {
	int read, lost;
};

static void tally_add(struct tally *t, const struct summary *s)
{
	t->read += s->readable;
	t->lost += !s->readable || s->report.n_skips > 0;
}

static void summarize(char **files, int n, const struct answers *a, struct buf *out, struct json_writer *w,
	struct tally *t)
{
	const struct trace_limits defaults = TRACE_LIMITS_DEFAULT;
	struct trace_limits limits = defaults;
	int64_t limit = a->limit;

	limits.max_output_bytes = (uint64_t)a->max_output;
	if (limit == LIMIT_UNSET)
		limit = a->format == FORMAT_TABLE ? LIMIT_TABLE : INT64_MAX;
	for (int i = 0; i < n; i++) {
		struct summary s;

		summary_read(&s, files[i], &limits, a);
		sort(&s.table, a);
		if (a->format == FORMAT_JSON)
			print_json(w, &s, a, (size_t)limit);
		else
			print_text(&s, a, (size_t)limit, n > 1, out);
		warn(&s);
		tally_add(t, &s);
		summary_fini(&s);
	}
}

static int run(int argc, char **argv);

const struct opt_command cmd_summarize = {
	.name = "summarize",
	.operands = "FILE…",
	.summary = "print the key_averages() table of traces",
	.detail = "Reads PyTorch (Kineto, Chrome) traces, plain or compressed by gzip or zstd whatever their name, and prints per op "
		  "what PyTorch's own key_averages() gives, to the nanosecond. A FILE of - is standard input. What could not be "
		  "read is told on standard error: a reason, how many, and the byte offset of the first in the decompressed text. "
		  "What the Neuron tools write is read too (neuron-explorer view's json and summary-json, neuron-monitor, "
		  "neuron-ls -j): their ops in the same columns, then versions and gauges. So are traces of JAX and PyTorch/XLA "
		  "(.trace.json.gz, .xplane.pb): HLO ops are device rows.",
	.examples = "trainspotter summarize trace.json.gz    the table as PyTorch prints it\n"
		    "trainspotter summarize --format tsv --sort self_cpu_ns a.json b.json    for other programs\n"
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

static int write_out(struct buf *out, struct err *e)
{
	int rc = buf_finish(out, "the output", e);

	if (rc == OK && (fwrite(out->p == NULL ? "" : out->p, 1, out->n, stdout) != out->n || fflush(stdout) != 0))
		rc = err_sys(e, "standard output");
	return rc;
}

static int run(int argc, char **argv)
{
	struct answers a = { .sort = SORT_UNSET, .limit = LIMIT_UNSET, .stacks = STACKS_UNSET, .max_output = INT64_C(64) << 30 };
	struct tally t = { 0 };
	struct json_writer w;
	struct err e = { 0 };
	struct buf out;
	int n = 0, rc;

	rc = opt_parse(&cmd_summarize, "trainspotter", argc, argv, &a, &n, &e);
	if (rc == OK && a.stacks != STACKS_UNSET && a.format != FORMAT_TABLE && a.format != FORMAT_FOLDED)
		rc = err_set(&e, E_USAGE, "--stacks has a format of its own, folded");
	if (rc == OK && a.stacks != STACKS_UNSET)
		a.format = FORMAT_FOLDED;
	if (rc == OK && n == 0)
		rc = err_set(&e, E_USAGE, "a FILE is missing (\"-\" is standard input)");
	if (rc < 0)
		return cmd_trouble(&cmd_summarize, &e);
	buf_init(&out, (size_t)2 << 30);
	jw_init(&w, &out);
	if (a.format == FORMAT_JSON) {
		jw_object(&w);
		jw_key_array(&w, "files");
	}
	summarize(argv, n, &a, &out, &w, &t);
	if (a.format == FORMAT_JSON) {
		jw_end(&w);
		jw_end(&w);
		rc = jw_finish(&w, &e);
		buf_byte(&out, '\n');
	}
	if (rc == OK)
		rc = write_out(&out, &e);
	buf_fini(&out);
	if (rc < 0)
		return cmd_trouble(&cmd_summarize, &e);
	if (t.read == 0)
		return EXIT_TROUBLE;
	return t.lost > 0 ? EXIT_FOUND : EXIT_GOOD;
}
