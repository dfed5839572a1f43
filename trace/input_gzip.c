/* gzip (RFC 1952) by zlib, member after member.
 *
 *	| header | deflated data                          | crc32, length |	once a member
 *	  zlib     zlib, bare: without a checksum of it     here (trace/crc32.h)
 *
 * A wrong checksum ends a member like a right one, only told; damage inside the data ends the file; bytes behind the
 * last member that are no gzip are told and left, zeros (tape padding) not even told. */
#include <string.h>
#include <zlib.h>

#include "base/enc.h"
#include "base/mem.h"
#include "trace/crc32.h"
#include "trace/input_codec.h"

enum gzip_part { HEADER, DATA, TRAILER };
enum { TRAILER_BYTES = 8, WITH_HEADER = 15 + 16, BARE = -15 };
enum { AT_BLOCK = 128 }; /* in data_type: inflate stands at the first block of data, or behind one */

struct gzip {
	z_stream z;
	enum gzip_part part;
	uint32_t crc;	   /* of this member's data so far */
	unsigned char trailer[TRAILER_BYTES];
	size_t trailer_bytes; /* of them read */
	uint64_t members;     /* whole ones so far */
	uint64_t taken;	      /* raw bytes of this member */
	bool more;	      /* the block was full: there may be output that needs no input */
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
	if (inflateInit2(&g->z, WITH_HEADER) != Z_OK)
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

static void begin_data(struct gzip *g)
{
	g->part = DATA;
	g->crc = 0;
	g->trailer_bytes = 0;
	inflateReset2(&g->z, BARE);
}

static void next_member(struct gzip *g)
{
	g->members++;
	g->taken = 0;
	g->part = HEADER;
	inflateReset2(&g->z, WITH_HEADER);
}

/* Zeros between members and behind the last one. */
static void skip_padding(struct input *in, const struct gzip *g)
{
	if (g->members == 0 || g->taken > 0)
		return;
	while (in->pending.n > 0 && in->pending.p[0] == '\0')
		in->pending = str_from(in->pending, 1);
}

static void bad_member(struct input *in, struct gzip *g, size_t n)
{
	g->over = true;
	input_blame(in, g->members > 0 && g->z.total_out == 0 ? TRACE_TRAILING_GARBAGE : TRACE_BAD_DATA, n);
}

/* Nothing more comes. Was that between members? */
static void check_end(struct input *in, const struct gzip *g, size_t n)
{
	if (g->members > 0 && g->taken == 0)
		return;
	input_blame(in, g->members > 0 && g->taken == 1 ? TRACE_TRAILING_GARBAGE : TRACE_TRUNCATED, n);
}

/* One call of inflate: the header, or data until the block is full; less where something happened. */
static int inflate_some(struct input *in, struct gzip *g, char *out, size_t *n, struct err *e)
{
	size_t before = in->pending.n, from = *n;
	int z;

	g->z.next_in = (z_const Bytef *)(uintptr_t)in->pending.p;
	g->z.avail_in = (uInt)in->pending.n;
	g->z.next_out = (Bytef *)out + from;
	g->z.avail_out = (uInt)(INPUT_BLOCK - from);
	z = inflate(&g->z, g->part == HEADER ? Z_BLOCK : Z_NO_FLUSH);
	in->pending = str_from(in->pending, before - g->z.avail_in);
	g->taken += before - g->z.avail_in;
	*n = INPUT_BLOCK - g->z.avail_out;
	g->more = z == Z_OK && g->part == DATA && g->z.avail_out == 0;
	g->crc = crc32_add(g->crc, out + from, *n - from);
	if (z == Z_STREAM_END)
		g->part = TRAILER;
	else if (z == Z_MEM_ERROR)
		return err_set(e, E_NOMEM, "%s: no memory for gzip", in->raw.name);
	else if (z != Z_OK && z != Z_BUF_ERROR)
		bad_member(in, g, *n);
	else if (g->part == HEADER && (g->z.data_type & AT_BLOCK))
		begin_data(g);
	return OK;
}

/* As much of the trailer as is there. */
static void take_trailer(struct input *in, struct gzip *g, size_t n)
{
	struct str some = str_upto(in->pending, TRAILER_BYTES - g->trailer_bytes);

	memcpy(g->trailer + g->trailer_bytes, some.p, some.n);
	in->pending = str_from(in->pending, some.n);
	g->trailer_bytes += some.n;
	g->taken += some.n;
	if (g->trailer_bytes < TRAILER_BYTES)
		return;
	if (enc_get32(g->trailer) != g->crc || enc_get32(g->trailer + 4) != (uint32_t)g->z.total_out)
		input_blame(in, TRACE_BAD_CHECKSUM, n);
	next_member(g);
}

static int gzip_next(struct input *in, void *state, char *out, size_t *n, struct err *e)
{
	struct gzip *g = state;

	while (!g->over && *n < INPUT_BLOCK) {
		int rc = input_refill(in, e);

		if (rc == OK && in->pending.n == 0 && !g->more) {
			check_end(in, g, *n);
			g->over = true;
			break;
		}
		skip_padding(in, g);
		if (rc == OK && g->part == TRAILER)
			take_trailer(in, g, *n);
		else if (rc == OK && (in->pending.n > 0 || g->more))
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
