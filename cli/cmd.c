#include "cli/cmd.h"

int cmd_trouble(const struct opt_command *c, const struct err *e)
{
	opt_complain(c, "trainspotter", e);
	return EXIT_TROUBLE;
}
