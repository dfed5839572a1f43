#include "agent/sequence.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

enum { FILE_BYTES_MAX = 64 };

struct sequence {
	char *path, *agent_id;
	int64_t start_ns;
	uint64_t next, reserved; /* next < reserved: may be used */
};

struct sequence *sequence_new(const char *state_dir, struct str agent_id, int64_t start_ns)
{
	struct sequence *s = mem_get(sizeof(*s));
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sequence", state_dir);
	s->path = mem_dup_text(path);
	s->agent_id = mem_get(agent_id.n + 1);
	str_copy_to(agent_id, s->agent_id, agent_id.n + 1);
	s->start_ns = start_ns;
	return s;
}

void sequence_free(struct sequence *s)
{
	if (s == NULL)
		return;
	mem_free(s->path);
	mem_free(s->agent_id);
	mem_free(s);
}

/* The first number that is free; 0 where there is no file yet. */
static int read_free(const struct sequence *s, uint64_t *first, struct err *e)
{
	struct buf b;
	int rc;

	*first = 0;
	buf_init(&b, FILE_BYTES_MAX);
	rc = file_read_all(s->path, &b, e);
	if (rc == E_NOT_FOUND)
		rc = OK;
	else if (rc == OK && (str_to_u64(str_trim(buf_view(&b)), first) < 0 || *first > UINT64_MAX / 2))
		rc = err_set(e, E_CORRUPT, "%s: is no number; remove it", s->path);
	buf_fini(&b);
	return rc;
}

static int reserve(struct sequence *s, struct err *e)
{
	uint64_t first;
	char text[32];
	int rc = read_free(s, &first, e);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%" PRIu64 "\n", first + SEQUENCE_BLOCK);
	rc = file_replace(s->path, str_of(text), 0600, e);
	if (rc < 0)
		return rc;
	crash_point("sequence.reserved");
	s->next = first;
	s->reserved = first + SEQUENCE_BLOCK;
	return OK;
}

int sequence_next(struct sequence *s, uint8_t id[WINDOW_ID], struct err *e)
{
	struct hash128 *h;
	char text[32];
	int rc = s->next < s->reserved ? OK : reserve(s, e);

	if (rc < 0)
		return rc;
	h = hash128_new();
	hash128_add_str(h, str_of(s->agent_id));
	snprintf(text, sizeof(text), "%" PRId64, s->start_ns);
	hash128_add_str(h, str_of(text));
	snprintf(text, sizeof(text), "%" PRIu64, s->next++);
	hash128_add_str(h, str_of(text));
	hash128_get(h, id);
	hash128_free(h);
	return OK;
}
