#include "trace/xla_json.h"

#include "base/enc.h"
#include "base/hash.h"
#include "base/mem.h"
#include "json/num.h"
#include "json/text.h"
#include "trace/xla.h"

enum {
	PROCESSES_MAX = 100000,
	EVENT_BYTES_MAX = 16 << 20,
	WAITING_BYTES_MAX = 256 << 20,
	WATCH_EACH = 4096,
	PS_DIGITS = 6,
	EVENT_DEPTH = 3
};

enum slot { PH, PID, TID, TS, DUR, NAME, LABEL, OP, MODULE, RUN, PROGRAM, ORDINAL, STEP, SLOTS };

static const struct {
	struct str key;
	bool in_args;
	enum slot slot;
} keys[] = {
	{ STR("ph"), false, PH },
	{ STR("pid"), false, PID },
	{ STR("tid"), false, TID },
	{ STR("ts"), false, TS },
	{ STR("dur"), false, DUR },
	{ STR("name"), false, NAME },
	{ STR("name"), true, LABEL },
	{ STR("hlo_op"), true, OP },
	{ STR("hlo_module"), true, MODULE },
	{ STR("run_id"), true, RUN },
	{ STR("program_id"), true, PROGRAM },
	{ STR("device_ordinal"), true, ORDINAL },
	{ STR("step_num"), true, STEP },
};

struct process {
	struct str name;
	bool is_named, has_ops_line;
};
VEC(process_list, struct process);

struct reader {
	struct tokens *t;
	struct trace *trace;
	struct intern pids;	 /* → index into processes */
	struct intern lines;	 /* "pid\037tid" of threads that have a name */
	struct intern own_lines[2]; /* of those named "XLA Ops", "XLA Modules" */
	/* events whose process or line has no name yet: how many members, then each: slot, length, text; then the offset */
	struct buf waiting;
	struct process_list processes;
	/* the event at hand */
	struct arena texts;
	struct buf key;
	struct str v[SLOTS]; /* p is NULL where there is none */
	uint64_t offset;
	bool any; /* it has members */
	bool has_zero;
	int64_t zero_ns;
};

static void reader_init(struct reader *r, struct tokens *t, uint64_t max_events)
{
	*r = (struct reader){
		.t = t, .trace = mem_get(sizeof(*r->trace)), .processes = VEC_INIT(PROCESSES_MAX)
	};
	trace_init(r->trace, max_events);
	xla_begin(r->trace);
	intern_init(&r->pids, &r->trace->arena, PROCESSES_MAX);
	intern_init(&r->lines, &r->trace->arena, PROCESSES_MAX);
	for (size_t i = 0; i < COUNT(r->own_lines); i++)
		intern_init(&r->own_lines[i], &r->trace->arena, PROCESSES_MAX);
	buf_init(&r->waiting, WAITING_BYTES_MAX);
	arena_init(&r->texts, EVENT_BYTES_MAX);
	buf_init(&r->key, EVENT_BYTES_MAX);
}

static void reader_fini(struct reader *r)
{
	trace_free(r->trace);
	intern_fini(&r->pids);
	intern_fini(&r->lines);
	for (size_t i = 0; i < COUNT(r->own_lines); i++)
		intern_fini(&r->own_lines[i]);
	buf_fini(&r->waiting);
	vec_fini(&r->processes);
	arena_fini(&r->texts);
	buf_fini(&r->key);
}

static bool has(const struct reader *r, enum slot slot)
{
	return r->v[slot].p != NULL;
}

static void lose(struct reader *r, enum trace_reason reason)
{
	trace_report_add(r->t->report, reason, 1, r->offset);
}

/* ---- processes and threads */

static struct process *process_of(struct reader *r)
{
	uint32_t id = intern_id(&r->pids, has(r, PID) ? r->v[PID] : STR(""));
	struct process *p;

	if (id == INTERN_NONE ||
		id > r->processes.n) /* numbers are given in order: one before it found no room */
		return NULL;
	if (id < r->processes.n)
		return &r->processes.v[id];
	p = vec_push(&r->processes);
	if (p != NULL)
		p->name = intern_name(&r->pids, id);
	return p;
}

static struct str thread_key(struct reader *r)
{
	buf_reset(&r->key);
	buf_str(&r->key, has(r, PID) ? r->v[PID] : STR(""));
	buf_byte(&r->key, '\037');
	buf_str(&r->key, has(r, TID) ? r->v[TID] : STR(""));
	return buf_view(&r->key);
}

