#include "wire/pack.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

int pack_zstd(struct str plain, struct buf *out, struct err *e)
{
	size_t room = ZSTD_compressBound(plain.n), n = 0;
	ZSTD_CCtx *z = ZSTD_createCCtx();
	char *p = mem_try(room);
	int rc = OK;

	if (z == NULL || p == NULL) {
		rc = err_set(e, E_NOMEM, "no memory to compress %zu bytes", plain.n);
		goto out;
	}
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, PACK_LEVEL);
	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(z, p, room, plain.p, plain.n);
	if (ZSTD_isError(n)) {
		rc = err_set(e, E_NOMEM, "zstd: %s", ZSTD_getErrorName(n));
		goto out;
	}
	buf_add(out, p, n);
	rc = buf_finish(out, "compressed batch", e);
out:
	mem_free(p);
	ZSTD_freeCCtx(z);
	return rc;
}

static int unpack_error(size_t z, size_t at, struct err *e)
{
	int code = (int)ZSTD_getErrorCode(z);

	if (code == ZSTD_error_frameParameter_windowTooLarge)
		return err_set(e, E_LIMIT, "zstd: wants a window of more than %d MiB", 1 << (PACK_WINDOW_LOG - 20));
	if (code == ZSTD_error_memory_allocation)
		return err_set(e, E_NOMEM, "zstd: no memory");
	return err_set(e, E_FORMAT, "zstd: byte %zu: %s", at, ZSTD_getErrorName(z));
}

/* One block after the other into out, so that a bomb costs no more than out's ceiling. */
static int unpack_stream(ZSTD_DCtx *z, struct str packed, struct buf *out, struct err *e)
{
	ZSTD_inBuffer in = { packed.p, packed.n, 0 };
	const size_t block = ZSTD_DStreamOutSize();

	for (;;) {
		size_t room = out->cap - out->n < block ? out->cap - out->n : block, before = in.pos, left;
		ZSTD_outBuffer o = { buf_room(out, room), room, 0 };

		if (o.dst == NULL)
			return buf_finish(out, "decompressed batch", e);
		left = ZSTD_decompressStream(z, &o, &in);
		if (ZSTD_isError(left))
			return unpack_error(left, in.pos, e);
		buf_used(out, o.pos);
		if (left == 0 && in.pos == in.size)
			return OK;
		if (o.pos > 0 || in.pos > before)
			continue;
		if (room == 0)
			return err_set(e, E_LIMIT, "decompressed batch: larger than %zu bytes", out->cap);
		return err_set(e, E_FORMAT, "zstd: the frame ends early, after %zu bytes", packed.n);
	}
}

int pack_open(struct str packed, struct buf *out, struct err *e)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	int rc;

	if (z == NULL)
		return err_set(e, E_NOMEM, "zstd: no memory");
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, PACK_WINDOW_LOG);
	rc = unpack_stream(z, packed, out, e);
	ZSTD_freeDCtx(z);
	return rc;
}
