#include "cli/diff_side.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "cli/optable_file.h"
#include "trace/session.h"
#include "trace/sidecar.h"
#include "trace/window.h"

enum { FILES_MAX = 100000, WINDOW_BYTES_MAX = 1 << 30, PATHS_BYTES_MAX = 64 << 20 };

VEC(paths, struct str);

static int refuse_damaged(const char *path, const struct trace_report *report, struct err *e)
{
	const struct trace_skip *first = &report->skips[0];

	if (report->n_skips == 0)
		return err_set(e, E_FORMAT, "%s: could not be read whole", path);
	return err_set(e, E_FORMAT, "%s: could not be read whole (%s, at byte %llu); trainspotter summarize shows what is left",
		path, first->reason, (unsigned long long)first->offset);
}

struct adding {
	struct side *side;
	struct arena *a;
};

static int add_window(struct side *s, const char *name, struct window *w, struct err *e)
{
	int rc = side_add(s, w, e);

	return rc < 0 ? err_add(e, "%s", name) : rc;
}

static int take_window(void *arg, const char *name, struct window *w, const struct trace_report *report, struct err *why,
	struct err *e)
{
	const struct adding *to = arg;
	int rc = OK;

	if (w == NULL) {
		*e = *why;
		return why->code;
	}
	if (w->flags & (WINDOW_TRUNCATED | WINDOW_DAMAGED))
		rc = refuse_damaged(name, report, e);
	if (rc == OK)
		rc = add_window(to->side, name, w, e);
	window_fini(w);
	arena_reset(to->a);
	return rc;
}

static int read_traces(struct side *s, struct arena *a, const char *path, const struct name_rules *rules, struct err *e)
{
	const struct window_origin origin = { .source = STR("diff"), .rules = rules };
	const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	struct adding to = { s, a };
	const struct window_visit visit = { .window = take_window, .arg = &to };

	return windows_from_file(a, path, &origin, &limits, &visit, e);
}

static int read_table(struct side *s, struct arena *a, const char *path, const struct name_rules *rules, struct err *e)
{
	struct window w = { 0 };
	int rc = optable_file_read(a, path, &w, e);

	if (rc == OK && rules != NULL)
		rc = name_rules_apply(rules, a, &w, e);
	if (rc == OK)
		rc = add_window(s, path, &w, e);
	window_fini(&w);
	return rc;
}

static int read_file(struct side *s, const char *path, const struct name_rules *rules, struct err *e)
{
	struct arena a;
	bool is_table;
	int rc = optable_file_is(path, &is_table, e);

	arena_init(&a, WINDOW_BYTES_MAX);
	if (rc == OK)
		rc = is_table ? read_table(s, &a, path, rules, e) : read_traces(s, &a, path, rules, e);
	arena_fini(&a);
	return rc;
}

/* ---- folders */

static const struct str suffixes[] = {
	STR(".json"), STR(".json.gz"), STR(".json.zst"), STR(".xplane.pb"), STR(".tar"), STR(".tar.gz"), STR(".tgz"), STR(".tar.zst"),
};

static bool is_wanted(struct str name)
{
	if (str_has_prefix(name, STR(".")) || str_has_suffix(name, STR(SIDECAR_SUFFIX)))
		return false;
	for (size_t i = 0; i < COUNT(suffixes); i++)
		if (str_has_suffix(name, suffixes[i]))
			return true;
	return false;
}

static int list_files(struct arena *a, const char *dir, struct paths *out, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int rc = OK;

	if (d == NULL)
		return err_sys(e, "%s", dir);
	errno = 0;
	while (rc == OK && (entry = readdir(d)) != NULL) {
		struct str *path = is_wanted(str_of(entry->d_name)) ? vec_push(out) : NULL;

		if (path != NULL)
			*path = arena_fmt(a, "%s/%s", dir, entry->d_name);
		if (out->n == FILES_MAX || arena_full(a))
			rc = err_set(e, E_LIMIT, "%s: more than %d traces", dir, FILES_MAX);
		errno = 0;
	}
	if (rc == OK && errno != 0)
		rc = err_sys(e, "%s", dir);
	closedir(d);
	return rc;
}

static int cmp_path(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int read_folder(struct side *s, const char *dir, const struct name_rules *rules, struct err *e)
{
	struct paths files = VEC_INIT(FILES_MAX);
	struct arena a;
	int rc;

	arena_init(&a, PATHS_BYTES_MAX);
	rc = list_files(&a, dir, &files, e);
	if (rc == OK && files.n == 0)
		rc = session_refuse(dir, e);
	if (rc == E_UNSUPPORTED)
		rc = err_set(e, E_FORMAT, "%s: no traces in this folder (no names that end in .json, .json.gz, .json.zst, .xplane.pb, .tar, .tar.gz, "
			".tgz or .tar.zst)",
			dir);
	if (files.n > 1)
		qsort(files.v, files.n, sizeof(*files.v), cmp_path);
	for (size_t i = 0; rc == OK && i < files.n; i++)
		rc = read_file(s, files.v[i].p, rules, e);
	vec_fini(&files);
	arena_fini(&a);
	return rc;
}

int diff_side_read(struct side *s, const char *path, const struct name_rules *rules, struct err *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(e, "%s", path);
	return S_ISDIR(st.st_mode) ? read_folder(s, path, rules, e) : read_file(s, path, rules, e);
}
