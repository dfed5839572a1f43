#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "service", TABLE_LEFT, 60 },	   { "deploy", TABLE_LEFT, 40 },    { "hosts", TABLE_RIGHT, 0 },
	{ "windows", TABLE_RIGHT, 0 },	   { "first (UTC)", TABLE_LEFT, 0 }, { "last (UTC)", TABLE_LEFT, 0 },
	{ "labels", TABLE_LEFT, 60 },
};

/* "sdk=2.26.1 author=kim" */
static void put_labels(const struct json_node *labels, struct buf *out)
{
	for (size_t i = 0; labels != NULL && i < labels->n; i++)
		buf_fmt(out, "%s%.*s=%.*s", i ? " " : "", STR_ARG(labels->items[i].key),
			STR_ARG(labels->items[i].text));
}

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = table_new(columns, COUNT(columns));
	char when[CLOCK_TEXT];
	struct buf labels;

	(void)a;
	buf_init(&labels, 4096);
	for (const struct json_node *i = items.v; i < items.v + items.n; i++) {
		buf_reset(&labels);
		put_labels(json_get(i, "labels"), &labels);
		table_cell(t, json_get_str(i, "service"), PAINT_BOLD);
		table_cell(t, json_get_str(i, "deploy"), PAINT_BOLD);
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "hosts", 0));
		table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(i, "windows", 0));
		table_cell(t, remote_when(json_get_i64(i, "first_ns", -1), when), PAINT_NONE);
		table_cell(t, remote_when(json_get_i64(i, "last_ns", -1), when), PAINT_NONE);
		table_cell(t, buf_view(&labels), PAINT_DIM);
	}
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	buf_fini(&labels);
	table_free(t);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/deploys", .show = show };

	return remote_command(&cmd_deploys, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_DEPLOY, ASK_LIMIT("At most N deploys; 100 without."), ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_deploys = {
	.name = "deploys",
	.operands = "",
	.summary = "list the deploys of services, the newest first",
	.examples = "trainspotter deploys --service llm-decode    when each version began, and on how many hosts",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
