/* trainspotter diff — what changed between two traces, lost fusion first; an exit status for a release pipeline. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/diff_side.h"
#include "cli/table.h"
#include "detect/judge.h"
#include "json/write.h"

enum { VERDICT_BYTES_MAX = 256 << 20, JSON_BYTES_MAX = 64 << 20, CHANGES_SHOWN = 10, NAME_WIDTH = 50 };

enum { FORMAT_TABLE, FORMAT_JSON };
static const char *const formats[] = { "table", "json", NULL };

struct diff_args {
	int64_t format;
	const char *fail_on;
	struct opt_texts fusion_tables;
	bool print_fusion_table;
	const char *name_rules;
};

/* Everything that one run holds. */
struct diff {
	const struct diff_args *args;
	bool fails[VERDICTS]; /* kinds that --fail-on names */
	struct fusion_table *fusion;
	struct name_rules *rules;
	struct side *before, *after;
	struct arena arena;
	struct verdict verdict;
};

/* ---- the table for people */

static const char *const kind_words[] = {
	[VERDICT_NONE] = "no regression",
	[VERDICT_FUSION_LOST] = "fusion lost",
	[VERDICT_FUSION_CHANGED] = "fusion changed, at no cost to speak of",
	[VERDICT_GRAPH_BREAKS] = "graph breaks",
	[VERDICT_HOST_GAP] = "longer gaps",
	[VERDICT_CPU_FALLBACK] = "CPU fallback",
	[VERDICT_OP_SLOWER] = "op slower",
	[VERDICT_STEP_SLOWER] = "step slower",
};
_Static_assert(COUNT(kind_words) == VERDICTS, "words for every kind of verdict");

static const struct table_column columns[] = {
	{ "", TABLE_LEFT, NAME_WIDTH }, { "CALLS", TABLE_RIGHT, 0 },	    { "", TABLE_LEFT, 0 },
	{ "", TABLE_LEFT, 0 },		{ "TIME A STEP", TABLE_RIGHT, 0 }, { "", TABLE_LEFT, 0 },
	{ "", TABLE_RIGHT, 0 },		{ "CHANGE", TABLE_RIGHT, 0 },
};

static void cell_count(struct table *t, double calls)
{
	if (fabs(calls - round(calls)) < 0.005)
		table_cell_fmt(t, PAINT_NONE, "%.0f", calls);
	else
		table_cell_fmt(t, PAINT_NONE, "%.2f", calls);
}

static void cell_time(struct table *t, double ns)
{
	char text[CLOCK_TEXT];

	if (ns == 0)
		table_cell(t, STR("–"), PAINT_DIM);
	else
		table_cell(t, clock_human(llround(ns), text), PAINT_NONE);
}

static void cell_change(struct table *t, double ns)
{
	char text[CLOCK_TEXT];
	enum table_paint paint = ns > 0 ? PAINT_BAD : ns < 0 ? PAINT_GOOD : PAINT_NONE;

	table_cell_fmt(t, paint, "%s%.*s", ns > 0 ? "+" : "", STR_ARG(clock_human(llround(ns), text)));
}

/* name  3 → 6  403 µs → 2.36 ms  +1.95 ms */
static void row(struct table *t, const char *lead, const struct op_change *c, enum table_paint paint)
{
	const struct before_after *calls = &c->calls_per_step, *ns = &c->time_per_step_ns;

	table_cell_fmt(t, paint, "%s%.*s", lead, STR_ARG(c->op));
	cell_count(t, calls->before);
	table_cell(t, STR("→"), PAINT_DIM);
	cell_count(t, calls->after);
	cell_time(t, ns->before);
	table_cell(t, STR("→"), PAINT_DIM);
	cell_time(t, ns->after);
	cell_change(t, ns->after - ns->before);
}

