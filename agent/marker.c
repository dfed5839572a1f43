#include "agent/marker.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER_SUFFIX ".trainspotter"

bool marker_is(struct str name)
{
	return name.n > sizeof(MARKER_SUFFIX) && name.p[0] == '.' && str_has_suffix(name, STR(MARKER_SUFFIX));
}

static bool marker_path(const char *trace, char out[PATH_MAX])
{
	const char *slash = strrchr(trace, '/'), *name = slash == NULL ? trace : slash + 1;

	return snprintf(out, PATH_MAX, "%.*s.%s" MARKER_SUFFIX, (int)(name - trace), trace, name) < PATH_MAX;
}

static bool plain_file(const char *path, struct stat *st)
{
	return lstat(path, st) == 0 && S_ISREG(st->st_mode);
}

static bool with_suffix(const char *path, const char *suffix, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s%s", path, suffix) < PATH_MAX;
}

void marker_put(const char *trace, const char *suffix)
{
	char side[PATH_MAX], path[PATH_MAX];
	struct stat st;
	int fd;

	if (!with_suffix(trace, suffix, side) || !plain_file(side, &st) || !marker_path(trace, path))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	(void)!futimens(fd, NULL); /* one that was there already is of now, too */
	close(fd);
}

void marker_drop(const char *trace)
{
	char path[PATH_MAX];

	if (marker_path(trace, path))
		unlink(path);
}

static bool not_after(const struct stat *a, const struct stat *b)
{
	if (a->st_ctim.tv_sec != b->st_ctim.tv_sec)
		return a->st_ctim.tv_sec < b->st_ctim.tv_sec;
	return a->st_ctim.tv_nsec <= b->st_ctim.tv_nsec;
}

bool marker_settle(const char *dir, const char *name, const char *suffix)
{
	struct str inner = str_from(str_of(name), 1);
	char marker[PATH_MAX], trace[PATH_MAX], side[PATH_MAX];
	struct stat mark, st;
	bool gone = false;

	str_drop_suffix(&inner, STR(MARKER_SUFFIX));
	if (snprintf(marker, sizeof(marker), "%s/%s", dir, name) >= PATH_MAX || !plain_file(marker, &mark) ||
		snprintf(trace, sizeof(trace), "%s/%.*s", dir, STR_ARG(inner)) >= PATH_MAX ||
		!with_suffix(trace, suffix, side))
		return false;
	if (!(plain_file(trace, &st) && not_after(&st, &mark))) /* the trace that it was made for is gone */
		gone = plain_file(side, &st) && not_after(&st, &mark) && unlink(side) == 0;
	unlink(marker);
	return gone;
}
