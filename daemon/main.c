/* trainspotterd — keeps windows, answers questions about them, tells of regressions. */
#include <stdio.h>

#include "daemon/daemon.h"
#include "daemon/options.h"

/* A file that the configuration names and that is not there is a mistake in the configuration. */
static int exit_status(int rc, const struct err *e)
{
	if (rc == OK)
		return 0;
	fprintf(stderr, "trainspotterd: %s\n", e->text);
	return rc == E_USAGE || rc == E_NOT_FOUND ? EXIT_CONFIG : 1;
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct daemon *d = NULL;
	struct options o;
	int status;

	status = exit_status(options_read(&o, argc, argv, &e), &e);
	if (status == 0)
		status = exit_status(daemon_open(&d, &o, &e), &e);
	if (status == 0)
		status = exit_status(daemon_run(d, &e), &e);
	daemon_close(d);
	options_fini(&o);
	return status;
}
