#include "agent/xla_wire.h"

#include "base/clock.h"
#include "base/pbw.h"
#include "json/text.h"
#include "trace/pb.h"

enum { OPTIONS_HOST_LEVEL = 2, OPTIONS_DEVICE_LEVEL = 3, OPTIONS_VERSION = 5, OPTIONS_DURATION = 9 };
enum { REQUEST_OPTIONS = 4, REQUEST_ROOT = 5, REQUEST_SESSION = 6, REQUEST_HOST = 7 };
enum { RESPONSE_EMPTY = 7 };
enum { DEVICE_LEVEL = 1, OPTIONS_FORM = 1 };

/* A server that reads a proto3 string refuses the whole message when it is no UTF-8. */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127)
			return false;
	return s.n > 0 && json_utf8_valid(s);
}

static bool is_name(struct str s)
{
	return is_clean(s) && s.p[0] != '.' && str_find_byte(s, '/') == s.n;
}

static int check(const struct xla_request *rq, struct err *e)
{
	if (!is_clean(rq->root) || rq->root.p[0] != '/')
		return err_set(e, E_USAGE, "folder \"%.*s\": want an absolute path in UTF-8", STR_ARG(rq->root));
	if (!is_name(rq->session) || !is_name(rq->host))
		return err_set(e, E_USAGE, "session \"%.*s\" of host \"%.*s\": want names of files", STR_ARG(rq->session),
			STR_ARG(rq->host));
	if (rq->duration_ns < NS_PER_MS)
		return err_set(e, E_USAGE, "a window of %lld ns: want 1 ms at least", (long long)rq->duration_ns);
	return OK;
}

int xla_wire_put_request(const struct xla_request *rq, struct buf *out, struct err *e)
{
	struct buf options;
	int rc = check(rq, e);

	if (rc < 0)
		return rc;
	buf_init(&options, 64);
	pbw_number(&options, OPTIONS_HOST_LEVEL, rq->host_level);
	pbw_number(&options, OPTIONS_DEVICE_LEVEL, DEVICE_LEVEL);
	pbw_number(&options, OPTIONS_VERSION, OPTIONS_FORM);
	pbw_number(&options, OPTIONS_DURATION, (uint64_t)(rq->duration_ns / NS_PER_MS));
	pbw_bytes(out, REQUEST_OPTIONS, buf_view(&options));
	pbw_bytes(out, REQUEST_ROOT, rq->root);
	pbw_bytes(out, REQUEST_SESSION, rq->session);
	pbw_bytes(out, REQUEST_HOST, rq->host);
	buf_fini(&options);
	return buf_finish(out, "request", e);
}

int xla_wire_parse_response(struct str message, struct xla_response *out, struct err *e)
{
	struct pb *p = pb_new();
	struct pb_field f = { .number = 0 };
	enum pb_token token;
	int rc = OK;

	*out = (struct xla_response){ .empty = false };
	pb_feed(p, message);
	while ((token = pb_next(p, &f)) != PB_MORE && token != PB_ERROR)
		if (token == PB_NUMBER && f.number == RESPONSE_EMPTY)
			out->empty = f.value != 0;
	if (token == PB_ERROR || !pb_is_complete(p))
		rc = err_set(e, E_FORMAT, "the answer is no ProfileResponse: no protobuf at byte %llu of %zu",
			(unsigned long long)pb_offset(p), message.n);
	pb_free(p);
	return rc;
}

void xla_wire_name(struct str text, char *out, size_t cap)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = text.n < cap - 1 ? text.n : cap - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = text.p[i] == '\0' || strchr(fine, text.p[i]) == NULL || (i == 0 && text.p[i] == '.') ? '_' : text.p[i];
	out[n] = '\0';
}
