#include "trace/sidecars.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { PIECE = 64 * 1024 };

struct text {
	struct str text;
	bool too_large;
};
VEC(texts, struct text);

struct sidecars {
	char *archive;
	struct arena arena;
	struct map by_name; /* of the trace → index into texts */
	struct texts texts;
	struct buf content; /* of the one at hand */
};

static struct str plain(struct str name)
{
	while (str_drop_prefix(&name, STR("./")))
		;
	return name;
}

/* Nothing of one that is too large. */
static int take_content(struct tar *t, uint64_t size, struct buf *b, struct err *e)
{
	size_t got = 0;
	int rc = OK;

	buf_reset(b);
	if (size > SIDECAR_BYTES_MAX)
		return OK;
	do {
		char *room = buf_room(b, PIECE);

		if (room == NULL)
			return buf_finish(b, "a sidecar", e);
		rc = tar_read(t, room, PIECE, &got, e);
		buf_used(b, rc == OK ? got : 0);
	} while (rc == OK && got > 0);
	return rc;
}

static int keep(struct sidecars *s, struct str trace, struct str text, bool too_large, struct err *e)
{
	struct str name = plain(trace);
	uint32_t *at = map_get(&s->by_name, name);
	struct text *place = at != NULL ? &s->texts.v[*at] : vec_push(&s->texts);

	if (place != NULL)
		*place = (struct text){ arena_str(&s->arena, text), too_large };
	if (place != NULL && at == NULL)
		at = map_put(&s->by_name, arena_str(&s->arena, name), (uint32_t)(s->texts.n - 1), NULL);
	if (at == NULL || arena_full(&s->arena))
		return err_set(e, E_LIMIT, "%s: more than %d sidecars (FILE" SIDECAR_SUFFIX "), or more than %d bytes of them", s->archive,
			SIDECARS_MAX, SIDECARS_BYTES_MAX);
	return OK;
}

struct sidecars *sidecars_new(const char *archive)
{
	struct sidecars *s = mem_get(sizeof(*s));

	*s = (struct sidecars){ .archive = mem_dup_text(archive), .texts = VEC_INIT(SIDECARS_MAX) };
	arena_init(&s->arena, SIDECARS_BYTES_MAX);
	map_init(&s->by_name, SIDECARS_MAX);
	buf_init(&s->content, SIDECAR_BYTES_MAX + PIECE);
	return s;
}

int sidecars_take(struct sidecars *s, struct tar *t, const struct tar_file *f, struct err *e)
{
	struct str trace = f->name;
	int rc;

	if (!str_drop_suffix(&trace, STR(SIDECAR_SUFFIX)))
		return OK;
	rc = take_content(t, f->size, &s->content, e);
	return rc < 0 ? err_add(e, "%s", s->archive) : keep(s, trace, buf_view(&s->content), f->size > SIDECAR_BYTES_MAX, e);
}

int sidecars_read(struct sidecars *s, struct input *in, struct err *e)
{
	struct tar *t = tar_new(in);
	struct tar_file f;
	bool more = true;
	int rc = OK;

	while (rc == OK && more) {
		rc = tar_next(t, &f, &more, e);
		if (rc < 0)
			err_add(e, "%s", s->archive);
		else if (more)
			rc = sidecars_take(s, t, &f, e);
	}
	tar_free(t);
	return rc;
}

void sidecars_free(struct sidecars *s)
{
	if (s == NULL)
		return;
	map_fini(&s->by_name);
	vec_fini(&s->texts);
	buf_fini(&s->content);
	arena_fini(&s->arena);
	mem_free(s->archive);
	mem_free(s);
}

int sidecars_find(const struct sidecars *s, struct arena *a, struct str trace, struct sidecar *out, struct err *e)
{
	const uint32_t *at = map_get(&s->by_name, plain(trace));
	struct err why = { 0 };
	int rc;

	*out = (struct sidecar){ 0 };
	if (at == NULL)
		return OK;
	if (s->texts.v[*at].too_large)
		rc = err_set(&why, E_LIMIT, "larger than %d bytes", SIDECAR_BYTES_MAX);
	else
		rc = sidecar_parse(a, s->texts.v[*at].text, out, &why);
	if (rc < 0)
		return err_set(e, E_USAGE, "%s:%.*s" SIDECAR_SUFFIX ": %s", s->archive, STR_ARG(trace), why.text);
	return OK;
}
