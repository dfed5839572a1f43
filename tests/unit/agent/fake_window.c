/* Stands in for trace/window.c at link time: the file's text says what is in it.
 *
 *	"bad …"     no trace
 *	"empty …"   a trace without timed events
 *	"later …"   cannot be read now
 *	"part …"    a trace that ended early
 *	"step N …"  a window with one step of N milliseconds
 *	else        a window whose id is a hash of the text (and 'n' as first byte where the text starts with "never") */
#include "trace/window.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"

static void make_window(struct arena *a, const struct window_origin *origin, struct str text, struct window *out)
{
	struct hash128 *h = hash128_new();

	hash128_add_str(h, origin->agent_id);
	hash128_add_str(h, text);
	hash128_get(h, out->id);
	hash128_free(h);
	out->id[0] = str_has_prefix(text, STR("never")) ? 'n' : 'a';
	out->service = origin->service;
	out->deploy = origin->deploy;
	out->host = origin->host;
	out->worker = origin->worker;
	out->source = origin->source;
	out->start_ns = INT64_C(1790000000000000000);
	out->flags = str_has_prefix(text, STR("part")) ? WINDOW_TRUNCATED : 0;
	if (str_has_prefix(text, STR("step "))) {
		uint64_t ms = 0;
		struct str rest = str_from(text, 5);

		(void)!str_to_u64(str_split(&rest, ' '), &ms);
		out->steps = 1;
		out->dur_ns = (int64_t)ms * 1000000;
	}
	out->ops = arena_get(a, sizeof(*out->ops));
	out->n_ops = 1;
	out->ops[0] = (struct op_summary){ .kind = OP_CPU_OP, .name = STR("aten::mul"), .calls = 1, .basis = OP_BASIS_CPU };
	hist_add(&out->ops[0].hist, 0);
}

int window_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, struct window *out, struct trace_report *report, struct err *e)
{
	struct buf b;
	int rc;

	(void)limits;
	*out = (struct window){ .ops = NULL };
	*report = (struct trace_report){ .events = 1 };
	buf_init(&b, 4096);
	rc = file_read_all(path, &b, e);
	if (rc == OK && str_has_prefix(buf_view(&b), STR("bad")))
		rc = err_set(e, E_FORMAT, "no trace");
	else if (rc == OK && str_has_prefix(buf_view(&b), STR("empty")))
		rc = err_set(e, E_FORMAT, "no timed events");
	else if (rc == OK && str_has_prefix(buf_view(&b), STR("later")))
		rc = err_set(e, E_SYS, "not now");
	if (rc == OK)
		make_window(a, origin, buf_view(&b), out);
	buf_fini(&b);
	return rc;
}
