#include "net/http_parse.h"

#include "base/enc.h"

enum {
	CHUNK_DIGITS_MAX = 8,
	CHUNK_EXTRA_MAX = 4096,
};

static const char *const method_names[] = {
	[HTTP_GET] = "GET",	  [HTTP_HEAD] = "HEAD",	  [HTTP_POST] = "POST",	      [HTTP_PUT] = "PUT",
	[HTTP_DELETE] = "DELETE", [HTTP_PATCH] = "PATCH", [HTTP_OPTIONS] = "OPTIONS",
};
_Static_assert(COUNT(method_names) == HTTP_METHODS, "name every method");

const char *http_method_name(enum http_method m)
{
	return method_names[m];
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool str_eq_blind(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

struct str http_header_get(const struct http_request *rq, const char *name)
{
	for (size_t i = 0; i < rq->n_headers; i++)
		if (str_eq_blind(rq->headers[i].name, str_of(name)))
			return rq->headers[i].value;
	return STR("");
}

int http_head_end(const char *p, size_t n, size_t *scanned)
{
	for (size_t i = *scanned; i < n; i++) {
		if (p[i] == '\0')
			return E_FORMAT;
		if (p[i] != '\n')
			continue;
		if (i == 0 || p[i - 1] != '\r')
			return E_FORMAT;
		if (i >= 3 && p[i - 2] == '\n') {
			*scanned = i + 1;
			return (int)(i + 1);
		}
	}
	*scanned = n;
	return 0;
}

/* RFC 9110 5.6.2 */
static bool is_token_char(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_token_char(s.p[i]))
			return false;
	return s.n > 0;
}

static bool is_field_value(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int refuse(enum problem *why, enum problem p, struct err *e, const char *sentence)
{
	*why = p;
	return err_set(e, E_FORMAT, "%s", sentence);
}

static int take_method(struct str word, enum http_method *out, enum problem *why, struct err *e)
{
	if (!is_token(word))
		return refuse(why, PROBLEM_REQUEST, e, "the request line does not begin with a method");
	for (size_t i = 0; i < HTTP_METHODS; i++)
		if (str_eq(word, str_of(method_names[i]))) {
			*out = (enum http_method)i;
			return OK;
		}
	return refuse(why, PROBLEM_NOT_IMPLEMENTED, e, "the method is not known");
}

static int take_version(struct str word, int *minor, enum problem *why, struct err *e)
{
	if (str_eq(word, STR("HTTP/1.1")) || str_eq(word, STR("HTTP/1.0"))) {
		*minor = word.p[7] - '0';
		return OK;
	}
	if (str_has_prefix(word, STR("HTTP/")))
		return refuse(why, PROBLEM_VERSION, e, "only HTTP/1.1 and HTTP/1.0 are spoken here");
	return refuse(why, PROBLEM_REQUEST, e, "the request line does not end in an HTTP version");
}

/* "." or ".." between slashes could mean another path to somebody else. */
static bool has_dot_segment(struct str path)
{
	struct str rest = path;

	while (rest.p != NULL) {
		struct str part = str_split(&rest, '/');

		if (str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return true;
	}
	return false;
}

int http_decode(struct arena *a, struct str raw, bool plus, struct str *out)
{
	char *p = arena_get(a, raw.n + 1);
	size_t n = 0;

	if (p == NULL)
		return E_LIMIT;
	for (size_t i = 0; i < raw.n; i++) {
		uint8_t byte = (uint8_t)raw.p[i];

		if (byte == '%') {
			if (raw.n - i < 3 || enc_unhex(str_make(raw.p + i + 1, 2), &byte, 1) != OK || byte == 0)
				return E_FORMAT;
			i += 2;
		} else if (byte == '+' && plus) {
			byte = ' ';
		}
		p[n++] = (char)byte;
	}
	*out = str_make(p, n);
	return OK;
}

static int decode_path(struct arena *a, struct str raw, struct str *out)
{
	int rc = http_decode(a, raw, false, out);

	if (rc != OK)
		return rc;
	return is_field_value(*out) && !has_dot_segment(*out) ? OK : E_FORMAT;
}

static bool drop_scheme(struct str *target, struct str scheme)
{
	if (!str_eq_blind(str_upto(*target, scheme.n), scheme))
		return false;
	*target = str_from(*target, scheme.n);
	return true;
}

/* "/path?query", or the absolute form that a proxy's client sends. */
static int take_target(struct arena *a, struct str t, struct http_head *h, enum problem *why, struct err *e)
{
	struct str path = t;
	size_t mark;

	for (size_t i = 0; i < t.n; i++)
		if ((unsigned char)t.p[i] <= 0x20 || (unsigned char)t.p[i] >= 0x7f || t.p[i] == '#')
			return refuse(why, PROBLEM_REQUEST, e, "the path has a character in it that must be percent-encoded");
	if (drop_scheme(&path, STR("http://")) || drop_scheme(&path, STR("https://")))
		path = str_from(path, str_find_byte(path, '/'));
	if (str_empty(path) || path.p[0] != '/')
		return refuse(why, PROBLEM_REQUEST, e, "the path must begin with a slash");
	mark = str_find_byte(path, '?');
	h->query = arena_str(a, str_from(path, mark + 1));
	if (decode_path(a, str_upto(path, mark), &h->path) != OK)
		return refuse(why, PROBLEM_REQUEST, e,
			"the path has a bad percent-escape, a control character or a dot segment in it");
	return OK;
}

static int take_request_line(struct arena *a, struct str line, struct http_head *h, int *minor, enum problem *why,
	struct err *e)
{
	struct str rest = line, method, target;
	int rc;

	method = str_split(&rest, ' ');
	if (rest.p == NULL)
		return refuse(why, PROBLEM_REQUEST, e, "the request line is not METHOD PATH HTTP/1.1");
	target = str_split(&rest, ' ');
	if (rest.p == NULL)
		return refuse(why, PROBLEM_REQUEST, e, "the request line is not METHOD PATH HTTP/1.1");
	rc = take_method(method, &h->method, why, e);
	if (rc == OK)
		rc = take_version(rest, minor, why, e);
	if (rc == OK)
		rc = take_target(a, target, h, why, e);
	return rc;
}

static int take_header(struct arena *a, struct str line, struct http_header *out, enum problem *why, struct err *e)
{
	size_t colon = str_find_byte(line, ':');
	struct str name = str_upto(line, colon), value = str_trim(str_from(line, colon + 1));

	if (colon == line.n || !is_token(name))
		return refuse(why, PROBLEM_REQUEST, e, "a header line is not \"Name: value\"");
	if (!is_field_value(value))
		return refuse(why, PROBLEM_REQUEST, e, "a header's value has a control character in it");
	out->name = arena_str(a, name);
	out->value = arena_str(a, value);
	return OK;
}

static int take_headers(struct arena *a, struct str lines, struct http_head *h, enum problem *why, struct err *e)
{
	size_t at;
	int rc;

	h->headers = arena_get_array(a, HTTP_HEADERS_MAX, sizeof(*h->headers));
	if (h->headers == NULL)
		return refuse(why, PROBLEM_HEADERS_TOO_LARGE, e, "no room for the headers");
	while ((at = str_find(lines, STR("\r\n"))) != 0) {
		if (h->n_headers == HTTP_HEADERS_MAX)
			return refuse(why, PROBLEM_HEADERS_TOO_LARGE, e, "more than 100 header lines");
		rc = take_header(a, str_upto(lines, at), &h->headers[h->n_headers], why, e);
		if (rc != OK)
			return rc;
		h->n_headers++;
		lines = str_from(lines, at + 2);
	}
	return OK;
}

/* How often the header stands there, and its first value. */
static size_t count_header(const struct http_head *h, const char *name, struct str *value)
{
	size_t n = 0;

	*value = STR("");
	for (size_t i = 0; i < h->n_headers; i++)
		if (str_eq_blind(h->headers[i].name, str_of(name)) && n++ == 0)
			*value = h->headers[i].value;
	return n;
}

static bool list_has(struct str list, struct str word)
{
	while (list.p != NULL)
		if (str_eq_blind(str_trim(str_split(&list, ',')), word))
			return true;
	return false;
}

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* RFC 9112 6.3, without the parts where it lets a server guess. */
static int take_framing(struct http_head *h, int minor, enum problem *why, struct err *e)
{
	struct str length, coding;
	size_t n_length = count_header(h, "Content-Length", &length);
	size_t n_coding = count_header(h, "Transfer-Encoding", &coding);

	if (n_length > 1)
		return refuse(why, PROBLEM_REQUEST, e, "more than one Content-Length");
	if (n_length > 0 && n_coding > 0)
		return refuse(why, PROBLEM_REQUEST, e, "Content-Length and Transfer-Encoding both");
	if (n_coding > 0) {
		if (minor == 0)
			return refuse(why, PROBLEM_REQUEST, e, "Transfer-Encoding in HTTP/1.0");
		if (n_coding > 1 || !str_eq_blind(coding, STR("chunked")))
			return refuse(why, PROBLEM_NOT_IMPLEMENTED, e, "the only transfer coding known here is chunked");
		h->chunked = true;
	}
	if (n_length > 0) {
		if (!all_digits(length))
			return refuse(why, PROBLEM_REQUEST, e, "Content-Length is not a number");
		if (str_to_u64(length, &h->length) != OK)
			return refuse(why, PROBLEM_TOO_LARGE, e, "Content-Length is beyond any limit");
	}
	return OK;
}

static int take_manners(struct http_head *h, int minor, enum problem *why, struct err *e)
{
	struct str host, connection, expect;
	size_t n_host = count_header(h, "Host", &host);

	if (n_host > 1 || (minor == 1 && n_host == 0))
		return refuse(why, PROBLEM_REQUEST, e, "HTTP/1.1 needs exactly one Host header");
	count_header(h, "Connection", &connection);
	h->keep_alive = minor == 1 && !list_has(connection, STR("close"));
	h->expect_continue = count_header(h, "Expect", &expect) > 0 && minor == 1 &&
			     str_eq_blind(expect, STR("100-continue"));
	return OK;
}

int http_head_parse(struct arena *a, struct str head, struct http_head *out, enum problem *why, struct err *e)
{
	size_t line_end = str_find(head, STR("\r\n"));
	int minor = 1, rc;

	memset(out, 0, sizeof(*out));
	rc = take_request_line(a, str_upto(head, line_end), out, &minor, why, e);
	if (rc == OK)
		rc = take_headers(a, str_from(head, line_end + 2), out, why, e);
	if (rc == OK)
		rc = take_framing(out, minor, why, e);
	if (rc == OK)
		rc = take_manners(out, minor, why, e);
	if (rc == OK && arena_full(a))
		rc = refuse(why, PROBLEM_HEADERS_TOO_LARGE, e, "no room for the headers");
	return rc;
}

/* ---- chunks */

static int chunk_bad(struct err *e, const char *sentence)
{
	return err_set(e, E_FORMAT, "chunked body: %s", sentence);
}

static int chunk_size_byte(struct http_chunks *c, char b, struct err *e)
{
	int digit = hex_digit(b);

	if (digit >= 0) {
		if (++c->digits > CHUNK_DIGITS_MAX)
			return chunk_bad(e, "a chunk size of more than 8 digits");
		c->left = c->left << 4 | (unsigned)digit;
		return OK;
	}
	if (c->digits == 0 || (b != '\r' && b != ';'))
		return chunk_bad(e, "a chunk size is not hexadecimal digits");
	c->state = b == ';' ? CHUNK_EXTENSION : CHUNK_SIZE_LF;
	return OK;
}

static int chunk_extra_byte(struct http_chunks *c, char b, enum chunk_state at_cr, struct err *e)
{
	if (b == '\n')
		return chunk_bad(e, "a line that ends in a bare LF");
	if (++c->extra > CHUNK_EXTRA_MAX)
		return err_set(e, E_LIMIT, "chunked body: more than %d bytes of extensions and trailers", CHUNK_EXTRA_MAX);
	if (b == '\r')
		c->state = at_cr;
	return OK;
}

static int chunk_expect(struct http_chunks *c, char b, char want, enum chunk_state then, struct err *e)
{
	if (b != want)
		return chunk_bad(e, "CRLF is missing");
	c->state = then;
	return OK;
}

static enum chunk_state chunk_after_size(struct http_chunks *c)
{
	c->digits = 0;
	return c->left > 0 ? CHUNK_DATA : CHUNK_TRAILER;
}

static int chunk_byte(struct http_chunks *c, char b, struct err *e)
{
	switch (c->state) {
	case CHUNK_SIZE: return chunk_size_byte(c, b, e);
	case CHUNK_EXTENSION: return chunk_extra_byte(c, b, CHUNK_SIZE_LF, e);
	case CHUNK_SIZE_LF: return chunk_expect(c, b, '\n', chunk_after_size(c), e);
	case CHUNK_DATA_CR: return chunk_expect(c, b, '\r', CHUNK_DATA_LF, e);
	case CHUNK_DATA_LF: return chunk_expect(c, b, '\n', CHUNK_SIZE, e);
	case CHUNK_TRAILER:
		c->state = b == '\r' ? CHUNK_END_LF : CHUNK_TRAILER_LINE;
		return b == '\r' ? OK : chunk_extra_byte(c, b, CHUNK_TRAILER_LF, e);
	case CHUNK_TRAILER_LINE: return chunk_extra_byte(c, b, CHUNK_TRAILER_LF, e);
	case CHUNK_TRAILER_LF: return chunk_expect(c, b, '\n', CHUNK_TRAILER, e);
	case CHUNK_END_LF: return chunk_expect(c, b, '\n', CHUNK_DONE, e);
	case CHUNK_DATA:
	case CHUNK_DONE:
	case CHUNK_STATES: break;
	}
	return chunk_bad(e, "bytes behind its end");
}

static int chunk_data(struct http_chunks *c, struct str in, size_t *used, struct buf *out, struct err *e)
{
	size_t n = in.n < c->left ? in.n : (size_t)c->left;

	buf_add(out, in.p, n);
	*used = n;
	c->left -= n;
	if (c->left == 0)
		c->state = CHUNK_DATA_CR;
	return buf_finish(out, "chunked body", e);
}

int http_chunks_feed(struct http_chunks *c, struct str in, size_t *used, struct buf *out, struct err *e)
{
	int rc = OK;

	*used = 0;
	while (rc == OK && *used < in.n && c->state != CHUNK_DONE) {
		size_t n = 1;

		if (c->state == CHUNK_DATA)
			rc = chunk_data(c, str_from(in, *used), &n, out, e);
		else
			rc = chunk_byte(c, in.p[*used], e);
		*used += n;
	}
	return rc;
}
