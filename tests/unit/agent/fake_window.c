/* Stands in for trace/window.c at link time: the file's text says what is in it.
 *
 *	"bad …"     no trace
 *	"empty …"   a trace without timed events
 *	"later …"   cannot be read now
 *	"part …"    a trace that ended early
 *	"step N …"  a window with one step of N milliseconds
 *	"tar a|b…"  an archive of such texts: PATH:0, PATH:1, …; "cut a|b" one that is damaged
 *	"big …"     past a limit
 *	else        a window whose id is a hash of the text (and 'n' as first byte where the text starts with "never") */
#include "trace/window.h"

#include <limits.h>
#include <stdio.h>
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

static int read_text(struct arena *a, const struct window_origin *origin, struct str text, struct window *out, struct err *e)
{
	*out = (struct window){ .ops = NULL };
	if (str_has_prefix(text, STR("bad")))
		return err_set(e, E_FORMAT, "no trace");
	if (str_has_prefix(text, STR("empty")))
		return err_set(e, E_FORMAT, "no timed events");
	if (str_has_prefix(text, STR("later")))
		return err_set(e, E_SYS, "not now");
	if (str_has_prefix(text, STR("big")))
		return err_set(e, E_LIMIT, "too many events");
	make_window(a, origin, text, out);
	return OK;
}

static int hand_on(struct arena *a, const struct window_origin *origin, const char *name, struct str text,
	const struct window_visit *visit, struct err *e)
{
	const struct trace_report report = { .events = 1 };
	struct err why = { 0 };
	struct window w;
	bool good = read_text(a, origin, text, &w, &why) == OK;

	return visit->window(visit->arg, name, good ? &w : NULL, &report, &why, e);
}

int windows_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, const struct window_visit *visit, struct err *e)
{
	struct str rest;
	struct buf b;
	int rc, n = 0;
	bool cut;

	(void)limits;
	buf_init(&b, 1 << 20);
	rc = file_read_all(path, &b, e);
	rest = buf_view(&b);
	cut = str_drop_prefix(&rest, STR("cut "));
	if (rc == OK && !cut && !str_drop_prefix(&rest, STR("tar "))) {
		rc = hand_on(a, origin, path, rest, visit, e);
		rest.p = NULL;
	}
	while (rc == OK && rest.p != NULL) {
		struct str text = str_split(&rest, '|');
		char name[PATH_MAX];

		snprintf(name, sizeof(name), "%s:%d", path, n++);
		rc = n > 1 && visit->between != NULL ? visit->between(visit->arg, e) : OK;
		if (rc == OK)
			rc = hand_on(a, origin, name, text, visit, e);
	}
	if (rc == OK && cut)
		rc = err_set(e, E_FORMAT, "%s: the archive is damaged", path);
	buf_fini(&b);
	return rc;
}
