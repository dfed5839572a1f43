#include "net/grpc_client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/enc.h"

enum { FRAME_HEAD = 5, STATUS_MAX = 1000, ADDRESS_MAX = 64 };

static void put_frame(struct buf *out, struct str message)
{
	uint32_t n = htonl((uint32_t)message.n);

	buf_byte(out, 0);
	buf_add(out, &n, sizeof(n));
	buf_str(out, message);
}

/* One message, whole and not compressed. */
static int take_frame(struct str body, struct buf *out, struct err *e)
{
	uint32_t n;

	if (body.n < FRAME_HEAD)
		return err_set(e, E_FORMAT, "status 0 without a message: %zu bytes, want %d at least", body.n, FRAME_HEAD);
	if (body.p[0] != 0)
		return err_set(e, E_FORMAT, "the message is compressed (flag %d), which was not asked for", body.p[0]);
	memcpy(&n, body.p + 1, sizeof(n));
	n = ntohl(n);
	if (n != body.n - FRAME_HEAD)
		return err_set(e, E_FORMAT, "the message should have %u bytes, and %zu came", n, body.n - FRAME_HEAD);
	buf_str(out, str_from(body, FRAME_HEAD));
	return buf_finish(out, "message", e);
}

/* The value of the last field of that name; names are lower-case in HTTP/2. */
static bool last_field(struct str fields, struct str name, struct str *value)
{
	bool found = false;

	for (struct str rest = fields; rest.p != NULL;) {
		struct str line = str_split(&rest, '\n');

		if (!str_drop_prefix(&line, name) || !str_drop_prefix(&line, STR(":")))
			continue;
		*value = str_trim(line);
		found = true;
	}
	return found;
}

/* What is no %XX stays as it is, as the specification has it. */
static void decode_text(struct str s, char *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n + 1 < cap; i++) {
		int high = i + 2 < s.n && s.p[i] == '%' ? enc_hex_digit(s.p[i + 1]) : -1;
		int low = high < 0 ? -1 : enc_hex_digit(s.p[i + 2]);

		out[n++] = (char)(low < 0 ? s.p[i] : high << 4 | low);
		if (low >= 0)
			i += 2;
	}
	out[str_tame(out, n, out)] = '\0';
}

static int take_status(const struct http_answer *an, struct grpc_answer *out, struct err *e)
{
	struct str value = STR(""), text = STR("");
	uint64_t status;
	int rc = buf_finish(&an->fields, "header fields", e);

	if (rc < 0)
		return rc;
	if (an->status != 200)
		return err_set(e, E_FORMAT, "HTTP status %d, want 200", an->status);
	if (!str_has_prefix(str_of(an->content_type), STR("application/grpc")))
		return err_set(e, E_FORMAT, "content-type \"%s\", want application/grpc", an->content_type);
	if (!last_field(buf_view(&an->fields), STR("grpc-status"), &value)) {
		out->failure = HTTP_BROKEN; /* a server that is shut down hangs up like this */
		return err_set(e, E_NET, "the answer ended without a grpc-status");
	}
	if (str_to_u64(value, &status) < 0 || status > STATUS_MAX)
		return err_set(e, E_FORMAT, "grpc-status \"%.*s\": want a number", STR_ARG(str_upto(value, 40)));
	if (last_field(buf_view(&an->fields), STR("grpc-message"), &text))
		decode_text(text, out->text, sizeof(out->text));
	out->status = (int)status;
	return OK;
}

static int take_answer(const struct http_answer *an, struct grpc_answer *out, struct err *e)
{
	int rc = take_status(an, out, e);

	if (rc == OK && out->status == GRPC_OK)
		rc = take_frame(buf_view(&an->body), &out->message, e);
	if (rc < 0 && out->failure == HTTP_ANSWERED)
		out->failure = HTTP_STRANGE;
	return rc;
}

static int exchange(struct http_client *c, const struct grpc_ask *ask, struct str body, struct grpc_answer *out, struct err *e)
{
	char url[256];
	const struct http_ask post = { .method = "POST", .url = url, .body = body, .content_type = "application/grpc",
		.header = "TE: trailers", .http2 = true, .thread = ask->thread };
	const struct http_answer *an = NULL;
	int rc;

	if (snprintf(url, sizeof(url), "http://%s%s", ask->address, ask->path) >= (int)sizeof(url))
		return err_set(e, E_USAGE, "path longer than %zu bytes", sizeof(url));
	rc = http_exchange(c, &post, &an, e);
	out->failure = http_failure(c);
	if (rc < 0)
		return rc;
	rc = take_answer(an, out, e);
	return rc < 0 ? err_add(e, "%s", ask->address) : OK;
}

int grpc_call(const struct grpc_ask *ask, struct grpc_answer *out, struct err *e)
{
	const struct http_client_settings set = { .connect_ns = ask->connect_ns, .total_ns = ask->total_ns,
		.max_answer_bytes = ask->max_answer_bytes + FRAME_HEAD };
	struct http_client *c = NULL;
	struct buf body;
	int rc;

	*out = (struct grpc_answer){ .failure = HTTP_MISUSED };
	buf_init(&out->message, ask->max_answer_bytes);
	buf_init(&body, ask->message.n + FRAME_HEAD);
	rc = grpc_address_check(str_of(ask->address), e);
	if (rc == OK)
		rc = http_client_open(&c, &set, e);
	if (rc < 0)
		goto out;
	put_frame(&body, ask->message);
	rc = buf_finish(&body, "message", e);
	if (rc == OK)
		rc = exchange(c, ask, buf_view(&body), out, e);
out:
	http_client_close(c); /* and its connection: nothing stays open in a job between two calls */
	buf_fini(&body);
	return rc;
}

void grpc_answer_fini(struct grpc_answer *a)
{
	buf_fini(&a->message);
}

static bool is_loopback(struct str host)
{
	struct in6_addr six;
	struct in_addr four;
	char text[ADDRESS_MAX];

	if (str_drop_prefix(&host, STR("[")) && str_drop_suffix(&host, STR("]")))
		return str_copy_to(host, text, sizeof(text)) && inet_pton(AF_INET6, text, &six) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&six);
	return str_copy_to(host, text, sizeof(text)) && inet_pton(AF_INET, text, &four) == 1 && ntohl(four.s_addr) >> 24 == 127;
}

int grpc_address_check(struct str address, struct err *e)
{
	size_t colon = address.n;
	uint64_t port = 0;

	while (colon > 0 && address.p[colon - 1] != ':')
		colon--;
	if (colon == 0 || str_to_u64(str_from(address, colon), &port) < 0 || port < 1 || port > 65535)
		return err_set(e, E_USAGE, "\"%.*s\": want an address of this machine with a port, as 127.0.0.1:9012",
			STR_ARG(address));
	if (!is_loopback(str_upto(address, colon - 1)))
		return err_set(e, E_USAGE, "\"%.*s\": want an address of this machine: 127.0.0.1 or [::1] before the port; "
			"nothing guards what is said over a network", STR_ARG(address));
	return OK;
}