static void take_line(struct reader *r, struct process *p)
{
	enum xla_line line = xla_line_of(r->v[LABEL]);
	bool fits = intern_id(&r->lines, thread_key(r)) != INTERN_NONE;

	p->has_ops_line |= line == XLA_LINE_OPS;
	if (line != XLA_LINE_ANY)
		fits &= intern_id(&r->own_lines[line == XLA_LINE_MODULES], thread_key(r)) != INTERN_NONE;
	if (!fits)
		lose(r, TRACE_TOO_MANY);
}

static enum xla_line line_of(struct reader *r, const struct process *p)
{
	struct str thread = thread_key(r);

	if (intern_find(&r->own_lines[0], thread) != INTERN_NONE)
		return XLA_LINE_OPS;
	if (intern_find(&r->own_lines[1], thread) != INTERN_NONE)
		return XLA_LINE_MODULES;
	return p->has_ops_line ? XLA_LINE_BESIDE : XLA_LINE_ANY;
}

static void take_metadata(struct reader *r)
{
	struct process *p = has(r, NAME) && has(r, LABEL) ? process_of(r) : NULL;

	if (p == NULL)
		return;
	if (str_eq(r->v[NAME], STR("process_name"))) {
		p->name = arena_str(&r->trace->arena, str_upto_chars(r->v[LABEL], 100));
		p->is_named = true;
	}
	if (str_eq(r->v[NAME], STR("thread_name")))
		take_line(r, p);
}

/* What an event is depends on the name of its process, and of a device on those of its lines. */
static bool must_wait(struct reader *r)
{
	const struct process *p = process_of(r);

	if (p == NULL)
		return false;
	return !p->is_named || (xla_is_device(p->name) && intern_find(&r->lines, thread_key(r)) == INTERN_NONE);
}

/* ---- one event */

/* Of times since 1970 picoseconds do not fit: they count from the first one, in nanoseconds. */
static int start_ps(struct reader *r, struct str text, int64_t *ps)
{
	int64_t ns;
	int rc = json_nearest(text, PS_DIGITS, ps);

	if (rc != E_LIMIT)
		return rc;
	rc = json_nearest(text, 3, &ns);
	if (rc < 0)
		return rc;
	if (!r->has_zero) {
		r->has_zero = r->trace->has_base = true;
		r->zero_ns = r->trace->base_ns = ns;
	}
	return __builtin_sub_overflow(ns, r->zero_ns, &ns) || __builtin_mul_overflow(ns, INT64_C(1000), ps)
		? E_LIMIT
		: OK;
}

static uint64_t number_of(struct str text)
{
	uint64_t n;

	return json_u64(text, &n) == OK ? n : hash64(text.p, text.n, 0);
}

static bool times_of(struct reader *r, struct xla_event *ev)
{
	if (!has(r, TS)) {
		lose(r, TRACE_NO_TIME);
		return false;
	}
	if (start_ps(r, r->v[TS], &ev->start_ps) < 0 ||
		(has(r, DUR) && json_nearest(r->v[DUR], PS_DIGITS, &ev->dur_ps) < 0)) {
		lose(r, TRACE_BAD_NUMBER);
		return false;
	}
	if (has(r, DUR) && ev->dur_ps >= 0)
		return true;
	ev->dur_ps = 0;
	lose(r, TRACE_UNFINISHED);
	return true;
}

static void take_timed(struct reader *r)
{
	const struct process *p = process_of(r);
	struct xla_event ev = {
		.line = p == NULL ? XLA_LINE_ANY : line_of(r, p),
		.offset = r->offset,
		.name = r->v[NAME],
		.process = p == NULL ? STR("") : p->name,
		.thread = has(r, TID) ? r->v[TID] : STR(""),
		.hlo_op = r->v[OP],
		.hlo_module = has(r, MODULE) ? r->v[MODULE] : STR(""),
		.has_program = has(r, PROGRAM),
		.has_run = has(r, RUN),
		.has_ordinal = has(r, ORDINAL),
		.has_step = has(r, STEP),
	};

	if (p == NULL || r->key.rc != OK) {
		lose(r, TRACE_TOO_MANY);
		return;
	}
	if (!has(r, NAME)) {
		lose(r, TRACE_NO_NAME);
		return;
	}
	if (!times_of(r, &ev))
		return;
	ev.program = ev.has_program ? number_of(r->v[PROGRAM]) : 0;
	ev.run = ev.has_run ? number_of(r->v[RUN]) : 0;
	ev.ordinal = ev.has_ordinal ? number_of(r->v[ORDINAL]) : 0;
	if (!ev.has_step || json_i64(r->v[STEP], &ev.step) < 0 || ev.step < 0)
		ev.step = -1;
	xla_add(r->trace, &ev, r->t->report);
}

