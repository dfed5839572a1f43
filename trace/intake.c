#include "trace/intake.h"

#include <string.h>

#include "base/hash.h"
#include "json/num.h"
#include "json/text.h"

/* By length first: nearly all keys of a trace pass here, and most are none of these. */
enum member member_of_event(struct str key)
{
#define IS(word) (memcmp(key.p, word, sizeof(word) - 1) == 0)
	switch (key.n) {
	case 2: return IS("ph") ? M_PH : IS("ts") ? M_TS : MEMBERS;
	case 3: return IS("pid") ? M_PID : IS("tid") ? M_TID : IS("cat") ? M_CAT : IS("dur") ? M_DUR : MEMBERS;
	case 4: return IS("name") ? M_NAME : IS("args") ? M_ARGS : MEMBERS;
	default: return MEMBERS;
	}
}

enum member member_of_args(struct str key)
{
	if (key.n != 11)
		return MEMBERS;
	return IS("External id") ? M_EXT : IS("external id") ? M_EXT_LOWER : IS("correlation") ? M_CORRELATION : MEMBERS;
#undef IS
}

void intake_init(struct intake *in, struct trace *t, struct trace_report *report)
{
	*in = (struct intake){ .trace = t, .report = report, .last_thread = INTERN_NONE };
	buf_init(&in->text, JSON_LIMITS_TRACE.token_bytes * 4);
}

void intake_fini(struct intake *in)
{
	buf_fini(&in->text);
}

void intake_begin(struct intake *in, uint64_t offset)
{
	in->offset = offset;
	in->seen = 0;
	in->any = in->timed = in->cat_known = in->bad_ts = in->bad_dur = false;
	in->start_ns = in->dur_ns = 0;
	in->later_name.p = in->later_cat.p = NULL;
}

void intake_lose(struct intake *in, enum trace_reason reason)
{
	trace_report_add(in->report, reason, 1, in->offset);
}

static void set_id(struct intake_id *id, enum json_token tok, struct str raw)
{
	size_t quotes = tok == JSON_STRING ? 1 : 0;

	raw = str_upto(raw, INTAKE_ID_MAX);
	if (raw.n)
		memcpy(id->p + quotes, raw.p, raw.n);
	if (quotes > 0)
		id->p[0] = id->p[raw.n + 1] = '"';
	id->n = raw.n + 2 * quotes;
}

static struct str id_str(const struct intake_id *id)
{
	return (struct str){ id->p, id->n };
}

static uint32_t thread_of(struct intake *in)
{
	struct str pid = intake_seen(in, M_PID) ? id_str(&in->pid) : STR("");
	struct str tid = intake_seen(in, M_TID) ? id_str(&in->tid) : STR("");

	if (in->last_thread != INTERN_NONE && str_eq(pid, id_str(&in->last_pid)) && str_eq(tid, id_str(&in->last_tid)))
		return in->last_thread;
	in->last_thread = trace_thread(in->trace, pid, tid);
	in->last_pid = in->pid;
	in->last_tid = in->tid;
	in->last_pid.n = pid.n;
	in->last_tid.n = tid.n;
	return in->last_thread;
}

/* An id is a number, or a text that stands for one; any other text is as good by its hash. */
static bool read_id(enum json_token tok, struct str raw, uint64_t *id)
{
	int64_t negative;

	if (tok != JSON_NUMBER && tok != JSON_STRING)
		return false;
	if (json_u64(raw, id) == OK)
		return true;
	if (json_i64(raw, &negative) == OK)
		*id = (uint64_t)negative;
	else
		*id = hash64(raw.p, raw.n, 0);
	return true;
}

static void set_links(const struct intake *in, struct trace_event *ev)
{
	bool has = intake_seen(in, M_EXT) || intake_seen(in, M_EXT_LOWER);

	if (!has)
		return;
	ev->ext = intake_seen(in, M_EXT) ? in->ext : in->ext_lower;
	ev->flags |= EVENT_HAS_EXT;
	if (intake_seen(in, M_CORRELATION) && ev->ext == in->correlation)
		ev->flags |= EVENT_OWN_ID;
}

/* Is it a row at all? Then, can it be used? False for the ones that are passed over. */
static bool is_wanted(struct intake *in)
{
	if (!in->any)
		trace_report_add(in->report, TRACE_EMPTY_OBJECT, 1, in->offset);
	if (!in->timed)
		return false;
	if (!intake_seen(in, M_CAT)) {
		in->cat = CAT_CPU_OP;
		in->cat_known = in->trace->bare_array;
	}
	return in->cat_known;
}

