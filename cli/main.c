/* trainspotter — the command line: a table of commands, and nothing else. */
#include "cli/cmd.h"

static const struct opt_command *const commands[] = {
	/* one line a command, in the order of the help */
	&cmd_summarize,
	&cmd_diff,
	&cmd_send,
	&cmd_services,
	&cmd_hosts,
	&cmd_deploys,
	&cmd_windows,
	&cmd_top,
	&cmd_trend,
	&cmd_compare,
	&cmd_alerts,
	&cmd_agents,
	&cmd_capture,
};

static const struct opt_program program = {
	.name = "trainspotter",
	.summary = "per-op timings of Trainium fleets: one trace, two deploys, weeks of history",
	.commands = commands,
	.n_commands = COUNT(commands),
	.environment = "TRAINSPOTTER_SERVER    the server's address; http://127.0.0.1:8940 without\n"
		       "TRAINSPOTTER_TOKEN    bearer token, where --token-file is not given\n"
		       "NO_COLOR    when set, no colour even on a terminal\n"
		       "TERM    without it, or when it is dumb, no colour and no line that shows how far a thing is\n"
		       "LC_ALL, LC_CTYPE, LANG    the first that is set; unless it names UTF-8, units and signs are ASCII (us for "
		       "microseconds). What else is in names, and formats for programs, are UTF-8 always",
};

int main(int argc, char **argv)
{
	return opt_main(&program, argc, argv);
}
