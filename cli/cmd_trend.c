#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "cli/chart.h"
#include "cli/cmd.h"
#include "cli/remote.h"
#include "cli/table.h"

enum { POINTS_MAX = 1000000, OPS_MAX = 32, WIDTH_PIPE = 100, WIDTH_MOST = 140 };
enum show { SHOW_P50, SHOW_P99, SHOW_MEAN, SHOW_TIME, SHOW_CALLS, SHOWS, SHOW_AUTO = -1 };

static const char *const show_names[] = { "p50", "p99", "mean", "time", "calls", NULL };

static const struct {
	const char *member, *words;
	bool adds_up; /* several ops can be summed */
} shows[] = {
	[SHOW_P50] = { "p50_ns", "p50 of a call's", false },
	[SHOW_P99] = { "p99_ns", "p99 of a call's", false },
	[SHOW_MEAN] = { "mean_ns", "mean of a call's", false },
	[SHOW_TIME] = { "time_per_step_ns", "a step's", true },
	[SHOW_CALLS] = { "calls_per_step", "calls a step", true },
};
_Static_assert(COUNT(shows) == SHOWS, "describe every measure");

VEC(points, struct chart_point);
VEC(marks, struct chart_mark);

/* One question, with an answer for each op. */
struct trend {
	struct ask ask;
	const char *ops[OPS_MAX];
	size_t n_ops;
	struct reply replies[OPS_MAX];
	enum show show;
	struct points points;
	struct marks marks;
	struct str basis;
	int64_t resolution_ns;
};

/* ---- answers to points */

static double value_of(const struct json_node *point, enum show show)
{
	double v = json_get_double(point, shows[show].member, (double)NAN);

	return isnan(v) && json_get_i64(point, "calls", -1) == 0 ? 0 : v; /* there were windows, and it was not called */
}

static int add_points(struct trend *tr, const struct json_node *root, struct err *e)
{
	struct json_items items = remote_items(root, "items");

	for (size_t i = 0; i < items.n; i++) {
		struct chart_point *p = vec_push(&tr->points);
		struct str basis = json_get_str(&items.v[i], "basis");

		if (p == NULL)
			return err_set(e, E_LIMIT, "more than %d points; a coarser --resolution has fewer", POINTS_MAX);
		p->t_ns = json_get_i64(&items.v[i], "t_ns", 0);
		p->value = value_of(&items.v[i], tr->show);
		p->high = tr->show == SHOW_P50 ? value_of(&items.v[i], SHOW_P99) : (double)NAN;
		if (json_get_i64(&items.v[i], "calls", 0) > 0)
			tr->basis = basis;
	}
	return OK;
}

