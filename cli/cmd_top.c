#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/ops.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "op", TABLE_LEFT, 60 },	  { "kind", TABLE_LEFT, 0 },	 { "calls/step", TABLE_RIGHT, 0 },
	{ "time/step", TABLE_RIGHT, 0 },  { "share", TABLE_RIGHT, 0 },	 { "p50", TABLE_RIGHT, 0 },
	{ "p99", TABLE_RIGHT, 0 },	  { "calls", TABLE_RIGHT, 0 },	 { "total", TABLE_RIGHT, 0 },
};

static void add_row(struct table *t, const struct json_node *row)
{
	double share = json_get_double(row, "share", -1);

	table_cell(t, json_get_str(row, "op"), PAINT_BOLD);
	table_cell(t, json_get_str(row, "kind"), PAINT_DIM);
	ops_count_cell(t, json_get_double(row, "calls_per_step", -1), PAINT_NONE);
	ops_time_cell(t, row, "time_per_step_ns");
	if (share < 0)
		table_cell(t, STR("-"), PAINT_NONE);
	else
		table_cell_fmt(t, PAINT_NONE, "%.1f %%", share * 100);
	ops_time_cell(t, row, "p50_ns");
	ops_time_cell(t, row, "p99_ns");
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(row, "calls", 0));
	ops_time_cell(t, row, "time_ns");
}

static void print_totals(const struct json_node *totals)
{
	char from[CLOCK_TEXT], to[CLOCK_TEXT];
	bool device = json_get_bool(totals, "has_device", false);

	printf("\n%" PRId64 " windows with %" PRId64 " steps, %.*s to %.*s UTC; times are self %s time\n",
		json_get_i64(totals, "windows", 0), json_get_i64(totals, "steps", 0),
		STR_ARG(remote_when(json_get_i64(totals, "first_ns", -1), from)),
		STR_ARG(remote_when(json_get_i64(totals, "last_ns", -1), to)), device ? "device" : "CPU");
}

static void print_ops(const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));

	for (const struct json_node *i = items.v; i < items.v + items.n; i++)
		add_row(t, i);
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	print_totals(json_get(root, "totals"));
	table_free(t);
}

static void show(const struct ask *a, const struct json_node *root)
{
	(void)a;
	if (json_get_i64(json_get(root, "totals"), "windows", 0) == 0)
		puts("no windows match; \"trainspotter services\" tells when the last ones were");
	else
		print_ops(root);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/top", .show = show };

	return remote_command(&cmd_top, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_DEPLOY, ASK_HOST, ASK_WORKER, ASK_KIND, ASK_OP, ASK_FROM, ASK_TO,
	ASK_LIMIT("At most N ops; 100 without."), ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_top = {
	.name = "top",
	.operands = "",
	.summary = "show where the time goes: the ops of all windows that match, most time first",
	.detail = "Time is self device time where any of the windows has device events, else self CPU time. Without "
		  "--kind the rows of kinds step, gap, engine and overhead are left out.",
	.examples = "trainspotter top --service llm-decode --from now-1h    the last hour of a service\n"
		    "trainspotter top --host trn-1 --kind gap               how long its devices waited",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
