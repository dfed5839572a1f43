/* trainspotter-agent — options, configuration, agent, run. */
#include <malloc.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/options.h"

/* Few threads that allocate little: one heap for all keeps the resident size small. */
enum { HEAPS = 1 };

static int trouble(const struct err *e, int status)
{
	opt_complain(&agent_command, agent_command.name, e);
	return status;
}

static int print_config(const struct agent_conf *cf)
{
	struct buf b;
	size_t put;

	buf_init(&b, 1 << 20);
	conf_print(&agent_schema, cf, &b);
	put = fwrite(b.p, 1, b.n, stdout);
	put = fflush(stdout) == 0 && put == b.n;
	buf_fini(&b);
	return put ? 0 : AGENT_FAILED;
}

static int run(struct agent_conf *cf, const struct agent_options *o)
{
	struct err e = { 0 };
	struct agent *a = NULL;
	int status;

	if (o->print_config)
		return print_config(cf);
	if (o->check) {
		printf("%s: good\n", o->config);
		return 0;
	}
	if (agent_open(&a, cf, o, &e) < 0)
		return trouble(&e, AGENT_FAILED);
	status = agent_run(a);
	agent_close(a);
	return status;
}

int main(int argc, char **argv)
{
	struct agent_options o = { .config = "/etc/trainspotter/agent.yaml" };
	struct agent_conf cf;
	struct err e = { 0 };
	int operands = 0, status;

	mallopt(M_ARENA_MAX, HEAPS);
	if (opt_parse(&agent_command, agent_command.name, argc - 1, argv + 1, &o, &operands, &e) < 0)
		return trouble(&e, AGENT_USAGE);
	if (operands > 0) {
		err_set(&e, E_USAGE, "\"%s\": takes options only; see --help", argv[1]);
		return trouble(&e, AGENT_USAGE);
	}
	if (agent_conf_load(&cf, &o, &e) < 0)
		return trouble(&e, AGENT_BAD_CONFIG);
	status = run(&cf, &o);
	agent_conf_fini(&cf);
	return status;
}
