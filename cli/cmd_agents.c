#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/overhead.h"
#include "cli/remote.h"
#include "cli/table.h"

enum { WORDS_MAX = 8 };

struct words {
	struct ask ask;
	bool workers;
};

/* ---- "6 idle, 1 busy" */

struct tally {
	struct str words[WORDS_MAX];
	size_t counts[WORDS_MAX], n;
};

static void tally_add(struct tally *t, struct str word)
{
	size_t i = 0;

	while (i < t->n && !str_eq(t->words[i], word))
		i++;
	if (i == WORDS_MAX)
		return;
	t->words[i] = word;
	t->counts[i]++;
	t->n = i == t->n ? i + 1 : t->n;
}

static void tally_cell(struct table *table, const struct tally *t, enum table_paint paint)
{
	struct buf text;

	buf_init(&text, 4096);
	for (size_t i = 0; i < t->n; i++)
		buf_fmt(&text, "%s%zu %.*s", i > 0 ? ", " : "", t->counts[i], STR_ARG(t->words[i]));
	table_cell(table, t->n == 0 ? STR("-") : buf_view(&text), paint);
	buf_fini(&text);
}

/* ---- one row an agent */

static const struct table_column agent_columns[] = {
	{ "host", TABLE_LEFT, 40 },	{ "version", TABLE_LEFT, 20 }, { "last poll (UTC)", TABLE_LEFT, 0 },
	{ "workers", TABLE_RIGHT, 0 },	{ "state", TABLE_LEFT, 40 },   { "leases", TABLE_RIGHT, 0 },
	{ "overhead", TABLE_RIGHT, 0 }, { "why not", TABLE_LEFT, 40 },
};

/* Why no window is taken of a worker now; nothing for one that wants one or is at it. */
static struct str why_not(const struct json_node *worker)
{
	if (json_get_bool(worker, "wants", false))
		return STR("lease");
	return str_eq(json_get_str(worker, "state"), STR("capturing")) ? STR("") : json_get_str(worker, "why");
}

static void put_agent(struct table *t, const struct json_node *agent)
{
	struct json_items workers = remote_items(agent, "workers");
	struct tally states = { .n = 0 }, whys = { .n = 0 };
	char when[CLOCK_TEXT], cost[CLOCK_TEXT];
	int64_t measured = 0, sum = 0;
	bool heard = json_get_bool(agent, "heard", true);

	for (const struct json_node *w = workers.v; w < workers.v + workers.n; w++) {
		bool counts = json_get_bool(w, "measured", false);

		tally_add(&states, json_get_str(w, "state"));
		if (!str_empty(why_not(w)))
			tally_add(&whys, why_not(w));
		measured += counts;
		sum += counts ? json_get_i64(w, "cost_ppm", 0) : 0;
	}
	table_cell(t, json_get_str(agent, "host"), PAINT_BOLD);
	table_cell(t, json_get_str(agent, "version"), PAINT_NONE);
	table_cell(t, remote_when(json_get_i64(agent, "polled_ns", -1), when), heard ? PAINT_NONE : PAINT_BAD);
	table_cell_fmt(t, PAINT_NONE, "%zu", workers.n);
	if (heard)
		tally_cell(t, &states, PAINT_NONE);
	else
		table_cell(t, STR("silent"), PAINT_BAD);
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(agent, "leases", 0));
	table_cell(t, overhead_text((int64_t)workers.n, measured, measured > 0 ? sum / measured : 0, cost),
		PAINT_NONE);
	tally_cell(t, &whys, PAINT_DIM);
}

/* ---- one row a worker */

static const struct table_column worker_columns[] = {
	{ "host", TABLE_LEFT, 40 },	{ "source", TABLE_LEFT, 0 }, { "service", TABLE_LEFT, 40 },
	{ "worker", TABLE_LEFT, 20 },	{ "state", TABLE_LEFT, 0 },  { "last window (UTC)", TABLE_LEFT, 0 },
	{ "overhead", TABLE_RIGHT, 0 }, { "every", TABLE_RIGHT, 0 }, { "why not", TABLE_LEFT, 30 },
};

static void put_worker(struct table *t, const struct json_node *agent, const struct json_node *w)
{
	char when[CLOCK_TEXT], cost[CLOCK_TEXT];

	table_cell(t, json_get_str(agent, "host"), PAINT_BOLD);
	table_cell(t, json_get_str(w, "source"), PAINT_NONE);
	table_cell(t, json_get_str(w, "service"), PAINT_NONE);
	table_cell(t, json_get_str(w, "worker"), PAINT_NONE);
	table_cell(t, json_get_str(w, "state"), PAINT_NONE);
	table_cell(t, remote_when(json_get_i64(w, "last_ns", -1), when), PAINT_NONE);
	table_cell(t, overhead_text(1, json_get_bool(w, "measured", false), json_get_i64(w, "cost_ppm", 0), cost),
		PAINT_NONE);
	table_cell_fmt(t, PAINT_NONE, "%" PRId64, json_get_i64(w, "every_nth", 1));
	table_cell(t, str_empty(why_not(w)) ? STR("-") : why_not(w), PAINT_DIM);
}

static void show(const struct words *o, const struct json_node *root)
{
	struct json_items items = remote_items(root, "items");
	struct table *t = o->workers ? table_new(worker_columns, COUNT(worker_columns)) :
				       table_new(agent_columns, COUNT(agent_columns));

	for (const struct json_node *i = items.v; i < items.v + items.n; i++) {
		struct json_items workers = remote_items(i, "workers");

		if (!o->workers)
			put_agent(t, i);
		for (size_t k = 0; o->workers && k < workers.n; k++)
			put_worker(t, i, &workers.v[k]);
	}
	table_print(t, stdout, cli_colour(stdout));
	remote_tell_more(root);
	table_free(t);
}

static int run(int argc, char **argv)
{
	struct words o = { .workers = false };
	struct reply r = { 0 };
	struct err e = { 0 };
	int n = 0, status = EXIT_GOOD, rc = opt_parse(&cmd_agents, "trainspotter", argc, argv, &o, &n, &e);

	if (rc == OK && n > 0)
		rc = err_set(&e, E_USAGE, "\"%s\" is too much; --help tells what goes here", argv[0]);
	if (rc == OK)
		rc = remote_get(&o.ask, "/api/v1/agents", &r, &e);
	if (rc != OK)
		status = cmd_trouble(&cmd_agents, &e);
	else if (o.ask.format == ASK_JSON)
		printf("%.*s\n", STR_ARG(str_trim(r.body)));
	else
		show(&o, r.root);
	reply_close(&r);
	return status;
}

static const struct opt opts[] = {
	ASK_SERVICE, ASK_HOST,
	{ "workers", 0, OPT_FLAG, offsetof(struct words, workers), 0, 0, NULL, "A row for each worker.", NULL },
	ASK_LIMIT("At most N agents; 100 without."), ASK_COMMON };
static const struct opt_exit exits[] = { ASK_EXITS };

const struct opt_command cmd_agents = {
	.name = "agents",
	.operands = "",
	.summary = "list the agents that ask the server for leases, with what they do",
	.detail = "Each host's workers by state, what capturing costs them, and why no window is taken of one now: \"lease\" for one that "
		  "waits for the server, else the agent's own word. An agent that has not polled lately is silent; after an hour it is "
		  "forgotten.",
	.examples = "trainspotter agents                       every host\n"
		    "trainspotter agents --workers --host trn-1    each worker of one",
	.opts = opts,
	.n_opts = COUNT(opts),
	.exits = exits,
	.n_exits = COUNT(exits),
	.run = run,
};