static void net_row(struct table *t, double net_ns)
{
	table_cell(t, STR("  net"), PAINT_BOLD);
	for (size_t i = 2; i < COUNT(columns); i++)
		table_cell(t, STR(""), PAINT_NONE);
	cell_change(t, net_ns);
}

static void print_table(struct table *t, bool colour)
{
	table_print(t, stdout, colour);
	table_free(t);
}

static void print_findings(const struct verdict *v, bool colour)
{
	struct table *t;

	if (v->n_findings == 0)
		return;
	t = table_new(columns, COUNT(columns));
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct finding *f = &v->findings[i];

		row(t, "", &f->op, PAINT_BOLD);
		for (size_t k = 0; k < f->n_replaced_by; k++)
			row(t, "  → ", &f->replaced_by[k], PAINT_NONE);
		if (f->n_replaced_by > 0)
			net_row(t, f->net_ns_per_step);
	}
	fputc('\n', stdout);
	print_table(t, colour);
}

static bool is_in_findings(const struct verdict *v, struct str op)
{
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct finding *f = &v->findings[i];

		if (str_eq(f->op.op, op))
			return true;
		for (size_t k = 0; k < f->n_replaced_by; k++)
			if (str_eq(f->replaced_by[k].op, op))
				return true;
	}
	return false;
}

static void print_changes(const struct verdict *v, const struct op_change *changes, size_t n, bool colour)
{
	struct table *t = table_new(columns, COUNT(columns));
	size_t shown = 0;

	for (size_t i = 0; i < n && shown < CHANGES_SHOWN; i++) {
		if (is_in_findings(v, changes[i].op))
			continue;
		row(t, "", &changes[i], PAINT_NONE);
		shown++;
	}
	if (shown == 0) {
		table_free(t);
		return;
	}
	printf("\n%s\n", v->n_findings > 0 ? "Largest other changes:" : "Largest changes:");
	print_table(t, colour);
}

/* "step 9.10 ms → 10.4 ms (+14.3 %), launches 1 → 5, windows 2 → 2, steps 12 → 12" */
static void print_step(const struct diff *d)
{
	const struct verdict *v = &d->verdict;
	char before[CLOCK_TEXT], after[CLOCK_TEXT];
	struct buf line;

	buf_init(&line, 4096);
	buf_fmt(&line, "%s %.*s → ", v->has_step ? "step" : "all ops of a step",
		STR_ARG(clock_human(llround(v->step_ns.before), before)));
	buf_str(&line, clock_human(llround(v->step_ns.after), after));
	if (v->step_ns.before > 0)
		buf_fmt(&line, " (%+.1f %%)", (v->step_ns.after / v->step_ns.before - 1) * 100);
	buf_fmt(&line, ", launches a step %.6g → %.6g; windows %zu → %zu, steps %llu → %llu", v->launches_per_step.before,
		v->launches_per_step.after, side_windows(d->before), side_windows(d->after),
		(unsigned long long)side_steps(d->before), (unsigned long long)side_steps(d->after));
	cli_put(stdout, buf_view(&line));
	fputc('\n', stdout);
	buf_fini(&line);
}

static void print_head(const struct diff *d, bool colour)
{
	const struct verdict *v = &d->verdict;
	bool bad = verdict_is_regression(v);

	printf("%s%s%s", !colour ? "" : bad ? "\033[1;31m" : "\033[1;32m", kind_words[v->kind], colour ? "\033[0m" : "");
	for (size_t i = 0; i < v->n_findings; i++) {
		fputs(i == 0 ? ": " : "\n  also: ", stdout);
		cli_put(stdout, v->findings[i].sentence);
	}
	fputc('\n', stdout);
}

static int print_for_people(struct diff *d, struct err *e)
{
	bool colour = cli_colour(stdout);
	struct op_change *changes;
	size_t n;
	int rc = judge_changes(d->before, d->after, 1000, &d->arena, &changes, &n, e);

	if (rc < 0)
		return rc;
	print_head(d, colour);
	print_step(d);
	print_findings(&d->verdict, colour);
	print_changes(&d->verdict, changes, n, colour);
	return OK;
}

