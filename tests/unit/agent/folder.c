#include "tests/unit/agent/folder.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

char folder[PATH_MAX - 512];
static struct arena paths;
static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER; /* threads of tests ask for paths, too */

void folder_make(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/trainspotter-test.XXXXXX", tmp == NULL ? "/tmp" : tmp);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	arena_init(&paths, 16u << 20);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void folder_remove(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	arena_fini(&paths);
}

const char *folder_path(const char *name)
{
	const char *path;

	pthread_mutex_lock(&paths_lock);
	path = arena_fmt(&paths, "%s/%s", folder, name).p;
	pthread_mutex_unlock(&paths_lock);
	return path;
}

void folder_write(const char *name, struct str text)
{
	FILE *f = fopen(folder_path(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text.p, 1, text.n, f), text.n);
	ck_assert_int_eq(fclose(f), 0);
}

void folder_read(const char *name, struct buf *out)
{
	struct err e = { 0 };

	buf_reset(out);
	ck_assert_msg(file_read_all(folder_path(name), out, &e) == OK, "%s", e.text);
}

bool folder_has(const char *name)
{
	return file_exists(folder_path(name));
}

const char *folder_first(const char *dir, const char *suffix)
{
	static char first[PATH_MAX];
	DIR *d = opendir(folder_path(dir));

	first[0] = '\0';
	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;) {
		if (ent->d_name[0] == '.' || !str_has_suffix(str_of(ent->d_name), str_of(suffix)))
			continue;
		if (first[0] == '\0' || strcmp(ent->d_name, strrchr(first, '/') + 1) < 0)
			snprintf(first, sizeof(first), "%s/%s", folder_path(dir), ent->d_name);
	}
	if (d != NULL)
		closedir(d);
	return first;
}

size_t folder_count(const char *dir, const char *suffix)
{
	DIR *d = opendir(folder_path(dir));
	size_t n = 0;

	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;)
		n += ent->d_name[0] != '.' && str_has_suffix(str_of(ent->d_name), str_of(suffix));
	if (d != NULL)
		closedir(d);
	return n;
}
