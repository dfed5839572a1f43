#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/ops.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "start (UTC)", TABLE_LEFT, 0 }, { "length", TABLE_RIGHT, 0 },   { "service", TABLE_LEFT, 40 },
	{ "deploy", TABLE_LEFT, 30 },	  { "host", TABLE_LEFT, 40 },	  { "worker", TABLE_LEFT, 12 },
	{ "steps", TABLE_RIGHT, 0 },	  { "launches", TABLE_RIGHT, 0 }, { "events", TABLE_RIGHT, 0 },
	{ "trace", TABLE_LEFT, 0 },	  { "id", TABLE_LEFT, 0 },
};

/* Was the trace whole? */
static void state_cell(struct table *t, const struct json_node *w)
{
	if (json_get_bool(w, "damaged", false))
		table_cell(t, STR("damaged"), PAINT_BAD);
	else if (json_get_bool(w, "truncated", false))
		table_cell(t, STR("truncated"), PAINT_BAD);
	else
		table_cell(t, STR("whole"), PAINT_DIM);
}

static void add_row(struct table *t, const struct json_node *w)
{
	char when[CLOCK_TEXT];

	table_cell(t, remote_when(json_get_i64(w, "start_ns", -1), when), PAINT_NONE);
	ops_time_cell(t, w, "dur_ns");
	table_cell(t, json_get_str(w, "service"), PAINT_NONE);
	table_cell(t, json_get_str(w, "deploy"), PAINT_NONE);
	table_cell(t, json_get_str(w, "host"), PAINT_NONE);
	table_cell(t, json_get_str(w, "worker"), PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(w, "steps", 0));
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(w, "launches", 0));
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(w, "events", 0));
	state_cell(t, w);
	table_cell(t, json_get_str(w, "id"), PAINT_DIM);
}

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));

	(void)a;
	for (size_t i = 0; i < items.n; i++)
		add_row(t, &items.v[i]);
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	table_free(t);
}

static const struct table_column op_columns[] = {
	{ "op", TABLE_LEFT, 60 },	  { "kind", TABLE_LEFT, 0 },	    { "calls", TABLE_RIGHT, 0 },
	{ "self device", TABLE_RIGHT, 0 }, { "self CPU", TABLE_RIGHT, 0 },  { "p50", TABLE_RIGHT, 0 },
	{ "p99", TABLE_RIGHT, 0 },
};

static void show_one(const struct ask *a, const struct json_node *root)
{
	struct json_items ops = remote_items(root, "ops");
	struct table *t = table_new(columns, COUNT(columns)), *rows = table_new(op_columns, COUNT(op_columns));

	(void)a;
	add_row(t, root);
	table_print(t, stdout, cli_colour(stdout));
	for (size_t i = 0; i < ops.n; i++) {
		table_cell(rows, json_get_str(&ops.v[i], "op"), PAINT_BOLD);
		table_cell(rows, json_get_str(&ops.v[i], "kind"), PAINT_DIM);
		table_cell_fmt(rows, PAINT_NONE, "%" PRId64, json_get_i64(&ops.v[i], "calls", 0));
		ops_time_cell(rows, &ops.v[i], "device_self_ns");
		ops_time_cell(rows, &ops.v[i], "cpu_self_ns");
		ops_time_cell(rows, &ops.v[i], "p50_ns");
		ops_time_cell(rows, &ops.v[i], "p99_ns");
	}
	putchar('\n');
	table_print(rows, stdout, cli_colour(stdout));
	table_free(rows);
	table_free(t);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/windows", .show = show, .show_one = show_one };

	return remote_command(&cmd_windows, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_DEPLOY, ASK_HOST, ASK_WORKER, ASK_FROM, ASK_TO,
	ASK_TEXT("order", order, "ORDER", "newest or oldest first; newest without."),
	ASK_LIMIT("At most N windows; 100 without."), ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_windows = {
	.name = "windows",
	.operands = "[ID]",
	.summary = "list windows, or show one with its ops",
	.detail = "A window is one profiling interval of one worker.",
	.examples = "trainspotter windows --host trn-1 --from now-1d           what one host sent today\n"
		    "trainspotter windows 0f3c5d9e7a1b4c60825f91d3e6a7b8c9    one window whole",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
