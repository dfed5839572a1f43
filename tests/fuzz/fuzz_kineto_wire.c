/* Datagrams of libkineto: any bytes give a message that keeps its promises or a sentence about what is wrong with them; and any
 * text that is let into a configuration leaves every line of it with one '='. */
#include "agent/kineto_config.h"
#include "agent/kineto_wire.h"
#include "base/enc.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"

static void one_datagram(struct str in)
{
	struct kineto_message m;
	struct err e = { 0 };

	if (kineto_wire_parse(in, &m, &e) < 0) {
		must(e.text[0] != '\0');
		return;
	}
	must(in.n <= KINETO_DATAGRAM_MAX);
	must(enc_get64((const uint8_t *)in.p) == in.n - KINETO_HEADER);
	must(m.kind == KINETO_POLL || m.kind == KINETO_HELLO);
	must(m.n_pids >= 1 && m.n_pids <= KINETO_PIDS_MAX);
	must(m.kind != KINETO_POLL || in.n == KINETO_HEADER + 16 + 4 * m.n_pids);
}

static void one_config(struct str in)
{
	const struct kineto_window w = { .dir = STR("/tmp"), .stem = STR("s"), .custom = in, .duration_ns = 1000000 };
	struct buf b;

	buf_init(&b, KINETO_TEXT_MAX);
	if (kineto_config_write(&w, &b, NULL) == OK)
		for (struct str rest = buf_view(&b); rest.n > 0;) {
			struct str line = str_split(&rest, '\n');
			size_t equals = 0;

			for (size_t i = 0; i < line.n; i++)
				equals += line.p[i] == '=';
			must(equals == 1);
		}
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_datagram(str_make(data, size));
	one_config(str_make(data, size));
	return 0;
}
