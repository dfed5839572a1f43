#include "agent/kineto_wire.h"

#include "base/enc.h"

enum { POLL_FIXED = 16, HELLO_FIXED = 16 };

static const uint8_t *bytes(struct str s)
{
	return (const uint8_t *)s.p;
}

static int parse_poll(struct str body, struct kineto_message *out, struct err *e)
{
	int32_t n;

	if (body.n < POLL_FIXED)
		return err_set(e, E_FORMAT, "req of %zu bytes, want %d at least", body.n, POLL_FIXED);
	n = (int32_t)enc_get32(bytes(body) + 4);
	if (n < 1)
		return err_set(e, E_FORMAT, "req with %d pids, want 1 at least", n);
	if (n > KINETO_PIDS_MAX)
		return err_set(e, E_LIMIT, "req with %d pids, want %d at most", n, KINETO_PIDS_MAX);
	if (body.n != POLL_FIXED + 4 * (size_t)n)
		return err_set(e, E_FORMAT, "req of %zu bytes with %d pids, want %zu", body.n, n,
			POLL_FIXED + 4 * (size_t)n);
	out->kind = KINETO_POLL;
	out->can = enc_get32(bytes(body));
	out->job = (int64_t)enc_get64(bytes(body) + 8);
	out->n_pids = (size_t)n;
	for (size_t i = 0; i < out->n_pids; i++)
		out->pids[i] = (int32_t)enc_get32(bytes(body) + POLL_FIXED + 4 * i);
	return OK;
}

static int parse_hello(struct str body, struct kineto_message *out, struct err *e)
{
	if (body.n != HELLO_FIXED)
		return err_set(e, E_FORMAT, "ctxt of %zu bytes, want %d", body.n, HELLO_FIXED);
	out->kind = KINETO_HELLO;
	out->pids[0] = (int32_t)enc_get32(bytes(body) + 4);
	out->n_pids = 1;
	out->job = (int64_t)enc_get64(bytes(body) + 8);
	return OK;
}

static const struct {
	struct str type;
	int (*parse)(struct str body, struct kineto_message *out, struct err *e);
} types[] = {
	{ { "req", 3 }, parse_poll },
	{ { "ctxt", 4 }, parse_hello },
};

int kineto_wire_parse(struct str datagram, struct kineto_message *out, struct err *e)
{
	struct str type, body;

	*out = (struct kineto_message){ .kind = KINETO_KINDS };
	if (datagram.n < KINETO_HEADER)
		return err_set(e, E_FORMAT, "%zu bytes, want a header of %d", datagram.n, KINETO_HEADER);
	body = str_from(datagram, KINETO_HEADER);
	if (enc_get64(bytes(datagram)) != body.n)
		return err_set(e, E_FORMAT, "header says %llu bytes of payload, there are %zu",
			(unsigned long long)enc_get64(bytes(datagram)), body.n);
	type = str_make(datagram.p + 8, KINETO_TYPE);
	type = str_upto(type, str_find_byte(type, '\0'));
	for (size_t i = 0; i < COUNT(types); i++)
		if (str_eq(type, types[i].type))
			return types[i].parse(body, out, e);
	return err_set(e, E_UNSUPPORTED, "neither req nor ctxt");
}

static void put(struct buf *out, struct str type, struct str payload)
{
	uint8_t size[8];

	enc_put64(size, payload.n);
	buf_add(out, size, sizeof(size));
	buf_str(out, type);
	buf_fill(out, 0, KINETO_TYPE - type.n);
	buf_str(out, payload);
}

void kineto_wire_put_config(struct buf *out, struct str text)
{
	put(out, STR("req"), text);
}

void kineto_wire_put_count(struct buf *out, int32_t processes)
{
	uint8_t count[4];

	enc_put32(count, (uint32_t)processes);
	put(out, STR("ctxt"), str_make(count, sizeof(count)));
}
