#include "trace/gzip.h"

#include <stdbool.h>

#include <zlib.h>

enum { PIECE = 64 * 1024 };

/* One piece of output. True when all is out. */
static bool deflate_some(z_stream *z, struct buf *out)
{
	unsigned char *p = buf_room(out, PIECE);
	int rc;

	if (p == NULL)
		return true;
	z->next_out = p;
	z->avail_out = PIECE;
	rc = deflate(z, z->avail_in == 0 ? Z_FINISH : Z_NO_FLUSH);
	buf_used(out, PIECE - z->avail_out);
	return rc == Z_STREAM_END;
}

int gzip_pack(struct str bytes, struct buf *out, struct err *e)
{
	z_stream z = { 0 };
	bool over = false;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(e, E_NOMEM, "no memory for gzip");
	while (!over) {
		if (z.avail_in == 0 && bytes.n > 0) {
			struct str part = str_upto(bytes, 1 << 30); /* zlib counts in unsigned int */

			z.next_in = (z_const Bytef *)(uintptr_t)part.p;
			z.avail_in = (uInt)part.n;
			bytes = str_from(bytes, part.n);
		}
		over = deflate_some(&z, out);
	}
	deflateEnd(&z);
	return OK;
}
