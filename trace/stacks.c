#include "trace/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/chains.h"

enum {
	LINES_MAX = 16000000,
	LINES_BYTES_MAX = 1 << 30,
	LINE_BYTES_MAX = 64 << 20, /* of one chain */
};

VEC(line_list, struct str);

static int64_t ns_of(const struct chain *c, enum stacks_of of)
{
	return of == STACKS_DEVICE ? c->device_ns : c->cpu_ns;
}

/* ---- lines */

/* How many bytes the character that s begins with has where it is a blank, a line end, a control character or a
 * semicolon: U+0080 to U+00A0, U+2000 to U+200A, U+2028, U+2029, U+202F and U+3000 are, too. Else 0. */
static size_t separator_length(struct str s)
{
	const unsigned char *c = (const unsigned char *)s.p;

	if (c[0] <= ' ' || c[0] == ';' || c[0] == 0x7f)
		return 1;
	if (c[0] == 0xc2 && s.n > 1 && c[1] <= 0xa0)
		return 2;
	if (c[0] == 0xe2 && s.n > 2 && c[1] == 0x80 && (c[2] <= 0x8a || c[2] == 0xa8 || c[2] == 0xa9 || c[2] == 0xaf))
		return 3;
	return str_has_prefix(s, STR("\u3000")) ? 3 : 0;
}

static void put_name(struct str name, struct buf *out)
{
	if (str_empty(name))
		buf_text(out, "\"\"");
	for (size_t n; name.n > 0; name = str_from(name, n)) {
		n = separator_length(name);
		buf_byte(out, n > 0 ? '_' : name.p[0]);
		n = n > 0 ? n : 1;
	}
}

/* Names from the root down: the way up is written down first. */
static struct str line_of(const struct chains *c, uint32_t id, int64_t ns, struct buf *way, struct buf *line, struct arena *a)
{
	buf_reset(way);
	buf_reset(line);
	for (uint32_t at = id; at != CHAIN_NONE; at = c->list.v[at].parent)
		buf_add(way, &c->list.v[at].name, sizeof(uint32_t));
	for (size_t left = way->n; left > 0; left -= sizeof(uint32_t)) {
		uint32_t name;

		memcpy(&name, way->p + left - sizeof(name), sizeof(name));
		put_name(trace_name(c->t, name), line);
		buf_byte(line, left > sizeof(name) ? ';' : ' ');
	}
	buf_fmt(line, "%" PRId64 "\n", ns / 1000);
	return way->rc == OK && line->rc == OK ? arena_str(a, buf_view(line)) : STR("");
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int print_lines(const struct chains *c, enum stacks_of of, struct buf *out, struct err *e)
{
	struct line_list lines = VEC_INIT(LINES_MAX);
	struct buf way, line;
	struct arena a;
	bool whole = true;

	arena_init(&a, LINES_BYTES_MAX);
	buf_init(&way, LINE_BYTES_MAX);
	buf_init(&line, LINE_BYTES_MAX);
	for (uint32_t i = 0; whole && i < c->list.n; i++) {
		int64_t ns = ns_of(&c->list.v[i], of);
		struct str *text = ns < 1000 ? NULL : vec_push(&lines);

		if (text != NULL)
			*text = line_of(c, i, ns, &way, &line, &a);
		whole = ns < 1000 || (text != NULL && text->n > 0);
	}
	if (whole && lines.n > 0)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
	if (whole)
		vec_each(text, &lines)
			buf_str(out, *text);
	vec_fini(&lines);
	buf_fini(&way);
	buf_fini(&line);
	arena_fini(&a);
	return whole ? OK : err_set(e, E_LIMIT, "no room for the text of %zu chains of calls", c->list.n);
}

int stacks_print(const struct trace *t, enum stacks_of of, struct buf *out, struct err *e)
{
	struct chains c;
	int rc = chains_make(&c, t, CHAINS_CALLS, e);

	if (rc < 0)
		return rc;
	rc = print_lines(&c, of, out, e);
	chains_fini(&c);
	return rc;
}
