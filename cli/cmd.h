/* cmd.h — the subcommands of trainspotter: one file each, one table row each in cli/main.c. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "base/opt.h"

/* Exit statuses that all commands share. */
enum { EXIT_GOOD = 0, EXIT_FOUND = 1, EXIT_TROUBLE = 2 };

/* Prints "trainspotter COMMAND: sentence" on standard error; EXIT_TROUBLE. */
int cmd_trouble(const struct opt_command *c, const struct err *e);

extern const struct opt_command cmd_agents;
extern const struct opt_command cmd_alerts;
extern const struct opt_command cmd_capture;
extern const struct opt_command cmd_compare;
extern const struct opt_command cmd_deploys;
extern const struct opt_command cmd_diff;
extern const struct opt_command cmd_hosts;
extern const struct opt_command cmd_send;
extern const struct opt_command cmd_services;
extern const struct opt_command cmd_summarize;
extern const struct opt_command cmd_top;
extern const struct opt_command cmd_trend;
extern const struct opt_command cmd_windows;

#endif
