#include "trace/intake.h"

#include <string.h>

#include "base/enc.h"
#include "base/hash.h"
#include "json/num.h"
#include "json/text.h"
#include "trace/device_use.h"
#include "trace/launch_delay.h"
#include "trace/memory.h"

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

static enum member member_besides(unsigned want, struct str key)
{
	if ((want & TRACE_SHAPES) && key.n == 10 && IS("Input Dims"))
		return M_DIMS;
	if ((want & TRACE_COPIES) && key.n == 5 && IS("bytes"))
		return M_COPIED;
	if (!(want & TRACE_MEMORY))
		return MEMBERS;
	return key.n == 5 && IS("Bytes") ? M_BYTES : key.n == 11 && IS("Device Type") ? M_DEVICE_TYPE : MEMBERS;
}

enum member member_of_args(const struct intake *in, struct str key)
{
	if (key.n == 11 && IS("External id"))
		return M_EXT;
	if (key.n == 11 && IS("external id"))
		return M_EXT_LOWER;
	if (key.n == 11 && IS("correlation"))
		return M_CORRELATION;
	return in->trace->want == 0 ? MEMBERS : member_besides(in->trace->want, key);
#undef IS
}

void intake_init(struct intake *in, struct trace *t, struct trace_report *report)
{
	*in = (struct intake){ .trace = t, .report = report };
	for (unsigned i = 0; i < INTAKE_THREADS; i++)
		in->recent[i].thread = INTERN_NONE;
	buf_init(&in->text, JSON_LIMITS_TRACE.token_bytes * 4);
	buf_init(&in->aside, JSON_LIMITS_TRACE.token_bytes);
	buf_init(&in->dims, JSON_LIMITS_TRACE.token_bytes);
}

void intake_fini(struct intake *in)
{
	buf_fini(&in->text);
	buf_fini(&in->aside);
	buf_fini(&in->dims);
}

void intake_begin(struct intake *in, uint64_t offset)
{
	in->offset = offset;
	in->seen = 0;
	in->wants = true;
	in->any = in->timed = in->instant = in->cat_known = in->bad_ts = in->bad_dur = in->name_aside = false;
	in->start_ns = in->dur_ns = 0;
	in->device = NULL;
	in->later_name.p = in->later_cat.p = in->later_pid.p = in->later_tid.p = NULL;
}

void intake_args(struct intake *in)
{
	in->seen &= (1u << M_EXT) - 1;
	in->seen |= 1u << M_ARGS;
}

void intake_lose(struct intake *in, enum trace_reason reason)
{
	trace_report_add(in->report, reason, 1, in->offset);
}

/* A longer text keeps its start, and the hash of all of it. */
static struct str short_id(struct str raw, char *scratch)
{
	const size_t start = INTAKE_ID_MAX - 2 * sizeof(uint64_t);
	uint8_t hash[sizeof(uint64_t)];

	if (raw.n <= INTAKE_ID_MAX)
		return raw;
	enc_put64(hash, hash64(raw.p, raw.n, 0));
	memcpy(scratch, raw.p, start);
	enc_hex(hash, sizeof(hash), scratch + start);
	return str_make(scratch, INTAKE_ID_MAX);
}

