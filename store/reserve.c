#include "store/reserve.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum {
	RESERVE_PIECE = 1 << 20,
	RESERVE_BYTES = 16 << 20,   /* the log grows to half of it before the writer empties it */
	RESERVE_PLENTY = 128 << 20, /* free bytes below which it is not made */
};

static bool reserve_path(const char *dir, const char *suffix, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/reserve%s", dir, suffix) < PATH_MAX;
}

void reserve_make(const char *dir)
{
	char path[PATH_MAX], part[PATH_MAX];
	uint64_t bytes;
	int fd;

	if (!reserve_path(dir, "", path) || !reserve_path(dir, ".part", part) || file_exists(path))
		return;
	if (file_free_bytes(dir, &bytes, NULL) < 0 || bytes < RESERVE_PLENTY)
		return;
	fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, RESERVE_BYTES) != 0 || rename(part, path) < 0)
		unlink(part);
	close(fd);
}

bool reserve_release(const char *dir)
{
	char path[PATH_MAX];

	return reserve_path(dir, "", path) && unlink(path) == 0;
}

bool reserve_shrink(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	return reserve_path(dir, "", path) && stat(path, &st) == 0 && st.st_size >= RESERVE_PIECE &&
		truncate(path, st.st_size - RESERVE_PIECE) == 0;
}
