#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/ops.h"
#include "cli/remote.h"
#include "cli/table.h"

enum { HOSTS_SHOWN = 12 };

static bool is_firing(const struct json_node *alert)
{
	return str_eq(json_get_str(alert, "state"), STR("firing"));
}

/* "FIRING  fusion_lost in llm-decode, since deploy v42 (before: v41)" */
static void print_head(const struct json_node *alert, bool colour)
{
	struct str state = json_get_str(alert, "state");

	fputs(!colour ? "" : is_firing(alert) ? "\033[1;31m" : "\033[1m", stdout);
	for (size_t i = 0; i < state.n; i++)
		putchar(state.p[i] >= 'a' && state.p[i] <= 'z' ? state.p[i] - 'a' + 'A' : '?');
	fputs("  ", stdout);
	cli_put(stdout, json_get_str(alert, "kind"));
	fputs(colour ? "\033[0m in " : " in ", stdout);
	cli_put(stdout, json_get_str(alert, "service"));
	fputs(" since deploy ", stdout);
	cli_put(stdout, json_get_str(alert, "deploy"));
	if (!str_empty(json_get_str(alert, "deploy_before"))) {
		fputs(" (before: ", stdout);
		cli_put(stdout, json_get_str(alert, "deploy_before"));
		putchar(')');
	}
	putchar('\n');
}

static void print_when(const char *what, const struct json_node *alert, const char *key)
{
	char when[CLOCK_TEXT];
	int64_t ns = json_get_i64(alert, key, -1);

	if (ns >= 0)
		printf("  %-9s%.*s UTC\n", what, STR_ARG(remote_when(ns, when)));
}

static int by_name(const void *a, const void *b)
{
	const struct str *x = a, *y = b;

	return str_cmp(*x, *y);
}

static void print_hosts(const struct json_node *alert)
{
	struct json_items hosts = remote_items(alert, "hosts");
	size_t shown = hosts.n <= HOSTS_SHOWN ? hosts.n : HOSTS_SHOWN;
	struct str *names = mem_get_array(hosts.n, sizeof(*names));

	for (size_t i = 0; i < hosts.n; i++)
		names[i] = hosts.v[i].text;
	qsort(names, hosts.n, sizeof(*names), by_name);
	printf("  %-9s%zu: ", "hosts", hosts.n);
	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ", " : "", stdout);
		cli_put(stdout, names[i]);
	}
	mem_free(names);
	if (shown < hosts.n)
		printf(" and %zu more", hosts.n - shown);
	putchar('\n');
}

static void print_foot(const struct json_node *alert)
{
	struct json_items findings = remote_items(json_get(alert, "evidence"), "findings");

	print_when("began", alert, "started_ns");
	print_when("fired", alert, "fired_ns");
	print_when("resolved", alert, "resolved_ns");
	print_hosts(alert);
	printf("  %-9s%" PRId64 " windows before, %" PRId64 " after\n", "judged", json_get_i64(alert, "windows_before", 0),
		json_get_i64(alert, "windows_after", 0));
	if (findings.n > 0) {
		printf("  %-9s", "rule");
		cli_put(stdout, json_get_str(&findings.v[0], "why"));
		putchar('\n');
	}
	if (!str_empty(json_get_str(json_get(alert, "evidence"), "capture"))) {
		printf("  %-9s", "capture");
		cli_put(stdout, json_get_str(json_get(alert, "evidence"), "capture"));
		putchar('\n');
	}
	printf("  %-9s", "id");
	cli_put(stdout, json_get_str(alert, "id"));
	putchar('\n');
}

static void show_one(const struct ask *a, const struct json_node *alert)
{
	const struct json_node *evidence = json_get(alert, "evidence");
	bool colour = cli_colour(stdout);

	(void)a;
	print_head(alert, colour);
	if (remote_items(evidence, "findings").n == 0) {
		cli_put_filled(stdout, json_get_str(alert, "sentence"), 2, 0);
	} else {
		ops_print_evidence(evidence, stdout, colour);
	}
	putchar('\n');
	print_foot(alert);
}

static void show(const struct ask *a, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");

	if (items.n == 0)
		puts("no alerts");
	for (size_t i = 0; i < items.n; i++) {
		if (i > 0)
			putchar('\n');
		show_one(a, &items.v[i]);
	}
	remote_tell_more(root);
}

static bool found(const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	bool any = is_firing(root); /* one alert by its id */

	for (size_t i = 0; i < items.n; i++)
		any = any || is_firing(&items.v[i]);
	return any;
}

static int run(int argc, char **argv)
{
	static const struct remote_view view = { .path = "/api/v1/alerts", .show = show, .show_one = show_one,
		.found = found };

	return remote_command(&cmd_alerts, argc, argv, &view);
}

static const struct opt opts[] = { ASK_SERVICE, ASK_DEPLOY,
	ASK_TEXT("state", state, "STATE", "Only alerts that are inactive, pending, firing, resolved, accepted or expired."),
	ASK_LIMIT("At most N alerts; 100 without."),
	{ "fail", 0, OPT_FLAG, offsetof(struct ask, fail), 0, 0, NULL, "Exit with 1 when any of them is firing.", NULL },
	ASK_COMMON };
static const struct opt_exit exits[] = {
	{ EXIT_GOOD, "the server answered; with --fail: and none of the alerts is firing" },
	{ EXIT_FOUND, "with --fail: an alert is firing" },
	{ EXIT_TROUBLE, "wrong usage, no answer, or a refusal" },
};

const struct opt_command cmd_alerts = {
	.name = "alerts",
	.operands = "[ID]",
	.summary = "show alerts with their evidence, the newest first",
	.detail = "What an op was before and what stands in its place, what that costs a step, since which deploy, and on "
		  "which hosts.",
	.examples = "trainspotter alerts --state firing                 what is wrong now\n"
		    "trainspotter alerts --service llm-decode --fail    in a pipeline, after a rollout",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
