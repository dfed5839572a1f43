/* trainspotter — the command line: a table of commands, and nothing else. */
#include "cli/cmd.h"

static const struct opt_command *const commands[] = {
	NULL, /* one line a command, in the order of the help */
};

static const struct opt_program program = {
	.name = "trainspotter",
	.summary = "per-op timings of Trainium fleets: one trace, two deploys, weeks of history",
	.commands = commands,
	.n_commands = sizeof(commands) / sizeof(commands[0]) - 1,
};

int main(int argc, char **argv)
{
	return opt_main(&program, argc, argv);
}
