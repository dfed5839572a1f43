#include "agent/vllm_journal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/source.h"
#include "base/arena.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "json/tree.h"
#include "json/write.h"

#define SUFFIX ".json"

enum { ENTRY_BYTES_MAX = 64 << 10, ENTRY_ARENA_MAX = 1 << 20, ENTRIES_MAX = 1000 };

/* The texts of an entry and where they stand in it. */
static const struct {
	const char *key;
	size_t at;
} texts[] = {
	{ "url", offsetof(struct vllm_server_conf, url) },
	{ "token_file", offsetof(struct vllm_server_conf, token_file) },
	{ "ca_file", offsetof(struct vllm_server_conf, ca_file) },
	{ "dir", offsetof(struct vllm_server_conf, dir) },
	{ "service", offsetof(struct vllm_server_conf, service) },
	{ "deploy", offsetof(struct vllm_server_conf, deploy) },
	{ "worker", offsetof(struct vllm_server_conf, worker) },
};
_Static_assert(COUNT(texts) * sizeof(char *) == sizeof(struct vllm_server_conf), "keep every text of a server");

static char **text_of(struct vllm_server_conf *s, size_t i)
{
	return (char **)((char *)s + texts[i].at);
}

static void entry_path(const char *dir, const char *url, char out[PATH_MAX])
{
	struct str u = str_of(url);

	snprintf(out, PATH_MAX, "%s/%016llx" SUFFIX, dir, (unsigned long long)hash64(u.p, u.n, 0));
}

static int write_entry(const struct vllm_entry *entry, struct buf *out, struct err *e)
{
	struct vllm_server_conf server = entry->server;
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	for (size_t i = 0; i < COUNT(texts); i++)
		jw_key_str(&w, texts[i].key, str_of(*text_of(&server, i)));
	jw_key_i64(&w, "started_ns", entry->started_ns);
	jw_key_bool(&w, "stopped", entry->stopped);
	jw_end(&w);
	return jw_finish(&w, e);
}

int vllm_journal_put(const char *dir, const struct vllm_entry *entry, struct err *e)
{
	char path[PATH_MAX];
	struct buf b;
	int rc;

	buf_init(&b, ENTRY_BYTES_MAX);
	rc = file_make_dirs(dir, 0750, e);
	if (rc == OK)
		rc = write_entry(entry, &b, e);
	entry_path(dir, entry->server.url, path);
	if (rc == OK)
		rc = file_replace(path, buf_view(&b), 0600, e);
	buf_fini(&b);
	if (rc == OK)
		crash_point(entry->stopped ? "vllm.stop-noted" : "vllm.start-noted");
	return rc;
}

int vllm_journal_drop(const char *dir, const char *url, struct err *e)
{
	char path[PATH_MAX];

	entry_path(dir, url, path);
	if (unlink(path) < 0)
		return errno == ENOENT ? OK : err_sys(e, "%s: remove", path);
	crash_point("vllm.dropped");
	return file_sync_dir(dir, e);
}

/* ---- reading them */

static void entry_fini(struct vllm_entry *entry)
{
	for (size_t i = 0; i < COUNT(texts); i++)
		mem_free(*text_of(&entry->server, i));
}

static int read_entry(struct arena *a, struct str text, struct vllm_entry *out)
{
	const struct json_node *root;
	int rc = json_parse(a, text, &root, NULL);

	if (rc < 0)
		return rc;
	if (json_get_str(root, "url").n == 0 || json_get_i64(root, "started_ns", -1) < 0)
		return E_FORMAT;
	out->started_ns = json_get_i64(root, "started_ns", 0);
	out->stopped = json_get_bool(root, "stopped", false);
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct str s = json_get_str(root, texts[i].key);
		char *copy = mem_get(s.n + 1);

		str_copy_to(s, copy, s.n + 1);
		*text_of(&out->server, i) = copy;
	}
	return OK;
}

/* OK where the file is gone or its entry is in *out. */
static int take_file(const char *path, struct vllm_entries *out)
{
	struct vllm_entry *entry;
	struct arena a;
	struct buf b;
	int rc;

	buf_init(&b, ENTRY_BYTES_MAX);
	arena_init(&a, ENTRY_ARENA_MAX);
	rc = file_read_regular(path, &b, NULL);
	entry = rc == OK ? vec_push(out) : NULL;
	if (entry != NULL) {
		rc = read_entry(&a, buf_view(&b), entry);
		if (rc < 0)
			out->n--;
	}
	arena_fini(&a);
	buf_fini(&b);
	return rc == E_NOT_FOUND ? OK : rc;
}

static void put_aside(const char *path)
{
	char bad[PATH_MAX];

	if (snprintf(bad, sizeof(bad), "%s.bad", path) < (int)sizeof(bad))
		(void)!rename(path, bad); /* else it is found again at the next start */
}

int vllm_journal_read(const char *dir, struct vllm_entries *out, struct err *e)
{
	DIR *d = opendir(dir);
	char path[PATH_MAX];

	*out = (struct vllm_entries)VEC_INIT(ENTRIES_MAX);
	if (d == NULL)
		return errno == ENOENT ? OK : err_sys(e, "%s: open", dir);
	for (struct dirent *ent; (ent = readdir(d)) != NULL;) {
		int rc;

		if (ent->d_name[0] == '.' || !str_has_suffix(str_of(ent->d_name), STR(SUFFIX)) ||
			snprintf(path, sizeof(path), "%s/%s", dir, ent->d_name) >= (int)sizeof(path))
			continue;
		rc = take_file(path, out);
		out->bad += rc < 0;
		if (source_is_final(rc))
			put_aside(path);
	}
	closedir(d);
	return OK;
}

void vllm_entries_fini(struct vllm_entries *es)
{
	vec_each(entry, es)
		entry_fini(entry);
	vec_fini(es);
}