static int by_time(const void *a, const void *b)
{
	const struct chart_point *x = a, *y = b;

	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* Points of several ops at one time become one: their sum. */
static void sum_points(struct points *points)
{
	size_t n = 0;

	if (points->n == 0)
		return;
	qsort(points->v, points->n, sizeof(*points->v), by_time);
	for (size_t i = 1; i < points->n; i++) {
		struct chart_point *last = &points->v[n], *p = &points->v[i];

		if (p->t_ns != last->t_ns)
			points->v[++n] = *p;
		else if (isnan(last->value))
			last->value = p->value;
		else if (!isnan(p->value))
			last->value += p->value;
	}
	points->n = n + 1;
}

/* A deploy's name alone says enough where there is one service. */
static int add_marks(struct trend *tr, const struct json_node *root, struct arena *arena, struct err *e)
{
	struct json_items deploys = remote_items(root, "deploys");
	bool several = false;

	for (size_t i = 1; i < deploys.n; i++)
		several = several ||
			  !str_eq(json_get_str(&deploys.v[i], "service"), json_get_str(&deploys.v[0], "service"));
	for (size_t i = 0; i < deploys.n; i++) {
		struct chart_mark *m = vec_push(&tr->marks);
		struct str service = json_get_str(&deploys.v[i], "service"),
			   deploy = json_get_str(&deploys.v[i], "deploy");

		if (m == NULL)
			return err_set(e, E_NOMEM, "no memory for %zu deploys", deploys.n);
		m->t_ns = json_get_i64(&deploys.v[i], "first_ns", 0);
		m->label = several ? arena_fmt(arena, "%.*s %.*s", STR_ARG(service), STR_ARG(deploy)) : deploy;
	}
	return OK;
}

static int fetch(struct trend *tr, struct err *e)
{
	char resolution[CLOCK_TEXT];
	int rc = OK;

	for (size_t i = 0; rc == OK && i < tr->n_ops; i++) {
		tr->ask.op = tr->ops[i];
		rc = remote_get(&tr->ask, "/api/v1/trend", &tr->replies[i], e);
		if (rc < 0 || i > 0)
			continue;
		tr->resolution_ns = json_get_i64(tr->replies[0].root, "resolution_ns", 0);
		if (tr->resolution_ns > 0 && tr->n_ops > 1) /* the others on the same grid */
			tr->ask.resolution = clock_duration(tr->resolution_ns, resolution).p;
	}
	tr->ask.resolution = NULL;
	return rc;
}

static int collect(struct trend *tr, struct err *e)
{
	int rc = OK;

	tr->points.n = 0;
	for (size_t i = 0; rc == OK && i < tr->n_ops; i++)
		rc = add_points(tr, tr->replies[i].root, e);
	if (rc == OK)
		sum_points(&tr->points);
	return rc;
}

static bool has_values(const struct points *points)
{
	for (size_t i = 0; i < points->n; i++)
		if (points->v[i].value > 0)
			return true;
	return false;
}

/* Steps and gaps may have no times of single calls: then what a step takes is shown, unless something was asked for. */
static int read_answers(struct trend *tr, struct err *e)
{
	int rc = collect(tr, e);

	if (rc == OK && tr->ask.show == SHOW_AUTO && !has_values(&tr->points)) {
		tr->show = SHOW_TIME;
		rc = collect(tr, e);
	}
	return rc < 0 ? rc : add_marks(tr, tr->replies[0].root, &tr->replies[0].arena, e);
}

/* ---- what is printed */

static unsigned terminal_width(void)
{
	int64_t columns = (int64_t)cli_columns(stdout);
	const char *named = getenv("COLUMNS");

	if (columns == 0 && (named == NULL || str_to_i64(str_of(named), &columns) < 0 || columns <= 0))
		columns = WIDTH_PIPE;
	return columns > WIDTH_MOST ? WIDTH_MOST : (unsigned)columns;
}

static const char *time_words(const struct trend *tr)
{
	struct str kind = str_of(tr->ask.kind);

	if (tr->show == SHOW_CALLS)
		return "";
	if (str_eq(kind, STR("step")) || str_eq(kind, STR("gap"))) /* a length, and nobody's own */
		return " time";
	return str_eq(tr->basis, STR("device")) ? " self device time" : str_eq(tr->basis, STR("cpu")) ? " self CPU time"
												       : " time";
}

static void print_title(const struct trend *tr, bool colour)
{
	char each[CLOCK_TEXT];

	fputs(colour ? "\033[1m" : "", stdout);
	for (size_t i = 0; i < tr->n_ops; i++) {
		fputs(i ? " + " : "", stdout);
		cli_put(stdout, str_of(tr->ops[i]));
	}
	fputs(colour ? "\033[0m" : "", stdout);
	printf("\n%s%s, one value every %.*s, UTC\n\n", shows[tr->show].words, time_words(tr),
		STR_ARG(clock_duration(tr->resolution_ns, each)));
}

static const struct table_column columns[] = {
	{ "deploy", TABLE_LEFT, 60 }, { "since (UTC)", TABLE_LEFT, 0 }, { "median", TABLE_RIGHT, 0 },
	{ "change", TABLE_RIGHT, 0 },
};

static void change_cell(struct table *t, double before, double after)
{
	double ratio = after / before;
	enum table_paint paint = ratio > 1.05 ? PAINT_BAD : ratio < 0.95 ? PAINT_GOOD : PAINT_NONE;

	if (isnan(before) || isnan(after) || before <= 0)
		table_cell(t, STR(""), PAINT_NONE);
	else if (ratio >= 2)
		table_cell_fmt(t, paint, "x %.2f", ratio);
	else
		table_cell_fmt(t, paint, "%+.1f %%", (ratio - 1) * 100);
}

/* The stretch from mark i on (all that is before the first mark: i is -1). */
static void deploy_row(struct table *t, const struct chart *c, ssize_t i, double *before)
{
	bool first = i < 0 || !chart_splits(c, (size_t)i);
	bool last = i + 1 == (ssize_t)c->n_marks;
	double median = chart_median(c, first ? INT64_MIN : c->marks[i].t_ns, last ? INT64_MAX : c->marks[i + 1].t_ns);
	char when[CLOCK_TEXT], value[CLOCK_TEXT];

	table_cell(t, i >= 0 ? c->marks[i].label : last ? STR("(all)") : STR("(earlier)"), PAINT_BOLD);
	table_cell(t, remote_when(i < 0 ? c->points[0].t_ns : c->marks[i].t_ns, when), PAINT_NONE);
	table_cell(t, isnan(median) ? STR("no values") : median == 0 ? STR("not called") : chart_value(c, median, value),
		PAINT_NONE);
	change_cell(t, *before, median);
	if (!isnan(median))
		*before = median;
}

static void print_deploys(const struct chart *c, bool colour)
{
	struct table *t = table_new(columns, COUNT(columns));
	double before = (double)NAN;

	for (ssize_t i = c->n_marks == 0 || chart_splits(c, 0) ? -1 : 0; i < (ssize_t)c->n_marks; i++)
		deploy_row(t, c, i, &before);
	table_print(t, stdout, colour);
	table_free(t);
}

static int print_chart(const struct trend *tr, struct err *e)
{
	const struct chart c = {
		.points = tr->points.v,
		.n = tr->points.n,
		.point_ns = tr->resolution_ns,
		.marks = tr->marks.v,
		.n_marks = tr->marks.n,
		.unit = tr->show == SHOW_CALLS ? CHART_COUNT : CHART_NS,
		.width = tr->ask.width > 0 ? (unsigned)tr->ask.width : terminal_width(),
		.height = tr->ask.height > 0 ? (unsigned)tr->ask.height : 12,
		.utf8 = !tr->ask.ascii && cli_utf8(),
		.colour = cli_colour(stdout),
	};
	struct buf out;
	int rc;

	if (c.n == 0) {
		puts("no windows match; \"trainspotter top\" lists the ops there are");
		return OK;
	}
	buf_init(&out, 4 << 20);
	chart_draw(&c, &out);
	rc = buf_finish(&out, "the chart", e);
	if (rc == OK) {
		print_title(tr, c.colour);
		printf("%.*s\n", STR_ARG(buf_view(&out)));
		print_deploys(&c, c.colour);
	}
	buf_fini(&out);
	return rc;
}

/* ---- the command line */

static int take_ops(struct trend *tr, int n_operands, char **operands, struct err *e)
{
	for (size_t i = 0; i < tr->ask.ops.n; i++)
		tr->ops[tr->n_ops++] = tr->ask.ops.v[i];
	for (int i = 0; i < n_operands; i++) {
		if (tr->n_ops == OPS_MAX)
			return err_set(e, E_USAGE, "more than %d ops", OPS_MAX);
		tr->ops[tr->n_ops++] = operands[i];
	}
	if (tr->n_ops == 0)
		return err_set(e, E_USAGE, "which op? Name one, as \"trainspotter top\" lists them");
	tr->show = tr->ask.show >= 0 ? (enum show)tr->ask.show : tr->n_ops > 1 ? SHOW_TIME : SHOW_P50;
	if (tr->n_ops > 1 && !shows[tr->show].adds_up)
		return err_set(e, E_USAGE, "--show %s of several ops does not add up; time and calls do",
			show_names[tr->show]);
	return OK;
}

static int run(int argc, char **argv)
{
	struct trend tr = { .ask.show = SHOW_AUTO, .points.cap = POINTS_MAX, .marks.cap = POINTS_MAX };
	struct err e = { 0 };
	int n_operands, rc;

	rc = opt_parse(&cmd_trend, "trainspotter", argc, argv, &tr.ask, &n_operands, &e);
	if (rc == OK)
		rc = take_ops(&tr, n_operands, argv, &e);
	if (rc == OK)
		rc = fetch(&tr, &e);
	if (rc == OK && tr.ask.format == ASK_TABLE)
		rc = read_answers(&tr, &e);
	if (rc == OK && tr.ask.format == ASK_TABLE)
		rc = print_chart(&tr, &e);
	else
		for (size_t i = 0; rc == OK && i < tr.n_ops; i++)
			printf("%.*s\n", STR_ARG(str_trim(tr.replies[i].body)));
	for (size_t i = 0; i < tr.n_ops; i++)
		reply_close(&tr.replies[i]);
	vec_fini(&tr.points);
	vec_fini(&tr.marks);
	return rc < 0 ? cmd_trouble(&cmd_trend, &e) : EXIT_GOOD;
}

static const struct opt opts[] = {
	{ "op", 0, OPT_TEXTS, offsetof(struct ask, ops), 0, 0, "OP", "An op, as an operand is; may be given again.", NULL },
	{ "show", 0, OPT_CHOICE, offsetof(struct ask, show), 0, 0, "WHAT",
		"p50 (of one op, the default), p99 or mean of a call's time; time (of several ops, the default) or calls "
		"a step.",
		show_names },
	ASK_KIND, ASK_SERVICE, ASK_DEPLOY, ASK_HOST, ASK_WORKER, ASK_FROM, ASK_TO,
	ASK_TEXT("resolution", resolution, "TIME", "One value every so often: 5m, 1h, 1d; without, at most 500 values."),
	{ "width", 0, OPT_INT, offsetof(struct ask, width), CHART_WIDTH_MIN, CHART_WIDTH_MAX, "N",
		"Columns of the chart; without, the terminal's.", NULL },
	{ "height", 0, OPT_INT, offsetof(struct ask, height), CHART_HEIGHT_MIN, CHART_HEIGHT_MAX, "N",
		"Lines of the chart; 12 without.", NULL },
	{ "ascii", 0, OPT_FLAG, offsetof(struct ask, ascii), 0, 0, NULL,
		"Draw with ASCII only; by itself where the locale is not UTF-8.", NULL },
	ASK_COMMON,
};
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_trend = {
	.name = "trend",
	.operands = "OP...",
	.summary = "draw an op over time, with deploys marked",
	.detail = "A bar is the median of the values in its column, the shade above it reaches to p99. A line and a name "
		  "mark where a deploy's first window began. The table under the chart has the median of each deploy and how "
		  "it changed.\n"
		  "\n"
		  "Several ops are added up: what one fused op did and what stands in its place later make one line. With "
		  "--format json each op's answer is one line.",
	.examples =
		"trainspotter trend aten::_fused_rms_norm --service llm-decode --from now-4w    one op\n"
		"trainspotter trend --kind step 'ProfilerStep*' --service llm-decode           the step itself\n"
		"trainspotter trend aten::_fused_rms_norm aten::mul aten::add                   their sum, per step",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