/* ---- events that wait for names */

static void put_number(struct buf *b, uint64_t v)
{
	uint8_t bytes[ENC_VARINT_MAX];

	buf_add(b, bytes, enc_put_varint(bytes, v));
}

static uint64_t get_number(struct str *s)
{
	uint64_t v = 0;

	*s = str_from(*s, enc_get_varint((const uint8_t *)s->p, s->n, &v));
	return v;
}

static void wait_for_names(struct reader *r)
{
	struct buf *b = &r->waiting;
	size_t before = b->n;
	uint64_t n = 0;

	for (size_t i = 0; i < SLOTS; i++)
		n += r->v[i].p != NULL;
	put_number(b, n);
	for (size_t i = 0; i < SLOTS; i++) {
		if (r->v[i].p == NULL)
			continue;
		put_number(b, i);
		put_number(b, r->v[i].n);
		buf_str(b, r->v[i]);
	}
	put_number(b, r->offset);
	if (b->rc == OK)
		return;
	buf_trim(b, before);
	lose(r, TRACE_TOO_MANY);
}

static void forget_event(struct reader *r)
{
	for (size_t i = 0; i < SLOTS; i++)
		r->v[i] = str_make(NULL, 0);
}

/* All names are there. */
static void take_waiting(struct reader *r)
{
	struct str rest = buf_view(&r->waiting);

	while (rest.n > 0) {
		uint64_t n = get_number(&rest);

		for (forget_event(r); n > 0; n--) {
			uint64_t slot = get_number(&rest), length = get_number(&rest);

			r->v[slot] = str_upto(rest, (size_t)length);
			rest = str_from(rest, (size_t)length);
		}
		r->offset = get_number(&rest);
		take_timed(r);
	}
}

/* ---- tokens */

static bool is_over(enum json_token tok)
{
	return tok == JSON_DONE || tok == JSON_ERROR;
}

static int slot_of(struct str key, bool in_args)
{
	for (size_t i = 0; i < COUNT(keys); i++)
		if (keys[i].in_args == in_args && str_eq(key, keys[i].key))
			return (int)keys[i].slot;
	return -1;
}

/* The members of an event or of its args up to the brace. The last token read: JSON_OBJECT_END, or what ended it. */
static enum json_token read_members(struct reader *r, bool in_args)
{
	struct json_value v;
	enum json_token tok;

	while ((tok = tokens_next(r->t, &v)) == JSON_KEY) {
		int slot = slot_of(v.raw, in_args);
		bool args = !in_args && str_eq(v.raw, STR("args"));

		r->any = true;
		if (slot < 0 && !args) {
			tokens_skip(r->t);
			continue;
		}
		tok = tokens_next(r->t, &v);
		if (tok == JSON_OBJECT && args)
			tok = read_members(r, true);
		else if (tok == JSON_OBJECT || tok == JSON_ARRAY)
			tokens_skip(r->t);
		else if ((tok == JSON_STRING || tok == JSON_NUMBER) && slot >= 0)
			r->v[slot] = json_unescape_to(&r->texts, v.raw);
		if (is_over(tok))
			return tok;
	}
	return tok;
}

static void take_event(struct reader *r)
{
	struct str ph = has(r, PH) ? r->v[PH] : STR("");

	if (arena_full(&r->texts))
		lose(r, TRACE_TOO_MANY);
	else if (str_eq(ph, STR("M")))
		take_metadata(r);
	else if (str_eq(ph, STR("X")) && must_wait(r))
		wait_for_names(r);
	else if (str_eq(ph, STR("X")))
		take_timed(r);
}

static enum json_token read_event(struct reader *r, uint64_t offset)
{
	enum json_token tok;

	forget_event(r);
	arena_reset(&r->texts);
	r->offset = offset;
	r->any = false;
	tok = read_members(r, false);
	if (tok == JSON_OBJECT_END && r->any)
		take_event(r);
	return tok;
}

/* The list of events, whose bracket was read. */
static enum json_token read_events(struct reader *r, const struct trace_watcher *watcher)
{
	unsigned depth = tokens_depth(r->t);
	uint64_t n = 0;

