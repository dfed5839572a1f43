/* gzip (RFC 1952) by zlib, member after member.
 * A wrong checksum ends a member like a right one, only told; damage inside the data ends the file; bytes behind the
 * last member that are no gzip are told and left, zeros (tape padding) not even told. */
#include <zlib.h>

#include "base/mem.h"
#include "trace/input_codec.h"

struct gzip {
	z_stream z;
	uint64_t members; /* whole ones so far */
	uint64_t taken;	  /* raw bytes of this member */
	bool over;
};

static bool gzip_matches(struct str head)
{
	return str_has_prefix(head, STR("\037\213"));
}

static int gzip_open(void **state, struct err *e)
{
	struct gzip *g = mem_get(sizeof(*g));

	*state = g;
	if (inflateInit2(&g->z, 15 + 16) != Z_OK)
		return err_set(e, E_NOMEM, "no memory for gzip");
	return OK;
}

static void gzip_close(void *state)
{
	struct gzip *g = state;

	if (g == NULL)
		return;
	inflateEnd(&g->z);
	mem_free(g);
}

static void next_member(struct gzip *g)
{
	g->members++;
	g->taken = 0;
	inflateReset(&g->z);
}

/* Zeros between members and behind the last one. */
static void skip_padding(struct input *in, const struct gzip *g)
{
	if (g->members == 0 || g->taken > 0)
		return;
	while (in->pending.n > 0 && in->pending.p[0] == '\0')
		in->pending = str_from(in->pending, 1);
}

/* The size field behind a wrong checksum; a file that ends there is told as truncated by the next round. */
static int skip_size_field(struct input *in, struct err *e)
{
	for (int left = 4; left > 0; left--) {
		int rc = input_refill(in, e);

		if (rc < 0)
			return rc;
		in->pending = str_from(in->pending, 1);
	}
	return OK;
}

static int bad_member(struct input *in, struct gzip *g, size_t n, struct err *e)
{
	struct str why = str_of(g->z.msg);

	if (str_eq(why, STR("incorrect data check"))) {
		input_blame(in, TRACE_BAD_CHECKSUM, n);
		next_member(g);
		return skip_size_field(in, e);
	}
	if (str_eq(why, STR("incorrect length check"))) {
		input_blame(in, TRACE_BAD_CHECKSUM, n);
		next_member(g);
		return OK;
	}
	g->over = true;
	input_blame(in, g->members > 0 && g->z.total_out == 0 ? TRACE_TRAILING_GARBAGE : TRACE_BAD_DATA, n);
	return OK;
}

/* Nothing more comes. Was that between members? */
static void check_end(struct input *in, const struct gzip *g, size_t n)
{
	if (g->members > 0 && g->taken == 0)
		return;
	input_blame(in, g->members > 0 && g->taken == 1 ? TRACE_TRAILING_GARBAGE : TRACE_TRUNCATED, n);
}

/* One call of inflate, until the block is full or something happened. */
static int inflate_some(struct input *in, struct gzip *g, char *out, size_t *n, struct err *e)
{
	size_t before = in->pending.n;
	int z;

	g->z.next_in = (z_const Bytef *)(uintptr_t)in->pending.p;
	g->z.avail_in = (uInt)in->pending.n;
	g->z.next_out = (Bytef *)out + *n;
	g->z.avail_out = (uInt)(INPUT_BLOCK - *n);
	z = inflate(&g->z, Z_NO_FLUSH);
	in->pending = str_from(in->pending, before - g->z.avail_in);
	g->taken += before - g->z.avail_in;
	*n = INPUT_BLOCK - g->z.avail_out;
	if (z == Z_STREAM_END)
		next_member(g);
	else if (z == Z_MEM_ERROR)
		return err_set(e, E_NOMEM, "%s: no memory for gzip", in->raw.name);
	else if (z != Z_OK && z != Z_BUF_ERROR)
		return bad_member(in, g, *n, e);
	return OK;
}

static int gzip_next(struct input *in, void *state, char *out, size_t *n, struct err *e)
{
	struct gzip *g = state;

	while (!g->over && *n < INPUT_BLOCK) {
		int rc = input_refill(in, e);

		if (rc == OK && in->pending.n == 0) {
			check_end(in, g, *n);
			g->over = true;
			break;
		}
		skip_padding(in, g);
		if (rc == OK && in->pending.n > 0)
			rc = inflate_some(in, g, out, n, e);
		if (rc < 0)
			return rc;
	}
	return OK;
}

const struct input_codec input_gzip = {
	.name = "gzip",
	.matches = gzip_matches,
	.open = gzip_open,
	.next = gzip_next,
	.close = gzip_close,
};
