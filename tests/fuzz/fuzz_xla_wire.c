/* What a profiler server answers: any bytes give an answer or a sentence about what is wrong with them; and any text becomes a name
 * with which a request can be made. */
#include "agent/xla_wire.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"

static void one_response(struct str in)
{
	struct xla_response rs;
	struct err e = { 0 };
	int rc = xla_wire_parse_response(in, &rs, &e);

	must(rc == OK || (rc == E_FORMAT && e.text[0] != '\0'));
	must(rc == OK || in.n > 0);
}

static void one_name(struct str in)
{
	char name[64];
	struct xla_request rq = { .root = STR("/tmp"), .session = STR("s"), .duration_ns = 1000000 };
	struct xla_response rs;
	struct buf b;

	xla_wire_name(in, name, sizeof(name));
	rq.host = str_of(name);
	buf_init(&b, XLA_REQUEST_MAX);
	must((xla_wire_put_request(&rq, &b, NULL) == OK) == (in.n > 0));
	must(xla_wire_parse_response(buf_view(&b), &rs, NULL) == OK); /* it is protobuf, whatever it says */
	buf_reset(&b);
	rq.host = in;
	if (xla_wire_put_request(&rq, &b, NULL) == OK)
		must(str_find_byte(in, '/') == in.n && str_find_byte(in, '\0') == in.n && in.p[0] != '.');
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_response(str_make(data, size));
	one_name(str_make(data, size));
	return 0;
}
