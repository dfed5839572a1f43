#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/input_codec.h"

static void init(struct input_raw *raw, const char *name)
{
	*raw = (struct input_raw){ .fd = -1, .name = name, .hash = hash128_new() };
}

void input_raw_open_fd(struct input_raw *raw, int fd, const char *name)
{
	struct stat st;

	init(raw, name);
	raw->fd = fd;
	raw->block = mem_get(INPUT_BLOCK);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	raw->size = (uint64_t)st.st_size;
	raw->mtime_ns = file_mtime_ns(&st);
}

static int open_any(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_sys(e, "%s", path) : fd;
}

int input_raw_open(struct input_raw *raw, const char *path, bool regular, struct err *e)
{
	int fd = regular ? file_open_regular(path, e) : open_any(path, e);

	if (fd < 0) {
		init(raw, path);
		return fd;
	}
	input_raw_open_fd(raw, fd, path);
	raw->own_fd = true;
	return OK;
}

void input_raw_open_memory(struct input_raw *raw, struct str bytes, const char *name)
{
	init(raw, name);
	raw->memory = bytes;
	raw->size = bytes.n;
}

void input_raw_open_pull(struct input_raw *raw, input_pull *pull, void *arg, uint64_t size, const char *name)
{
	init(raw, name);
	raw->pull = pull;
	raw->pull_arg = arg;
	raw->size = size;
	raw->block = mem_get(INPUT_BLOCK);
}

void input_raw_close(struct input_raw *raw)
{
	if (raw->own_fd)
		close(raw->fd);
	hash128_free(raw->hash);
	mem_free(raw->block);
}

static int pull_block(struct input_raw *raw, struct str *block, struct err *e)
{
	size_t got = 0, n = 1;
	int rc = OK;

	while (rc == OK && n > 0 && got < INPUT_BLOCK) {
		n = 0;
		rc = raw->pull(raw->pull_arg, raw->block + got, INPUT_BLOCK - got, &n, e);
		got += n;
	}
	*block = str_make(raw->block, got);
	return rc;
}

static int read_block(struct input_raw *raw, struct str *block, struct err *e)
{
	size_t got = 0;

	while (got < INPUT_BLOCK) {
		ssize_t n = read(raw->fd, raw->block + got, INPUT_BLOCK - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%s: read", raw->name);
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*block = str_make(raw->block, got);
	return OK;
}

int input_raw_next(struct input_raw *raw, struct str *block, struct err *e)
{
	int rc = OK;

	*block = STR("");
	if (raw->end)
		return OK;
	if (raw->pull != NULL) {
		rc = pull_block(raw, block, e);
	} else if (raw->fd >= 0) {
		rc = read_block(raw, block, e);
	} else {
		*block = str_upto(raw->memory, INPUT_BLOCK);
		raw->memory = str_from(raw->memory, block->n);
	}
	if (rc < 0)
		return rc;
	raw->end = block->n < INPUT_BLOCK;
	raw->bytes += block->n;
	if (raw->hash != NULL)
		hash128_add(raw->hash, block->p, block->n);
	return OK;
}
