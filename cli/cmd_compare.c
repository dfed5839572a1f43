#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/ops.h"
#include "cli/remote.h"
#include "cli/table.h"

static const struct table_column columns[] = {
	{ "op", TABLE_LEFT, 60 },	{ "kind", TABLE_LEFT, 0 },	   { "calls/step", TABLE_RIGHT, 0 },
	{ "now", TABLE_RIGHT, 0 },	{ "time/step", TABLE_RIGHT, 0 },   { "now", TABLE_RIGHT, 0 },
	{ "p50", TABLE_RIGHT, 0 },	{ "now", TABLE_RIGHT, 0 },	   { "change/step", TABLE_RIGHT, 0 },
};

static void pair_of_times(struct table *t, const struct json_node *pair)
{
	ops_time_cell(t, pair, "before");
	ops_time_cell(t, pair, "after");
}

static void add_row(struct table *t, const struct json_node *row)
{
	const struct json_node *calls = json_get(row, "calls_per_step");
	int64_t change = json_get_i64(row, "change_ns_per_step", 0);
	char text[CLOCK_TEXT];

	table_cell(t, json_get_str(row, "op"), PAINT_BOLD);
	table_cell(t, json_get_str(row, "kind"), PAINT_DIM);
	ops_count_cell(t, json_get_double(calls, "before", -1), PAINT_NONE);
	ops_count_cell(t, json_get_double(calls, "after", -1), PAINT_NONE);
	pair_of_times(t, json_get(row, "time_per_step_ns"));
	pair_of_times(t, json_get(row, "p50_ns"));
	table_cell_fmt(t, change > 0 ? PAINT_BAD : change < 0 ? PAINT_GOOD : PAINT_DIM, "%s%s", change > 0 ? "+" : "",
		clock_human(change, text).p);
}

static void print_side(const char *what, const struct json_node *side)
{
	char from[CLOCK_TEXT], to[CLOCK_TEXT];

	printf("  %-7s", what);
	cli_put(stdout, json_get_str(side, "deploy"));
	printf(": %" PRId64 " windows of %" PRId64 " hosts, %" PRId64 " steps, %.*s to %.*s UTC\n",
		json_get_i64(side, "windows", 0), json_get_i64(side, "hosts", 0), json_get_i64(side, "steps", 0),
		STR_ARG(remote_when(json_get_i64(side, "first_ns", -1), from)),
		STR_ARG(remote_when(json_get_i64(side, "last_ns", -1), to)));
}

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items rows = remote_items(root, "rows");
	bool colour = cli_colour(stdout), worse = json_get_bool(root, "regression", false);
	struct table *t = table_new(columns, COUNT(columns));

	(void)a;
	fputs(!colour ? "" : worse ? "\033[1;31m" : "\033[1;32m", stdout);
	fputs(worse ? "REGRESSION: " : "no regression: ", stdout);
	cli_put(stdout, json_get_str(root, "verdict"));
	puts(colour ? "\033[0m" : "");
	print_side("before", json_get(root, "before"));
	print_side("after", json_get(root, "after"));
	putchar('\n');
	ops_print_evidence(root, stdout, colour);
	putchar('\n');
	for (size_t i = 0; i < rows.n; i++)
		add_row(t, &rows.v[i]);
	table_print(t, stdout, colour);
	table_free(t);
}

static bool found(const struct json_node *root)
{
	return json_get_bool(root, "regression", false);
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/compare", .show = show, .found = found };

	return remote_command(&cmd_compare, argc, argv, &view);
}

static const struct opt opts[] = {
	ASK_TEXT("service", service, "NAME", "The service whose deploys are compared; must be given."),
	ASK_TEXT("before", before, "NAME", "The older deploy; without, the one in front of --after."),
	ASK_TEXT("after", after, "NAME", "The newer deploy; without, the newest."),
	ASK_LIMIT("At most N rows of ops; 100 without."),
	{ "fail", 0, OPT_FLAG, offsetof(struct ask, fail), 0, 0, NULL, "Exit with 1 when there is a regression.", NULL },
	ASK_COMMON };
static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "the server answered; with --fail: and there is no regression" },
	{ EXIT_FOUND, "with --fail: there is a regression" },
	{ EXIT_TROUBLE, "wrong usage, no answer, or a refusal" },
};

const struct opt_command cmd_compare = {
	.name = "compare",
	.operands = "",
	.summary = "compare two deploys of a service: did the second lose something?",
	.detail = "The newest windows of both are judged by the same rules as alerts. First what was found, with its "
		  "evidence; then the ops by the size of their change, each number before and now.",
	.examples = "trainspotter compare --service llm-decode           the newest two deploys\n"
		    "trainspotter compare --service llm-decode --fail    in a pipeline, after a rollout",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