static bool is_usable(struct intake *in)
{
	int64_t end;

	if (!intake_seen(in, M_NAME)) {
		intake_lose(in, TRACE_NO_NAME);
		return false;
	}
	if (in->name == INTERN_NONE) {
		intake_lose(in, TRACE_TOO_MANY);
		return false;
	}
	if (trace_name_flags(in->trace, in->name) & NAME_DROPPED)
		return false;
	if (!intake_seen(in, M_TS)) {
		intake_lose(in, TRACE_NO_TIME);
		return false;
	}
	if (!intake_seen(in, M_DUR) || in->dur_ns < 0) {
		in->dur_ns = 0;
		if (!in->bad_dur)
			trace_report_add(in->report, TRACE_UNFINISHED, 1, in->offset);
	}
	if (in->bad_ts || in->bad_dur || __builtin_add_overflow(in->start_ns, in->dur_ns, &end)) {
		intake_lose(in, TRACE_BAD_NUMBER);
		return false;
	}
	return true;
}

static uint32_t name_id(struct intake *in, struct str raw, bool plain)
{
	if (plain)
		return trace_names_id(&in->trace->names, raw);
	buf_reset(&in->text);
	json_unescape(raw, &in->text);
	return in->text.rc != OK ? INTERN_NONE : trace_names_id(&in->trace->names, buf_view(&in->text));
}

static void take_cat(struct intake *in, enum json_token tok, struct str raw)
{
	in->cat_known = tok == JSON_STRING && event_cat_parse(raw, &in->cat);
	if (in->trace->device == NULL && in->cat_known)
		in->trace->device = event_cat_device(raw);
}

static bool read_time(enum json_token tok, struct str raw, int64_t *ns)
{
	return (tok == JSON_NUMBER || tok == JSON_STRING) && json_fixed(raw, 3, ns) == OK;
}

void intake_take(struct intake *in, enum member m, enum json_token tok, struct str raw, bool plain)
{
	uint32_t bit = 1u << m;

	if (tok == JSON_OBJECT || tok == JSON_ARRAY)
		raw = STR("");
	in->seen |= bit;
	switch (m) {
	case M_PH: in->timed = tok == JSON_STRING && str_eq(raw, STR("X")); break;
	case M_CAT: take_cat(in, tok, raw); break;
	case M_NAME:
		if (tok == JSON_STRING)
			in->name = name_id(in, raw, plain);
		else
			in->seen &= ~bit;
		break;
	case M_PID: set_id(&in->pid, tok, raw); break;
	case M_TID: set_id(&in->tid, tok, raw); break;
	case M_TS: in->bad_ts = !read_time(tok, raw, &in->start_ns); break;
	case M_DUR: in->bad_dur = !read_time(tok, raw, &in->dur_ns); break;
	case M_EXT: in->seen &= read_id(tok, raw, &in->ext) ? UINT32_MAX : ~bit; break;
	case M_EXT_LOWER: in->seen &= read_id(tok, raw, &in->ext_lower) ? UINT32_MAX : ~bit; break;
	case M_CORRELATION: in->seen &= read_id(tok, raw, &in->correlation) ? UINT32_MAX : ~bit; break;
	case M_ARGS:
	case MEMBERS: break;
	}
}

void intake_take_plain(struct intake *in, enum member m, enum json_token tok, struct str raw)
{
	if (tok == JSON_STRING && m == M_NAME)
		in->later_name = raw;
	else if (tok == JSON_STRING && m == M_CAT)
		in->later_cat = raw;
	else {
		if (m == M_NAME)
			in->later_name.p = NULL;
		if (m == M_CAT)
			in->later_cat.p = NULL;
		intake_take(in, m, tok, raw, true);
	}
}

static void look_up(struct intake *in)
{
	if (in->later_cat.p != NULL)
		intake_take(in, M_CAT, JSON_STRING, in->later_cat, true);
	if (in->later_name.p != NULL)
		intake_take(in, M_NAME, JSON_STRING, in->later_name, true);
}

void intake_finish(struct intake *in)
{
	struct trace_event *ev;
	uint32_t thread;

	look_up(in);
	if (!is_wanted(in) || !is_usable(in))
		return;
	thread = thread_of(in);
	ev = thread == INTERN_NONE ? NULL : vec_push(&in->trace->events);
	if (ev == NULL) {
		intake_lose(in, TRACE_TOO_MANY);
		return;
	}
	ev->start_ns = in->start_ns;
	ev->dur_ns = in->dur_ns;
	ev->name = in->name;
	ev->thread = thread & (EVENT_THREADS_MAX - 1);
	ev->cat = (unsigned)in->cat & 15;
	set_links(in, ev);
}
