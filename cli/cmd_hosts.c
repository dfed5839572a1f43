#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "host", TABLE_LEFT, 60 },   { "service", TABLE_LEFT, 40 }, { "deploy", TABLE_LEFT, 30 },
	{ "workers", TABLE_RIGHT, 0 }, { "windows", TABLE_RIGHT, 0 }, { "first (UTC)", TABLE_LEFT, 0 },
	{ "last (UTC)", TABLE_LEFT, 0 },
};

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));
	char when[CLOCK_TEXT];

	(void)a;
	for (const struct json_node *i = items.v; i < items.v + items.n; i++) {
		table_cell(t, json_get_str(i, "host"), PAINT_BOLD);
		table_cell(t, json_get_str(i, "service"), PAINT_NONE);
		table_cell(t, json_get_str(i, "deploy"), PAINT_NONE);
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "workers", 0));
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "windows", 0));
		table_cell(t, remote_when(json_get_i64(i, "first_ns", -1), when), PAINT_NONE);
		table_cell(t, remote_when(json_get_i64(i, "last_ns", -1), when), PAINT_NONE);
	}
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	table_free(t);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/hosts", .show = show };

	return remote_command(&cmd_hosts, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_DEPLOY, ASK_HOST, ASK_LIMIT("At most N hosts; 100 without."),
	ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_hosts = {
	.name = "hosts",
	.operands = "",
	.summary = "list the hosts a server has windows of",
	.detail = "Service and deploy are those of a host's newest window.",
	.examples = "trainspotter hosts --service llm-decode    who runs it",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