/* ---- JSON */

static void write_side(struct json_writer *w, const char *key, const struct side *s)
{
	jw_key_object(w, key);
	jw_key_u64(w, "windows", side_windows(s));
	jw_key_u64(w, "steps", side_steps(s));
	jw_end(w);
}

static int print_json(const struct diff *d, struct err *e)
{
	struct json_writer w;
	struct buf out;
	int rc;

	buf_init(&out, JSON_BYTES_MAX);
	jw_init(&w, &out);
	jw_object(&w);
	verdict_write_members(&w, &d->verdict);
	write_side(&w, "before", d->before);
	write_side(&w, "after", d->after);
	jw_end(&w);
	rc = jw_finish(&w, e);
	if (rc == OK)
		printf("%.*s\n", STR_ARG(buf_view(&out)));
	buf_fini(&out);
	return rc;
}

/* ---- the run */

static int parse_fail_on(struct diff *d, struct err *e)
{
	struct str rest = str_of(d->args->fail_on);
	enum verdict_kind kind;

	while (d->args->fail_on != NULL && rest.p != NULL) {
		struct str word = str_trim(str_split(&rest, ','));

		if (verdict_parse(word, &kind) != OK || kind == VERDICT_NONE)
			return err_set(e, E_USAGE,
				"--fail-on: \"%.*s\" is no kind of finding; they are fusion_lost, fusion_changed, "
				"graph_breaks, host_gap, cpu_fallback, op_slower and step_slower",
				STR_ARG(word));
		d->fails[kind] = true;
	}
	return OK;
}

static int load_fusion(struct diff *d, struct err *e)
{
	int rc = fusion_table_new(&d->fusion, e);

	for (size_t i = 0; rc == OK && i < d->args->fusion_tables.n; i++)
		rc = fusion_table_add(d->fusion, d->args->fusion_tables.v[i], e);
	return rc;
}

static int read_side(struct diff *d, struct side **side, const char *path, const char *which, struct err *e)
{
	int rc;

	*side = side_new(d->fusion);
	rc = diff_side_read(*side, path, d->rules, e);
	return rc < 0 ? err_add(e, "%s", which) : OK;
}

static bool fails(const struct diff *d)
{
	if (verdict_is_regression(&d->verdict))
		return true;
	for (size_t i = 0; i < d->verdict.n_findings; i++)
		if (d->fails[d->verdict.findings[i].kind])
			return true;
	return false;
}

/* Of a side without any op there is nothing to say, and "no regression" would be too much. */
static int refuse_empty(const struct diff *d, char **paths, struct err *e)
{
	const struct before_after *ns = &d->verdict.step_ns, *launches = &d->verdict.launches_per_step;
	bool before = ns->before <= 0 && launches->before <= 0, after = ns->after <= 0 && launches->after <= 0;

	if (!before && !after)
		return OK;
	return err_set(e, E_FORMAT, "%s: %s: no ops in it to compare", before ? "BEFORE" : "AFTER", paths[before ? 0 : 1]);
}

static int diff_files(struct diff *d, char **paths, struct err *e)
{
	int rc = parse_fail_on(d, e);

	if (rc == OK)
		rc = load_fusion(d, e);
	if (rc == OK && d->args->name_rules != NULL)
		rc = name_rules_load(&d->rules, d->args->name_rules, e);
	if (rc == OK)
		rc = read_side(d, &d->before, paths[0], "BEFORE", e);
	if (rc == OK)
		rc = read_side(d, &d->after, paths[1], "AFTER", e);
	if (rc == OK)
		rc = judge(d->before, d->after, JUDGE_DIFF, &d->arena, &d->verdict, e);
	if (rc == OK)
		rc = refuse_empty(d, paths, e);
	if (rc == OK)
		rc = d->args->format == FORMAT_JSON ? print_json(d, e) : print_for_people(d, e);
	if (rc == OK && fflush(stdout) != 0)
		rc = err_sys(e, "standard output");
	return rc;
}

