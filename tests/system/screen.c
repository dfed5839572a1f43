/* screen COLUMNS COMMAND [ARG…] — runs a command on a terminal of so many columns, as script(1) does, and passes on what it
 * writes there, line ends as a terminal gets them. With COLUMNS 0 the terminal does not say its width. Standard input stays
 * what it is. Exits as the command did, with 126 where it ended by a signal. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(int terminal, char **command)
{
	if (dup2(terminal, STDOUT_FILENO) < 0 || dup2(terminal, STDERR_FILENO) < 0)
		_exit(127);
	close(terminal);
	execvp(command[0], command);
	_exit(127);
}

/* Until the last one who has the terminal is gone. */
static int pass_on(int fd)
{
	char text[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		for (ssize_t done = 0, some; done < n; done += some) {
			some = write(STDOUT_FILENO, text + done, (size_t)(n - done));
			if (some < 0)
				return -1;
		}
	}
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 24 };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1, status = 0;
	const char *name;
	pid_t child;

	if (argc < 3 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return 2;
	name = ptsname(master);
	slave = name == NULL ? -1 : open(name, O_RDWR | O_NOCTTY);
	size.ws_col = (unsigned short)strtoul(argv[1], NULL, 10);
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) < 0)
		return 2;
	child = fork();
	if (child == 0) {
		close(master);
		run(slave, argv + 2);
	}
	close(slave);
	if (child < 0 || pass_on(master) < 0)
		return 2;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
