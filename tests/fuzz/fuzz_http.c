/* Requests of HTTP: any bytes give a head that keeps its promises or a problem with a sentence, cut anywhere or not; a chunked
 * body reads the same in one piece and byte by byte. */
#include "base/must.h"
#include "net/http_parse.h"
#include "tests/fuzz/fuzz.h"

enum { BODY_MAX = 4096 };

static void one_path(struct str path)
{
	must(path.n > 0 && path.p[0] == '/');
	must(memchr(path.p, '\0', path.n) == NULL);
	must(!str_contains(path, STR("/../")) && !str_has_suffix(path, STR("/..")));
}

static size_t one_head(struct str in)
{
	size_t scanned = 0, piecewise = 0;
	int end = http_head_end(in.p, in.n, &scanned), cut = 0;
	enum problem why = PROBLEMS;
	struct http_head h;
	struct arena a;
	struct err e = { 0 };

	for (size_t n = 1; n <= in.n && cut == 0; n++)
		cut = http_head_end(in.p, n, &piecewise);
	must(cut == end);
	if (end <= 0)
		return in.n;
	arena_init(&a, 1 << 16);
	if (http_head_parse(&a, str_upto(in, (size_t)end), &h, &why, &e) == OK) {
		one_path(h.path);
		must(!(h.chunked && h.length > 0));
		must(h.n_headers <= HTTP_HEADERS_MAX);
	} else {
		must(why < PROBLEMS && problem_status(why) >= 400 && e.text[0] != '\0');
	}
	arena_fini(&a);
	return (size_t)end;
}

static void one_body(struct str in)
{
	struct http_chunks whole = { 0 }, bytes = { 0 };
	struct buf a, b;
	size_t used_whole, used, n = 0;
	int rc_whole, rc = OK;

	buf_init(&a, BODY_MAX);
	buf_init(&b, BODY_MAX);
	rc_whole = http_chunks_feed(&whole, in, &used_whole, &a, NULL);
	while (rc == OK && n < in.n && bytes.state != CHUNK_DONE) {
		rc = http_chunks_feed(&bytes, str_upto(str_from(in, n), 1), &used, &b, NULL);
		n += used;
	}
	must(rc == rc_whole);
	if (rc == OK)
		must(bytes.state == whole.state && n == used_whole && str_eq(buf_view(&a), buf_view(&b)));
	buf_fini(&a);
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = str_make(data, size);
	size_t head = one_head(in);

	one_body(in);
	one_body(str_from(in, head));
	return 0;
}
