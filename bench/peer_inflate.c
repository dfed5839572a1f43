/* peer_inflate FILE — what the library alone takes to decompress a file: gzip by zlib, zstd by libzstd, in blocks as large as
 * those of trace/input.h, all thrown away. bench_summarize measures itself against it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { BLOCK = 256 * 1024 };

static char in[BLOCK], out[BLOCK];

static size_t refill(FILE *f)
{
	return fread(in, 1, sizeof(in), f);
}

static int by_zlib(FILE *f, size_t n, uint64_t *bytes)
{
	z_stream z = { 0 };
	int rc = inflateInit2(&z, 15 + 16);

	for (; rc == Z_OK && n > 0; n = refill(f)) {
		z.next_in = (Bytef *)in;
		z.avail_in = (uInt)n;
		do {
			z.next_out = (Bytef *)out;
			z.avail_out = sizeof(out);
			rc = inflate(&z, Z_NO_FLUSH);
			*bytes += sizeof(out) - z.avail_out;
		} while (rc == Z_OK && (z.avail_in > 0 || z.avail_out == 0));
		if (rc == Z_BUF_ERROR)
			rc = Z_OK;
	}
	inflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : 1;
}

static int by_zstd(FILE *f, size_t n, uint64_t *bytes)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	size_t left = 1;

	for (; ctx != NULL && !ZSTD_isError(left) && n > 0; n = refill(f)) {
		ZSTD_inBuffer src = { in, n, 0 };
		ZSTD_outBuffer dst;

		do {
			dst = (ZSTD_outBuffer){ out, sizeof(out), 0 };
			left = ZSTD_decompressStream(ctx, &dst, &src);
			*bytes += dst.pos;
		} while (!ZSTD_isError(left) && (src.pos < src.size || dst.pos == dst.size));
	}
	ZSTD_freeDCtx(ctx);
	return left == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	uint64_t bytes = 0;
	size_t n;
	int status;

	if (f == NULL) {
		fprintf(stderr, "peer_inflate: takes one file that can be read\n");
		return 2;
	}
	n = refill(f);
	status = n > 4 && memcmp(in, "\050\265\057\375", 4) == 0 ? by_zstd(f, n, &bytes) : by_zlib(f, n, &bytes);
	printf("%llu bytes\n", (unsigned long long)bytes);
	fclose(f);
	return status;
}
