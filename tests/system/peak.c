/* peak FILE COMMAND [ARG…] — runs a command to its end and writes the most memory it had resident, in bytes, into FILE.
 * Exits as the command did, with 126 where it ended by a signal. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage used = { 0 };
	int status = 0;
	pid_t child;
	FILE *f;

	if (argc < 3)
		return 2;
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (child < 0 || wait4(child, &status, 0, &used) < 0)
		if (child < 0 || errno != EINTR)
			return 2;
	f = fopen(argv[1], "w");
	if (f == NULL || fprintf(f, "%lld\n", (long long)used.ru_maxrss * 1024) < 0 || fclose(f) != 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