	for (;;) {
		struct json_value v;
		enum json_token tok = tokens_next(r->t, &v);

		if (tok == JSON_OBJECT)
			tok = read_event(r, v.offset);
		else if (tok == JSON_ARRAY_END || tok == JSON_DONE)
			return tok;
		else if (tok != JSON_ERROR) {
			r->offset = v.offset;
			lose(r, TRACE_BAD_EVENT);
			if (tok == JSON_ARRAY)
				tokens_skip(r->t);
		}
		if (tok == JSON_DONE || (tok == JSON_ERROR && !tokens_pass_bad(r->t, depth)))
			return tok;
		if (watcher != NULL && ++n % WATCH_EACH == 0)
			watcher->block(watcher->arg, r->t->in);
	}
}

/* Up to the list of events; then the list. False where there is none. */
static bool read_document(struct reader *r, const struct trace_watcher *watcher)
{
	struct json_value v;
	enum json_token tok = tokens_next(r->t, &v);
	bool has_events = tok == JSON_ARRAY;

	while (tok == JSON_OBJECT || tok == JSON_KEY) {
		bool events;

		tok = tokens_next(r->t, &v);
		events = tok == JSON_KEY && str_eq(v.raw, STR("traceEvents"));
		if (tok == JSON_KEY && !events)
			tokens_skip(r->t);
		if (!events)
			continue;
		tok = tokens_next(r->t, &v);
		has_events = tok == JSON_ARRAY;
	}
	if (has_events) {
		read_events(r, watcher);
		take_waiting(r);
	}
	return has_events;
}

int xla_json_tokens(struct tokens *t, uint64_t max_events, const struct trace_watcher *watcher,
	struct trace **out, struct err *e)
{
	struct reader r;
	int rc;

	*out = NULL;
	reader_init(&r, t, max_events);
	if (!read_document(&r, watcher) && t->rc == OK)
		rc = err_set(e, E_FORMAT, "this is no trace: it has no \"traceEvents\"");
	else
		rc = tokens_finish(t);
	if (rc == OK)
		rc = xla_settle(r.trace, e);
	if (rc == OK) {
		t->report->events = r.trace->events.n;
		*out = r.trace;
		r.trace = NULL;
	}
	reader_fini(&r);
	return rc;
}

int xla_json_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e)
{
	struct tokens t;
	int rc;

	*report = (struct trace_report){ 0 };
	tokens_init(&t, in, report, e);
	rc = xla_json_tokens(&t, limits->max_events, watcher, out, e);
	tokens_fini(&t);
	return rc == E_FORMAT ? err_add(e, "%s", name) : rc;
}

/* ---- which dialect */

static bool is_process_name(struct str text)
{
	return str_has_prefix(text, STR("/host:")) || xla_is_device(text);
}

/* "$train.py:12 step", and no "cat" beside it. */
static bool is_frame(struct str name)
{
	return str_has_prefix(name, STR("$")) && str_contains(name, STR(".py:"));
}

enum xla_json_answer xla_json_is(struct str head)
{
	struct json_reader *json = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
	enum xla_json_answer answer = XLA_JSON_UNKNOWN;
	enum json_token tok;
	struct json_value v;
	bool frame = false;
	struct buf key;

	buf_init(&key, JSON_LIMITS_BODY.token_bytes * 4);
	json_feed(json, head.p, head.n);
	json_feed_end(json); /* a string that ends with the head is one, too */
	while (answer == XLA_JSON_UNKNOWN && !is_over(tok = json_next(json, &v))) {
		unsigned depth = json_depth(json);
		bool in_args = depth > EVENT_DEPTH;

		if (tok == JSON_KEY && depth == EVENT_DEPTH && str_eq(json_meaning(&v, &key), STR("cat")))
			answer = XLA_JSON_NO;
		else if (tok == JSON_STRING && depth == EVENT_DEPTH)
			frame |= is_frame(v.raw);
		else if (frame && tok == JSON_OBJECT_END && depth < EVENT_DEPTH)
			answer = XLA_JSON_YES;
		else if (in_args &&
			((tok == JSON_KEY && slot_of(json_meaning(&v, &key), true) == OP) ||
				(tok == JSON_STRING && is_process_name(v.raw))))
			answer = XLA_JSON_YES;
	}
	json_reader_free(json);
	buf_fini(&key);
	return answer;
}