static int run_diff(const struct diff_args *args, char **paths)
{
	struct diff d = { .args = args };
	struct err e = { 0 };
	int status;

	arena_init(&d.arena, VERDICT_BYTES_MAX);
	if (diff_files(&d, paths, &e) < 0)
		status = cmd_trouble(&cmd_diff, &e);
	else
		status = fails(&d) ? EXIT_FOUND : EXIT_GOOD;
	side_free(d.before);
	side_free(d.after);
	fusion_table_free(d.fusion);
	name_rules_free(d.rules);
	arena_fini(&d.arena);
	return status;
}

static const struct opt opts[] = {
	{ .name = "format", .letter = 'f', .type = OPT_CHOICE, .offset = offsetof(struct diff_args, format), .value = "FORMAT",
		.choices = formats, .help = "table, or json for programs." },
	{ .name = "fail-on", .type = OPT_TEXT, .offset = offsetof(struct diff_args, fail_on), .value = "KIND,...",
		.help = "Exit 1 for these kinds of finding, too: fusion_changed, step_slower, graph_breaks." },
	{ .name = "fusion-table", .type = OPT_TEXTS, .offset = offsetof(struct diff_args, fusion_tables), .value = "FILE",
		.help = "Add what FILE says of fused ops to what is compiled in; may be given several times." },
	{ .name = "name-rules", .type = OPT_TEXT, .offset = offsetof(struct diff_args, name_rules), .value = "FILE",
		.help = "Rules of your own for the names of ops, the same for both sides (name-rules.yaml shows how)." },
	{ .name = "print-fusion-table", .type = OPT_FLAG, .offset = offsetof(struct diff_args, print_fusion_table),
		.help = "Print the compiled-in fusion table, which explains itself, and exit." },
};

static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "no regression; also for fusion_changed, step_slower, and graph_breaks that slowed nothing" },
	{ EXIT_FOUND, "a regression, or a kind of finding that --fail-on names" },
	{ EXIT_TROUBLE, "usage, or a side that could not be read whole" },
};

static int run(int argc, char **argv)
{
	struct diff_args args = { .format = FORMAT_TABLE };
	struct err e = { 0 };
	int n = 0, rc = opt_parse(&cmd_diff, "trainspotter", argc, argv, &args, &n, &e);

	if (rc == OK && args.print_fusion_table) {
		printf("%.*s", STR_ARG(fusion_table_text()));
		return EXIT_GOOD;
	}
	if (rc == OK && n != 2)
		rc = err_set(&e, E_USAGE, "two operands are wanted, BEFORE and AFTER, not %d", n);
	return rc < 0 ? cmd_trouble(&cmd_diff, &e) : run_diff(&args, argv);
}

const struct opt_command cmd_diff = {
	.name = "diff",
	.operands = "BEFORE AFTER",
	.summary = "say what changed between two traces, lost fusion first",
	.detail = "BEFORE and AFTER are each a trace, a folder or archive (.tar, .tar.gz, .tar.zst) of traces of the same code (each one window; medians are taken "
		  "over them), or an op table: {\"steps\": N, \"ops\": [[\"name\", calls, microseconds], ...]}, totals over "
		  "all steps, with step_us and gap_us a step where known; a name that ends in \"@cpu\" ran on the host.\n\n"
		  "The verdict is one of none, fusion_lost, fusion_changed, graph_breaks, host_gap, cpu_fallback, op_slower "
		  "and step_slower. Lost fusion is told by structure: something known to be fused is called less often, and "
		  "what it consists of takes its place. Noise can double times, but not invent a launch.",
	.examples = "trainspotter diff v41.json.gz v42.json.gz    what did the deploy change?\n"
		    "trainspotter diff --format json --fail-on step_slower main/ branch/    for a release pipeline",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
