#include "notify/seen.h"

#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"

struct seen {
	char *path;
	char (*keys)[SEEN_KEY]; /* a ring, oldest at head */
	size_t cap, head, n;
};

static void keep(struct seen *s, struct str key)
{
	size_t at = (s->head + s->n) % s->cap;

	if (s->n == s->cap) {
		s->head = (s->head + 1) % s->cap;
		s->n--;
	}
	if (str_copy_to(key, s->keys[at], SEEN_KEY))
		s->n++;
}

int seen_open(struct seen **out, const char *path, size_t cap, struct err *e)
{
	struct seen *s = mem_get(sizeof(*s));
	struct str rest;
	struct buf b;
	int rc = OK;

	*out = NULL;
	s->path = mem_dup_text(path);
	s->cap = cap;
	s->keys = mem_get_array(cap, SEEN_KEY);
	buf_init(&b, 4 * cap * SEEN_KEY);
	if (file_exists(path))
		rc = file_read_all(path, &b, e);
	rest = buf_view(&b);
	while (rc == OK && rest.p != NULL) {
		struct str line = str_split(&rest, '\n');

		if (!str_empty(line) && line.n < SEEN_KEY)
			keep(s, line);
	}
	buf_fini(&b);
	if (rc != OK) {
		seen_close(s);
		return rc;
	}
	*out = s;
	return OK;
}

void seen_close(struct seen *s)
{
	if (s == NULL)
		return;
	mem_free(s->keys);
	mem_free(s->path);
	mem_free(s);
}

bool seen_has(const struct seen *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->keys[(s->head + i) % s->cap], key) == 0)
			return true;
	return false;
}

int seen_add(struct seen *s, const char *key, struct err *e)
{
	struct buf b;
	int rc;

	keep(s, str_of(key));
	buf_init(&b, s->cap * SEEN_KEY);
	for (size_t i = 0; i < s->n; i++)
		buf_fmt(&b, "%s\n", s->keys[(s->head + i) % s->cap]);
	rc = buf_finish(&b, s->path, e);
	if (rc == OK)
		rc = file_replace(s->path, buf_view(&b), 0600, e);
	buf_fini(&b);
	return rc;
}