static void set_id(struct intake_id *id, enum json_token tok, struct str raw)
{
	size_t quotes = tok == JSON_STRING ? 1 : 0;
	char scratch[INTAKE_ID_MAX + 1];

	raw = short_id(raw, scratch);
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

static void keep_id(struct intake_id *id, struct str text)
{
	id->n = text.n;
	if (text.n > 0)
		memcpy(id->p, text.p, text.n);
}

static uint32_t thread_of(struct intake *in)
{
	struct str pid = in->later_pid.p != NULL ? in->later_pid : intake_seen(in, M_PID) ? id_str(&in->pid) : STR("");
	struct str tid = in->later_tid.p != NULL ? in->later_tid : intake_seen(in, M_TID) ? id_str(&in->tid) : STR("");
	struct intake_thread *r;

	for (unsigned i = 0; i < INTAKE_THREADS; i++) {
		unsigned at = (in->newest + i) % INTAKE_THREADS;

		r = &in->recent[at];
		if (r->thread != INTERN_NONE && str_eq(tid, id_str(&r->tid)) && str_eq(pid, id_str(&r->pid))) {
			in->newest = at;
			return r->thread;
		}
	}
	in->newest = (in->newest + INTAKE_THREADS - 1) % INTAKE_THREADS;
	r = &in->recent[in->newest];
	keep_id(&r->pid, pid);
	keep_id(&r->tid, tid);
	r->thread = trace_thread(in->trace, pid, tid);
	return r->thread;
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

static void take_name(struct intake *in, struct str raw, bool plain)
{
	in->name_aside = !in->wants;
	if (in->wants) {
		in->name = name_id(in, raw, plain);
		return;
	}
	in->aside_plain = plain;
	buf_reset(&in->aside);
	buf_str(&in->aside, raw);
}

static struct str unescaped(struct intake *in, struct str raw)
{
	buf_reset(&in->text);
	json_unescape(raw, &in->text);
	return in->text.rc == OK ? buf_view(&in->text) : STR("");
}

static void take_cat(struct intake *in, enum json_token tok, struct str raw)
{
	in->cat_known = tok == JSON_STRING && event_cat_parse(raw, &in->cat);
	in->device = NULL;
	if (in->trace->device == NULL && in->cat_known && in->cat != CAT_CPU_OP && in->cat != CAT_PYTHON)
		in->device = event_cat_device(raw);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What is a number to most readers, but none of JSON's: " 1", "+1", "007", ".5", "1." */
static int loose_nearest(struct str raw, int64_t *ns)
{
	char text[64];
	size_t n = 0;
	bool minus;

	raw = str_trim(raw);
	minus = str_drop_prefix(&raw, STR("-"));
	if (!minus)
		str_drop_prefix(&raw, STR("+"));
	while (raw.n > 1 && raw.p[0] == '0' && is_digit(raw.p[1]))
		raw = str_from(raw, 1);
	if (raw.n == 0 || raw.n > sizeof(text) - 3 || str_eq(raw, STR(".")))
		return E_FORMAT;
	if (minus)
		text[n++] = '-';
	if (raw.p[0] == '.')
		text[n++] = '0';
	memcpy(text + n, raw.p, raw.n);
	n += raw.n;
	if (text[n - 1] == '.')
		n--;
	return json_nearest(str_make(text, n), 3, ns);
}

static bool read_time(enum json_token tok, struct str raw, int64_t *ns)
{
	int rc = tok == JSON_NUMBER || tok == JSON_STRING ? json_nearest(raw, 3, ns) : E_NOT_FOUND;

	return rc == OK || (rc == E_FORMAT && loose_nearest(raw, ns) == OK);
}

static bool read_i64(enum json_token tok, struct str raw, int64_t *v)
{
	return (tok == JSON_NUMBER || tok == JSON_STRING) && json_i64(raw, v) == OK;
}

static void take_phase(struct intake *in, enum json_token tok, struct str raw)
{
	bool timed = tok == JSON_STRING && str_eq(raw, STR("X"));
	bool instant = (in->trace->want & TRACE_MEMORY) && tok == JSON_STRING && str_eq(raw, STR("i"));

	in->timed = timed;
	in->instant = instant;
	in->wants = timed || instant;
}

void intake_take(struct intake *in, enum member m, enum json_token tok, struct str raw, bool plain)
{
	uint32_t bit = 1u << m;

	if (tok == JSON_OBJECT || tok == JSON_ARRAY)
		raw = STR("");
	else if (!plain && tok == JSON_STRING && m != M_NAME)
		raw = unescaped(in, raw);
	in->seen |= bit;
	switch (m) {
	case M_PH: take_phase(in, tok, raw); break;
	case M_CAT: take_cat(in, tok, raw); break;
	case M_NAME:
		if (tok == JSON_STRING)
			take_name(in, raw, plain);
		else
			in->seen &= ~bit;
		break;
	case M_PID:
	case M_TID:
		if (tok == JSON_NULL)
			in->seen &= ~bit; /* as good as none */
		else
			set_id(m == M_PID ? &in->pid : &in->tid, tok, raw);
		break;
	case M_TS: in->bad_ts = !read_time(tok, raw, &in->start_ns); break;
	case M_DUR: in->bad_dur = !read_time(tok, raw, &in->dur_ns); break;
	case M_EXT: in->seen &= read_id(tok, raw, &in->ext) ? UINT32_MAX : ~bit; break;
	case M_EXT_LOWER: in->seen &= read_id(tok, raw, &in->ext_lower) ? UINT32_MAX : ~bit; break;
	case M_CORRELATION: in->seen &= read_id(tok, raw, &in->correlation) ? UINT32_MAX : ~bit; break;
	case M_BYTES: in->seen &= read_i64(tok, raw, &in->bytes) ? UINT32_MAX : ~bit; break;
	case M_DEVICE_TYPE: in->seen &= read_i64(tok, raw, &in->device_type) ? UINT32_MAX : ~bit; break;
	case M_COPIED: in->seen &= read_i64(tok, raw, &in->copied) ? UINT32_MAX : ~bit; break;
	case M_DIMS: in->seen &= ~bit; break; /* no list: as good as none */
	case M_ARGS:
	case MEMBERS: break;
	}
}

/* Where the value of a member waits until the event is whole; NULL for those that are taken at once. */
static struct str *later(struct intake *in, enum member m)
{
	switch ((int)m) {
	case M_NAME: return &in->later_name;
	case M_CAT: return &in->later_cat;
	case M_PID: return &in->later_pid;
	case M_TID: return &in->later_tid;
	default: return NULL;
	}
}

void intake_take_plain(struct intake *in, enum member m, enum json_token tok, struct str raw)
{
	struct str *wait = later(in, m);
	enum json_token waits = m == M_PID || m == M_TID ? JSON_NUMBER : JSON_STRING;

	if (wait == NULL) {
		intake_take(in, m, tok, raw, true);
	} else if (tok == waits && (waits == JSON_STRING || raw.n <= INTAKE_ID_MAX)) {
		*wait = raw;
	} else {
		wait->p = NULL;
		intake_take(in, m, tok, raw, true);
	}
}

static void look_up(struct intake *in)
{
	if (in->later_cat.p != NULL)
		intake_take(in, M_CAT, JSON_STRING, in->later_cat, true);
	if (in->later_name.p != NULL)
		intake_take(in, M_NAME, JSON_STRING, in->later_name, true);
	else if (in->name_aside && in->wants)
		in->name = in->aside.rc != OK ? INTERN_NONE : name_id(in, buf_view(&in->aside), in->aside_plain);
}

/* ---- shapes */

static void dims_item(struct intake *in)
{
	if (in->dims.n > 0 && in->dims.p[in->dims.n - 1] != '[')
		buf_text(&in->dims, ", ");
}

void intake_dims_begin(struct intake *in)
{
	buf_reset(&in->dims);
	buf_byte(&in->dims, '[');
	in->dims_depth = 1;
}

bool intake_dims(struct intake *in, enum json_token tok, struct str raw)
{
	static const char *const fixed[JSON_TOKENS] = {
		[JSON_OBJECT] = "{}", [JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null",
	};

	if (tok == JSON_ARRAY_END) {
		buf_byte(&in->dims, ']');
		in->dims_depth--;
		in->seen |= in->dims_depth == 0 ? 1u << M_DIMS : 0;
		return in->dims_depth == 0;
	}
	dims_item(in);
	if (tok == JSON_ARRAY) {
		buf_byte(&in->dims, '[');
		in->dims_depth++;
	} else if (tok == JSON_STRING) {
		buf_byte(&in->dims, '"');
		buf_str(&in->dims, raw);
		buf_byte(&in->dims, '"');
	} else if (tok == JSON_NUMBER) {
		buf_str(&in->dims, raw);
	} else if (fixed[tok] != NULL) {
		buf_text(&in->dims, fixed[tok]);
	}
	return false;
}

static bool is_whole(struct str number)
{
	str_drop_prefix(&number, STR("-"));
	return number.n > 0 && (number.n == 1 || number.p[0] != '0') && str_find_byte(number, '-') == number.n;
}

static size_t whole_ends(struct str raw, size_t at)
{
	while (at < raw.n && ((raw.p[at] >= '0' && raw.p[at] <= '9') || raw.p[at] == '-'))
		at++;
	return at;
}

bool intake_dims_text(struct intake *in, struct str raw)
{
	char last = ','; /* what came last: one of [ , and v, which is a value */

	buf_reset(&in->dims);
	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];
		size_t end = whole_ends(raw, i);

		if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
			continue;
		if (c == ',' ? last != 'v' : c == ']' ? last == ',' : last == 'v')
			return false;
		if (c != ',' && c != ']')
			dims_item(in);
		if (end > i && !is_whole(str_make(raw.p + i, end - i)))
			return false;
		if (end > i)
			buf_str(&in->dims, str_make(raw.p + i, end - i));
		else if (c == '[' || c == ']')
			buf_byte(&in->dims, c);
		else if (c != ',')
			return false;
		last = c == '[' || c == ',' ? c : 'v';
		i = end > i ? end - 1 : i;
	}
	in->seen |= 1u << M_DIMS;
	return in->dims.rc == OK;
}

static bool keep_dims(struct intake *in)
{
	struct trace *t = in->trace;
	uint32_t *of = vec_push(&t->dims_of), id;

	if (of == NULL)
		return false;
	if (!intake_seen(in, M_DIMS))
		return true;
	id = in->dims.rc == OK ? intern_id(&t->dims, buf_view(&in->dims)) : INTERN_NONE;
	*of = id == INTERN_NONE ? 0 : id + 1;
	t->dims_of.n -= id == INTERN_NONE;
	return id != INTERN_NONE;
}

/* ---- the event is whole */

/* An instant: kept where it is an allocation. */
static void finish_instant(struct intake *in)
{
	if (!intake_seen(in, M_NAME) || in->name == INTERN_NONE ||
		!str_eq(trace_name(in->trace, in->name), STR("[memory]")))
		return;
	if (!intake_seen(in, M_TS))
		intake_lose(in, TRACE_NO_TIME);
	else if (in->bad_ts || !intake_seen(in, M_BYTES))
		intake_lose(in, TRACE_BAD_NUMBER);
	else if (!memory_add(in->trace, in->start_ns, intake_seen(in, M_DEVICE_TYPE) ? in->device_type : 0, in->bytes))
		intake_lose(in, TRACE_TOO_MANY);
}

static void count_copied(const struct intake *in)
{
	uint64_t *sum = &in->trace->copy_bytes[copy_direction(trace_name(in->trace, in->name))];

	if (in->copied > 0 && __builtin_add_overflow(*sum, (uint64_t)in->copied, sum))
		*sum = UINT64_MAX;
}

static void note_delay(struct intake *in, const struct trace_event *ev)
{
	const struct event_cat_info *info = event_info(ev);
	struct trace *t = in->trace;

	if (!info->launcher && !info->executes)
		return;
	if (t->delays == NULL)
		t->delays = launch_delays_new();
	if (info->launcher)
		launch_delays_call(t->delays, in->correlation, ev->start_ns);
	else
		launch_delays_device(t->delays, in->correlation, ev->start_ns);
}

void intake_finish(struct intake *in)
{
	struct trace_event *ev;
	uint32_t thread;

	look_up(in);
	if (in->instant) {
		finish_instant(in);
		return;
	}
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
	if (in->device != NULL)
		in->trace->device = in->device;
	set_links(in, ev);
	if (ev->cat == CAT_MEMCPY && intake_seen(in, M_COPIED))
		count_copied(in);
	if ((in->trace->want & TRACE_SHAPES) && !keep_dims(in)) {
		in->trace->events.n--;
		intake_lose(in, TRACE_TOO_MANY);
		return;
	}
	if ((in->trace->want & TRACE_DELAYS) && intake_seen(in, M_CORRELATION) && in->correlation != 0)
		note_delay(in, ev);
	if ((trace_name_flags(in->trace, ev->name) & NAME_STEP) && !trace_note_step(in->trace, ev))
		intake_lose(in, TRACE_TOO_MANY);
}
