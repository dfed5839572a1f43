/* Zstandard (RFC 8878) by libzstd, frame after frame; skippable frames are skipped.
 * Damage and a wrong checksum end the file, and are told. */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "trace/input_codec.h"

enum { WINDOW_LOG_MAX = 27 }; /* 128 MiB, what the zstd program itself accepts by default */

struct zstd {
	ZSTD_DCtx *ctx;
	uint64_t frames;
	uint64_t taken; /* raw bytes of this frame */
	uint64_t given; /* bytes that came out of it */
	size_t first;	/* bytes the decoder asks for at the start of a frame */
	size_t wants;	/* bytes it asks for now */
	bool over;
};

static bool zstd_matches(struct str head)
{
	if (str_has_prefix(head, STR("\050\265\057\375")))
		return true;
	return head.n >= 4 && (head.p[0] & 0xf0) == 0x50 && str_has_prefix(str_from(head, 1), STR("\052\115\030"));
}

static int zstd_open(void **state, struct err *e)
{
	struct zstd *s = mem_get(sizeof(*s));

	*state = s;
	s->ctx = ZSTD_createDCtx();
	if (s->ctx == NULL)
		return err_set(e, E_NOMEM, "no memory for zstd");
	ZSTD_DCtx_setParameter(s->ctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	s->wants = s->first = ZSTD_initDStream(s->ctx);
	return OK;
}

static void zstd_close(void *state)
{
	struct zstd *s = state;

	if (s == NULL)
		return;
	ZSTD_freeDCtx(s->ctx);
	mem_free(s);
}

static int bad_frame(struct input *in, struct zstd *s, size_t n, ZSTD_ErrorCode code, struct err *e)
{
	s->over = true;
	if (code == ZSTD_error_memory_allocation)
		return err_set(e, E_NOMEM, "%s: no memory for zstd", in->raw.name);
	if (code == ZSTD_error_frameParameter_windowTooLarge)
		return err_set(e, E_LIMIT, "%s: zstd window larger than %d MiB", in->raw.name,
			1 << (WINDOW_LOG_MAX - 20));
	if (code == ZSTD_error_checksum_wrong)
		input_blame(in, TRACE_BAD_CHECKSUM, n);
	else
		input_blame(in, s->frames > 0 && s->given == 0 ? TRACE_TRAILING_GARBAGE : TRACE_BAD_DATA, n);
	return OK;
}

/* One call of the decoder, which gets what it asks for and no more: given a checksum together with data before it, it
 * would keep that data to itself where the checksum is wrong. */
static int decode_some(struct input *in, struct zstd *s, char *out, size_t *n, struct err *e)
{
	size_t bite = in->pending.n > s->wants ? s->wants : in->pending.n;
	ZSTD_inBuffer src = { in->pending.p, bite, 0 };
	ZSTD_outBuffer dst = { out, INPUT_BLOCK, *n };
	size_t z = ZSTD_decompressStream(s->ctx, &dst, &src);

	in->pending = str_from(in->pending, src.pos);
	s->taken += src.pos;
	s->given += dst.pos - *n;
	*n = dst.pos;
	if (ZSTD_isError(z))
		return bad_frame(in, s, *n, ZSTD_getErrorCode(z), e);
	s->wants = z;
	if (z == 0) {
		s->frames++;
		s->taken = s->given = 0;
		s->wants = s->first;
	}
	return OK;
}

static int zstd_next(struct input *in, void *state, char *out, size_t *n, struct err *e)
{
	struct zstd *s = state;

	while (!s->over && *n < INPUT_BLOCK) {
		size_t had;
		int rc = input_refill(in, e);

		if (rc < 0)
			return rc;
		had = *n;
		if (in->pending.n == 0 && s->taken == 0)
			break; /* between frames */
		rc = decode_some(in, s, out, n, e);
		if (rc < 0)
			return rc;
		if (in->pending.n == 0 && in->raw.end && *n == had && s->taken > 0 && !s->over) {
			input_blame(in, TRACE_TRUNCATED, *n);
			s->over = true;
		}
	}
	return OK;
}

const struct input_codec input_zstd = {
	.name = "zstd",
	.matches = zstd_matches,
	.open = zstd_open,
	.next = zstd_next,
	.close = zstd_close,
};
