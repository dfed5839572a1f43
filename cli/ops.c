#include "cli/ops.h"

#include <math.h>

#include "base/clock.h"
#include "cli/remote.h"

void ops_time_cell(struct table *t, const struct json_node *row, const char *key)
{
	char text[CLOCK_TEXT];
	double ns = json_get_double(row, key, (double)NAN);

	table_cell(t, isnan(ns) ? STR("-") : clock_human((int64_t)llround(ns), text), PAINT_NONE);
}

void ops_count_cell(struct table *t, double count, enum table_paint paint)
{
	if (count < 0)
		table_cell(t, STR("-"), paint);
	else
		table_cell_fmt(t, paint, "%.*f", count == floor(count) ? 0 : count < 10 ? 2 : 1, count);
}

/* ---- evidence: rows "what | calls a step | time a step" before and after */

static const struct table_column columns[] = {
	{ "  a step", TABLE_LEFT, 60 }, { "before", TABLE_RIGHT, 0 }, { "", TABLE_RIGHT, 0 },
	{ "after", TABLE_RIGHT, 0 },	{ "", TABLE_RIGHT, 0 },	      { "change", TABLE_RIGHT, 0 },
};

enum { FINDINGS_SHOWN = 20 };

struct side {
	double calls, ns;
};

static struct side side_of(const struct json_node *op, const char *side)
{
	return (struct side){ json_get_double(json_get(op, "calls_per_step"), side, -1),
		json_get_double(json_get(op, "time_per_step_ns"), side, -1) };
}

/* Nothing there on one side is shown as nothing, so that the eye sees what came and what went. */
static void side_cells(struct table *t, struct side s, const char *one, const char *many)
{
	char text[CLOCK_TEXT];

	if (s.calls == 0 && s.ns <= 0) {
		table_cell(t, STR("-"), PAINT_DIM);
		table_cell(t, STR(""), PAINT_NONE);
		return;
	}
	if (s.calls < 0)
		table_cell(t, STR(""), PAINT_NONE);
	else
		table_cell_fmt(t, PAINT_NONE, "%.*f %s", s.calls == floor(s.calls) ? 0 : 2, s.calls,
			s.calls == 1 ? one : many);
	table_cell(t, s.ns < 0 ? STR("") : clock_human(llround(s.ns), text), PAINT_NONE);
}

static void change_cell(struct table *t, double before_ns, double after_ns)
{
	double change = after_ns - before_ns;
	enum table_paint paint = change > 0 ? PAINT_BAD : change < 0 ? PAINT_GOOD : PAINT_NONE;
	char text[CLOCK_TEXT];

	if (before_ns < 0 || after_ns < 0)
		table_cell(t, STR(""), PAINT_NONE);
	else if (fabs(change) < 0.5)
		table_cell(t, STR("none"), PAINT_DIM);
	else if (before_ns > 0 && after_ns > 0)
		table_cell_fmt(t, paint, "%s%s (%+.0f %%)", change > 0 ? "+" : "",
			clock_human(llround(change), text).p, change / before_ns * 100);
	else
		table_cell_fmt(t, paint, "%s%s", change > 0 ? "+" : "", clock_human(llround(change), text).p);
}

static void op_row(struct table *t, const char *indent, const struct json_node *op, enum table_paint paint)
{
	struct str name = json_get_str(op, "op");
	struct side before = side_of(op, "before"), after = side_of(op, "after");

	table_cell_fmt(t, paint, "  %s%.*s", indent, STR_ARG(name));
	side_cells(t, before, "call", "calls");
	side_cells(t, after, "call", "calls");
	change_cell(t, before.ns, after.ns);
}

static struct side plus(struct side a, struct side b)
{
	return (struct side){ a.calls + b.calls, a.ns + b.ns };
}

/* The lost op and its replacements together: the line that tells the price. */
static void sum_row(struct table *t, const struct json_node *finding, struct json_items replaced)
{
	struct side before = side_of(finding, "before"), after = side_of(finding, "after");

	for (size_t i = 0; i < replaced.n; i++) {
		before = plus(before, side_of(&replaced.v[i], "before"));
		after = plus(after, side_of(&replaced.v[i], "after"));
	}
	table_cell(t, STR("  together"), PAINT_BOLD);
	side_cells(t, before, "call", "calls");
	side_cells(t, after, "call", "calls");
	change_cell(t, before.ns, after.ns);
}

static void finding_rows(struct table *t, const struct json_node *finding)
{
	struct json_items replaced = remote_items(finding, "replaced_by");

	op_row(t, "", finding, PAINT_BOLD);
	for (size_t i = 0; i < replaced.n; i++)
		op_row(t, "  ", &replaced.v[i], PAINT_NONE);
	if (replaced.n > 0)
		sum_row(t, finding, replaced);
}

static void step_row(struct table *t, const struct json_node *evidence)
{
	const struct json_node *ns = json_get(evidence, "step_ns");
	const struct json_node *launches = json_get(evidence, "launches_per_step");
	struct side before = { json_get_double(launches, "before", -1), json_get_double(ns, "before", -1) };
	struct side after = { json_get_double(launches, "after", -1), json_get_double(ns, "after", -1) };

	if (before.ns < 0 && before.calls < 0)
		return;
	table_cell(t, json_get_bool(evidence, "has_step", true) ? STR("  the whole step") : STR("  all ops"), PAINT_BOLD);
	side_cells(t, before, "launch", "launches");
	side_cells(t, after, "launch", "launches");
	change_cell(t, before.ns, after.ns);
}

static void print_sentence(const struct json_node *finding, FILE *out, bool colour)
{
	struct str kind = json_get_str(finding, "kind");

	fputs(colour ? "  \033[1m" : "  ", out);
	cli_put(out, kind);
	fputs(colour ? "\033[0m: " : ": ", out);
	cli_put_filled(out, json_get_str(finding, "sentence"), 4, 2 + str_chars(kind) + 2);
}

void ops_print_evidence(const struct json_node *evidence, FILE *out, bool colour)
{
	struct json_items findings = remote_items(evidence, "findings");
	size_t shown = findings.n < FINDINGS_SHOWN ? findings.n : FINDINGS_SHOWN;
	struct table *t = table_new(columns, COUNT(columns));

	for (size_t i = 0; i < shown; i++) {
		print_sentence(&findings.v[i], out, colour);
		finding_rows(t, &findings.v[i]);
	}
	if (shown < findings.n)
		fprintf(out, "  and %zu more findings (--format json has all)\n", findings.n - shown);
	step_row(t, evidence);
	fputc('\n', out);
	table_print(t, out, colour);
	table_free(t);
}
