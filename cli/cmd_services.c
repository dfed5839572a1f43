#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/overhead.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "service", TABLE_LEFT, 60 },   { "deploy", TABLE_LEFT, 30 },   { "hosts", TABLE_RIGHT, 0 },
	{ "deploys", TABLE_RIGHT, 0 },   { "windows", TABLE_RIGHT, 0 },  { "first (UTC)", TABLE_LEFT, 0 },
	{ "last (UTC)", TABLE_LEFT, 0 }, { "overhead", TABLE_RIGHT, 0 },
};

static struct str overhead_of(const struct json_node *service, char out[CLOCK_TEXT])
{
	const struct json_node *c = json_get(service, "capture");

	return overhead_text(json_get_i64(c, "workers", 0), json_get_i64(c, "measured", 0), json_get_i64(c, "cost_ppm", 0), out);
}

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));
	char when[CLOCK_TEXT], cost[CLOCK_TEXT];

	(void)a;
	for (const struct json_node *i = items.v; i < items.v + items.n; i++) {
		table_cell(t, json_get_str(i, "service"), PAINT_BOLD);
		table_cell(t, json_get_str(i, "deploy"), PAINT_NONE);
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "hosts", 0));
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "deploys", 0));
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "windows", 0));
		table_cell(t, remote_when(json_get_i64(i, "first_ns", -1), when), PAINT_NONE);
		table_cell(t, remote_when(json_get_i64(i, "last_ns", -1), when), PAINT_NONE);
		table_cell(t, overhead_of(i, cost), PAINT_NONE);
	}
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	table_free(t);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/services", .show = show };

	return remote_command(&cmd_services, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_LIMIT("At most N services; 100 without."), ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_services = {
	.name = "services",
	.operands = "",
	.summary = "list the services a server has windows of",
	.detail = "The deploy is the newest: the one whose first window began last. Overhead is what capturing costs its workers, on "
		  "average, as agents measure it; \"unmeasured\" where none can, - where no agent tells of the service.",
	.examples = "trainspotter services --format json    for programs",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
