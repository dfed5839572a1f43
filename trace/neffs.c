#include "trace/neffs.h"

#include <dirent.h>
#include <stdlib.h>

enum { ENTRIES_MAX = 100000 };

/* "neff_123_vnc_0.neff" → "123" */
static bool take_hash(struct str *name)
{
	size_t vnc;

	if (!str_drop_prefix(name, STR("neff_")) || !str_drop_suffix(name, STR(".neff")))
		return false;
	vnc = str_find(*name, STR("_vnc_"));
	*name = str_upto(*name, vnc);
	return !str_empty(*name);
}

static int compare(const void *a, const void *b)
{
	const struct str *x = a, *y = b;

	return str_cmp(*x, *y);
}

static size_t each_once(struct str *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || !str_eq(v[kept - 1], v[i]))
			v[kept++] = v[i];
	return kept;
}

static DIR *open_beside(struct arena *a, const char *trace_path)
{
	struct str path = str_of(trace_path);

	while (path.n > 0 && path.p[path.n - 1] != '/')
		path.n--;
	return opendir(path.n == 0 ? "." : arena_fmt(a, "%.*s", STR_ARG(path)).p);
}

/* The list is made when the first one is seen: next to most traces there is none. */
const struct str *neffs_beside(struct arena *a, const char *trace_path, size_t *n)
{
	DIR *d = open_beside(a, trace_path);
	struct str *v = NULL;
	int left = ENTRIES_MAX;

	*n = 0;
	for (struct dirent *ent; d != NULL && left-- > 0 && *n < NEFFS_MAX && (ent = readdir(d)) != NULL;) {
		struct str name = str_of(ent->d_name);

		if (!take_hash(&name))
			continue;
		if (v == NULL)
			v = arena_get_array(a, NEFFS_MAX, sizeof(*v));
		if (v == NULL)
			break;
		v[(*n)++] = arena_str(a, name);
	}
	if (d != NULL)
		closedir(d);
	if (*n > 0)
		*n = each_once(v, *n);
	return v;
}
