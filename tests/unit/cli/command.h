/* command.h — a command of trainspotter run inside the test: what it says on both outputs, its exit status. */
#ifndef TESTS_UNIT_CLI_COMMAND_H
#define TESTS_UNIT_CLI_COMMAND_H

#include "base/buf.h"
#include "base/opt.h"

extern struct buf command_out;

void command_up(void);	 /* a clean environment, an empty list as the server's answer */
void command_down(void); /* nothing was left open */

/* Words split at blanks; "~" in one stands for a blank. The exit status. */
int command_run(const struct opt_command *c, const char *line);
void command_says(const char *part);

#endif
