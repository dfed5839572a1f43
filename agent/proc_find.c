#include "agent/proc_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { LINE_MAX_BYTES = 4096 };

static struct str read_start(const char *proc, const char *pid, const char *file, char *out, size_t cap)
{
	char path[PATH_MAX];
	ssize_t n = 0;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s/%s", proc, pid, file) >= PATH_MAX)
		return STR("");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, cap);
		close(fd);
	}
	return str_make(out, n > 0 ? (size_t)n : 0);
}

static bool matches(const char *proc, const char *pid, struct str pattern)
{
	char line[LINE_MAX_BYTES];
	struct str words = read_start(proc, pid, "cmdline", line, sizeof(line));

	if (str_empty(words))
		return false;
	for (size_t i = 0; i < words.n; i++)
		if (line[i] == '\0')
			line[i] = ' ';
	return str_glob(pattern, str_trim(words));
}

/* "7 (any name) S 1 …": the parent is behind the last parenthesis and the state. */
static pid_t parent_of(const char *proc, const char *pid)
{
	char text[512];
	struct str stat = read_start(proc, pid, "stat", text, sizeof(text));
	int64_t parent = 0;
	size_t at = stat.n;

	while (at > 0 && stat.p[at - 1] != ')')
		at--;
	stat = str_from(stat, at + 3);
	return str_to_i64(str_split(&stat, ' '), &parent) < 0 ? 0 : (pid_t)parent;
}

bool proc_find_is(const char *proc, const char *pattern, pid_t pid)
{
	char name[24];

	snprintf(name, sizeof(name), "%ld", (long)pid);
	return pid != getpid() && matches(proc, name, str_of(pattern)) && parent_of(proc, name) != getpid();
}

size_t proc_find(const char *proc, const char *pattern, pid_t *out, size_t max)
{
	DIR *d = opendir(proc);
	size_t n = 0;

	for (struct dirent *ent; d != NULL && n < max && (ent = readdir(d)) != NULL;) {
		int64_t pid;

		if (str_to_i64(str_of(ent->d_name), &pid) < 0 || pid <= 0 || pid > INT32_MAX ||
			!proc_find_is(proc, pattern, (pid_t)pid))
			continue;
		out[n++] = (pid_t)pid;
	}
	if (d != NULL)
		closedir(d);
	return n;
}
