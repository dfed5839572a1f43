#include "trace/reader.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/num.h"
#include "json/pull.h"
#include "json/text.h"

enum { ID_TEXT_MAX = 64 }; /* of a pid or tid */

/* Where in the document the next token stands. */
enum place {
	AT_TOP,		/* before anything */
	IN_HEADER,	/* key of the outermost object */
	HEADER_VALUE,	/* value of r->header */
	IN_DISTRIBUTED, /* key of distributedInfo */
	RANK_VALUE,
	EVENTS_VALUE, /* value of traceEvents */
	IN_EVENTS,    /* next event */
	IN_EVENT,     /* key of an event */
	EVENT_VALUE,  /* value of r->field */
	IN_ARGS,
	ARGS_VALUE, /* value of r->field */
	AT_END,	 /* behind the document, where only white space may be */
	STOPPED, /* whatever comes is not looked at */
	PLACES
};

/* What of an event is read, and whether its value stands in args. */
enum field { F_PH, F_CAT, F_NAME, F_PID, F_TID, F_TS, F_DUR, F_ARGS, F_EXT, F_EXT_LOWER, F_CORRELATION, FIELDS };

static const struct {
	struct str key;
	enum field field;
} event_keys[] = {
	{ STR("ph"), F_PH },   { STR("ts"), F_TS },   { STR("pid"), F_PID },   { STR("tid"), F_TID },
	{ STR("cat"), F_CAT }, { STR("dur"), F_DUR }, { STR("name"), F_NAME }, { STR("args"), F_ARGS },
};

static const struct {
	struct str key;
	enum field field;
} args_keys[] = {
	{ STR("External id"), F_EXT },
	{ STR("external id"), F_EXT_LOWER },
	{ STR("correlation"), F_CORRELATION },
};

/* Header keys that tell what made the trace, and what the window calls them. */
static const struct {
	struct str key;
	const char *version;
} version_keys[] = {
	{ STR("torch_version"), "torch" },
	{ STR("pytorch_version"), "torch" },
	{ STR("cuda_runtime_version"), "runtime" },
	{ STR("cuda_driver_version"), "driver" },
	{ STR("hip_runtime_version"), "runtime" },
	{ STR("hip_driver_version"), "driver" },
	{ STR("neuron_runtime_version"), "runtime" },
	{ STR("neuron_driver_version"), "driver" },
	{ STR("neuronx_cc_version"), "compiler" },
	{ STR("neuron_compiler_version"), "compiler" },
	{ STR("cupti_version"), "profiler" },
	{ STR("roctracer_version"), "profiler" },
};

enum header { H_BASE, H_HOST, H_VERSION };

/* One event while its members come in. */
struct draft {
	uint64_t offset;
	uint32_t seen; /* one bit a field */
	bool any;      /* it has members */
	bool timed;    /* ph is X */
	bool cat_known, bad_ts, bad_dur;
	enum event_cat cat;
	uint32_t name;
	int64_t start_ns, dur_ns;
	uint64_t ext, ext_lower, correlation;
};

struct id_text { /* a pid or tid as it stands in the file */
	char p[ID_TEXT_MAX + 2];
	size_t n;
};

struct trace_reader {
	struct json_reader *json;
	struct trace *trace;
	struct trace_report report;
	struct buf text; /* a name without its escapes */
	enum place place;
	enum field field;
	enum header header;
	struct str version; /* key of H_VERSION, static */
	unsigned events_depth;
	bool fed; /* there was at least a byte */
	bool has_events, events_closed;
	bool has_object; /* at least one event was an object */
	uint64_t last_error; /* offset of the last text that was no JSON */
	struct draft draft;
	struct id_text pid, tid, last_pid, last_tid;
	uint32_t last_thread;
};

struct trace_reader *trace_reader_new(uint64_t max_events)
{
	struct trace_reader *r = mem_get(sizeof(*r));

	r->json = json_reader_new(JSON_TOLERANT, JSON_LIMITS_TRACE);
	r->trace = mem_get(sizeof(*r->trace));
	trace_init(r->trace, max_events);
	buf_init(&r->text, JSON_LIMITS_TRACE.token_bytes * 4);
	r->last_thread = INTERN_NONE;
	r->last_error = UINT64_MAX;
	return r;
}

void trace_free(struct trace *t)
{
	trace_fini(t);
	mem_free(t);
}

void trace_reader_free(struct trace_reader *r)
{
	if (r == NULL)
		return;
	json_reader_free(r->json);
	trace_free(r->trace);
	buf_fini(&r->text);
	mem_free(r);
}

static void lose(struct trace_reader *r, enum trace_reason reason)
{
	trace_report_add(&r->report, reason, 1, r->draft.offset);
}

/* ---- one event */
static bool seen(const struct draft *d, enum field f)
{
	return (d->seen & 1u << f) != 0;
}

static void set_id(struct id_text *id, enum json_token tok, struct str raw)
{
	size_t quotes = tok == JSON_STRING ? 1 : 0;

	raw = str_upto(raw, ID_TEXT_MAX);
	if (raw.n)
		memcpy(id->p + quotes, raw.p, raw.n);
	if (quotes > 0)
		id->p[0] = id->p[raw.n + 1] = '"';
	id->n = raw.n + 2 * quotes;
}

static struct str id_str(const struct id_text *id)
{
	return (struct str){ id->p, id->n };
}

/* The same thread mostly comes many times in a row. */
static uint32_t thread_of(struct trace_reader *r)
{
	struct str pid = seen(&r->draft, F_PID) ? id_str(&r->pid) : STR("");
	struct str tid = seen(&r->draft, F_TID) ? id_str(&r->tid) : STR("");

	if (r->last_thread != INTERN_NONE && str_eq(pid, id_str(&r->last_pid)) && str_eq(tid, id_str(&r->last_tid)))
		return r->last_thread;
	r->last_thread = trace_thread(r->trace, pid, tid);
	r->last_pid = r->pid;
	r->last_tid = r->tid;
	r->last_pid.n = pid.n;
	r->last_tid.n = tid.n;
	return r->last_thread;
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

static void set_links(const struct draft *d, struct trace_event *ev)
{
	bool has = seen(d, F_EXT) || seen(d, F_EXT_LOWER);

	if (!has)
		return;
	ev->ext = seen(d, F_EXT) ? d->ext : d->ext_lower;
	ev->flags |= EVENT_HAS_EXT;
	if (seen(d, F_CORRELATION) && ev->ext == d->correlation)
		ev->flags |= EVENT_OWN_ID;
}

/* Is it a row at all? Then, can it be used? False for the ones that are passed over. */
static bool is_wanted(struct trace_reader *r)
{
	struct draft *d = &r->draft;

	if (!d->any)
		trace_report_add(&r->report, TRACE_EMPTY_OBJECT, 1, d->offset);
	if (!d->timed)
		return false;
	if (!seen(d, F_CAT)) {
		d->cat = CAT_CPU_OP;
		d->cat_known = r->trace->bare_array;
	}
	return d->cat_known;
}

static bool is_usable(struct trace_reader *r)
{
	struct draft *d = &r->draft;
	int64_t end;

	if (!seen(d, F_NAME)) {
		lose(r, TRACE_NO_NAME);
		return false;
	}
	if (d->name == INTERN_NONE) {
		lose(r, TRACE_TOO_MANY);
		return false;
	}
	if (trace_name_flags(r->trace, d->name) & NAME_DROPPED)
		return false;
	if (!seen(d, F_TS)) {
		lose(r, TRACE_NO_TIME);
		return false;
	}
	if (!seen(d, F_DUR) || d->dur_ns < 0) {
		d->dur_ns = 0;
		if (!d->bad_dur)
			trace_report_add(&r->report, TRACE_UNFINISHED, 1, d->offset);
	}
	if (d->bad_ts || d->bad_dur || __builtin_add_overflow(d->start_ns, d->dur_ns, &end)) {
		lose(r, TRACE_BAD_NUMBER);
		return false;
	}
	return true;
}

static void finish_event(struct trace_reader *r)
{
	struct draft *d = &r->draft;
	struct trace_event *ev;
	uint32_t thread;

	r->place = IN_EVENTS;
	if (!is_wanted(r) || !is_usable(r))
		return;
	thread = thread_of(r);
	ev = thread == INTERN_NONE ? NULL : vec_push(&r->trace->events);
	if (ev == NULL) {
		lose(r, TRACE_TOO_MANY);
		return;
	}
	ev->start_ns = d->start_ns;
	ev->dur_ns = d->dur_ns;
	ev->name = d->name;
	ev->thread = thread & (EVENT_THREADS_MAX - 1);
	ev->cat = (unsigned)d->cat & 15;
	set_links(d, ev);
}

static uint32_t name_id(struct trace_reader *r, const struct json_value *v)
{
	if (v->plain)
		return trace_names_id(&r->trace->names, v->raw);
	buf_reset(&r->text);
	json_unescape(v->raw, &r->text);
	return r->text.rc != OK ? INTERN_NONE : trace_names_id(&r->trace->names, buf_view(&r->text));
}

static bool read_time(enum json_token tok, struct str raw, int64_t *ns)
{
	return (tok == JSON_NUMBER || tok == JSON_STRING) && json_fixed(raw, 3, ns) == OK;
}

static void take_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	struct draft *d = &r->draft;
	uint32_t bit = 1u << r->field;

	d->seen |= bit;
	switch (r->field) {
	case F_PH: d->timed = tok == JSON_STRING && str_eq(v->raw, STR("X")); break;
	case F_CAT:
		d->cat_known = tok == JSON_STRING && event_cat_parse(v->raw, &d->cat);
		if (r->trace->device == NULL && d->cat_known)
			r->trace->device = event_cat_device(v->raw);
		break;
	case F_NAME:
		if (tok == JSON_STRING)
			d->name = name_id(r, v);
		else
			d->seen &= ~bit;
		break;
	case F_PID: set_id(&r->pid, tok, v->raw); break;
	case F_TID: set_id(&r->tid, tok, v->raw); break;
	case F_TS: d->bad_ts = !read_time(tok, v->raw, &d->start_ns); break;
	case F_DUR: d->bad_dur = !read_time(tok, v->raw, &d->dur_ns); break;
	case F_EXT: d->seen &= read_id(tok, v->raw, &d->ext) ? UINT32_MAX : ~bit; break;
	case F_EXT_LOWER: d->seen &= read_id(tok, v->raw, &d->ext_lower) ? UINT32_MAX : ~bit; break;
	case F_CORRELATION: d->seen &= read_id(tok, v->raw, &d->correlation) ? UINT32_MAX : ~bit; break;
	case F_ARGS:
	case FIELDS: break;
	}
}

/* ---- the header */
static void take_version(struct trace_reader *r, struct str text)
{
	struct trace *t = r->trace;

	if (t->n_versions == TRACE_VERSIONS_MAX)
		return;
	for (size_t i = 0; i < t->n_versions; i++)
		if (str_eq(t->versions[i].key, r->version))
			return;
	t->versions[t->n_versions++] = (struct trace_version){
		.key = r->version,
		.value = json_unescape_to(&t->arena, str_upto(text, 80)),
	};
}

static void take_header(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	struct trace *t = r->trace;
	bool scalar = tok == JSON_STRING || tok == JSON_NUMBER;

	switch (r->header) {
	case H_BASE: t->has_base = scalar && json_i64(v->raw, &t->base_ns) == OK; break;
	case H_HOST:
		t->has_host_name = true; /* whatever it says */
		if (tok == JSON_STRING)
			t->host_name = json_unescape_to(&t->arena, str_upto(v->raw, 80));
		break;
	case H_VERSION:
		if (scalar)
			take_version(r, v->raw);
		break;
	}
}

static enum place header_place(struct trace_reader *r, struct str key)
{
	if (str_eq(key, STR("traceEvents")))
		return EVENTS_VALUE;
	if (str_eq(key, STR("distributedInfo")))
		return IN_DISTRIBUTED;
	if (str_eq(key, STR("baseTimeNanoseconds"))) {
		r->header = H_BASE;
		return HEADER_VALUE;
	}
	if (str_eq(key, STR("host_name"))) {
		r->header = H_HOST;
		return HEADER_VALUE;
	}
	for (size_t i = 0; i < COUNT(version_keys); i++)
		if (str_eq(key, version_keys[i].key)) {
			r->header = H_VERSION;
			r->version = str_of(version_keys[i].version);
			return HEADER_VALUE;
		}
	return IN_HEADER;
}

/* ---- tokens by place */
static bool opens(enum json_token tok)
{
	return tok == JSON_OBJECT || tok == JSON_ARRAY;
}

static void begin_events(struct trace_reader *r)
{
	r->has_events = true;
	r->events_depth = json_depth(r->json);
	r->place = IN_EVENTS;
}

static int at_top(struct trace_reader *r, enum json_token tok, struct err *e)
{
	if (tok == JSON_OBJECT) {
		r->place = IN_HEADER;
		return OK;
	}
	if (tok != JSON_ARRAY)
		return err_set(e, E_FORMAT, "this is no trace: it is neither an object with \"traceEvents\" nor an array");
	r->trace->bare_array = true;
	begin_events(r);
	return OK;
}

static void in_header(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT_END) {
		r->place = AT_END;
		return;
	}
	r->place = header_place(r, v->raw);
	if (r->place == IN_HEADER)
		json_skip(r->json);
}

/* Scalars are taken; an object or array where none should be is passed over. */
static void scalar_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (opens(tok))
		json_skip(r->json);
	else
		take_header(r, tok, v);
	r->place = IN_HEADER;
}

static void in_distributed(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT)
		return;
	if (tok != JSON_KEY) {
		if (tok == JSON_ARRAY)
			json_skip(r->json);
		r->place = IN_HEADER;
	} else if (str_eq(v->raw, STR("rank"))) {
		r->place = RANK_VALUE;
	} else {
		json_skip(r->json);
	}
}

static void rank_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (opens(tok))
		json_skip(r->json);
	else if ((tok != JSON_NUMBER && tok != JSON_STRING) || json_i64(v->raw, &r->trace->rank) < 0)
		r->trace->rank = -1;
	r->place = IN_DISTRIBUTED;
}

static int events_value(struct trace_reader *r, enum json_token tok, struct err *e)
{
	if (tok != JSON_ARRAY)
		return err_set(e, E_FORMAT, "this is no trace: \"traceEvents\" is no array");
	begin_events(r);
	return OK;
}

static void in_events(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_ARRAY_END) {
		r->events_closed = true;
		r->place = r->trace->bare_array ? AT_END : IN_HEADER;
		return;
	}
	r->draft = (struct draft){ .offset = v->offset };
	if (tok == JSON_OBJECT) {
		r->has_object = true;
		r->place = IN_EVENT;
		return;
	}
	lose(r, TRACE_BAD_EVENT);
	if (tok == JSON_ARRAY)
		json_skip(r->json);
}

static void in_event(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT_END) {
		finish_event(r);
		return;
	}
	r->draft.any = true;
	if (!seen(&r->draft, F_PH) || r->draft.timed)
		for (size_t i = 0; i < COUNT(event_keys); i++)
			if (str_eq(v->raw, event_keys[i].key)) {
				r->field = event_keys[i].field;
				r->place = EVENT_VALUE;
				return;
			}
	json_skip(r->json);
}

static void event_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	r->place = IN_EVENT;
	if (r->field == F_ARGS && tok == JSON_OBJECT)
		r->place = IN_ARGS;
	else if (opens(tok))
		json_skip(r->json);
	if (r->field != F_ARGS)
		take_value(r, tok, v);
}

static void in_args(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT_END) {
		r->place = IN_EVENT;
		return;
	}
	for (size_t i = 0; i < COUNT(args_keys); i++)
		if (str_eq(v->raw, args_keys[i].key)) {
			r->field = args_keys[i].field;
			r->place = ARGS_VALUE;
			return;
		}
	json_skip(r->json);
}

static void args_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (opens(tok))
		json_skip(r->json);
	take_value(r, tok, v);
	r->place = IN_ARGS;
}

static int dispatch(struct trace_reader *r, enum json_token tok, const struct json_value *v, struct err *e)
{
	switch (r->place) {
	case AT_TOP: return at_top(r, tok, e);
	case IN_HEADER: in_header(r, tok, v); break;
	case HEADER_VALUE: scalar_value(r, tok, v); break;
	case IN_DISTRIBUTED: in_distributed(r, tok, v); break;
	case RANK_VALUE: rank_value(r, tok, v); break;
	case EVENTS_VALUE: return events_value(r, tok, e);
	case IN_EVENTS: in_events(r, tok, v); break;
	case IN_EVENT: in_event(r, tok, v); break;
	case EVENT_VALUE: event_value(r, tok, v); break;
	case IN_ARGS: in_args(r, tok, v); break;
	case ARGS_VALUE: args_value(r, tok, v); break;
	case AT_END:
	case STOPPED:
	case PLACES: break;
	}
	return OK;
}

/* Text that is no JSON. In the list of events it costs the event it is in; behind the list the rest of the file; before
 * the list there is nothing to go by. */
static int bad_json(struct trace_reader *r, struct err *e)
{
	uint64_t offset = json_error_offset(r->json);
	struct err why = { 0 };

	json_reader_error(r->json, &why);
	if (!r->has_events || why.code == E_NOMEM)
		return json_reader_error(r->json, e);
	trace_report_add(&r->report, TRACE_BAD_JSON, 1, offset);
	if (r->events_closed || offset == r->last_error) {
		r->place = STOPPED;
		return OK;
	}
	r->last_error = offset;
	json_recover(r->json, r->events_depth);
	r->place = IN_EVENTS;
	return OK;
}

static int run(struct trace_reader *r, struct err *e)
{
	while (r->place != STOPPED) {
		struct json_value v;
		enum json_token tok = json_next(r->json, &v);
		int rc;

		if (tok == JSON_MORE || tok == JSON_DONE)
			return OK;
		rc = tok == JSON_ERROR ? bad_json(r, e) : dispatch(r, tok, &v, e);
		if (rc < 0)
			return rc;
	}
	return OK;
}

int trace_reader_feed(struct trace_reader *r, struct str block, struct err *e)
{
	if (r->place == STOPPED || block.n == 0)
		return OK;
	r->fed = true;
	json_feed(r->json, block.p, block.n);
	return run(r, e);
}

static void report_oddities(struct trace_reader *r)
{
	const struct json_oddities *o = json_oddities(r->json);
	const struct {
		enum trace_reason reason;
		uint64_t count;
	} odd[] = {
		{ TRACE_RAW_QUOTES, o->raw_quotes },	   { TRACE_RAW_CONTROLS, o->raw_controls },
		{ TRACE_BAD_ESCAPES, o->bad_escapes },	   { TRACE_BAD_UTF8, o->bad_utf8 },
		{ TRACE_NON_NUMBERS, o->non_numbers },	   { TRACE_EXTRA_COMMAS, o->extra_commas },
		{ TRACE_BYTE_ORDER_MARK, o->byte_order_mark }, { TRACE_CUT_TOKENS, o->cut_tokens },
	};

	for (size_t i = 0; i < COUNT(odd); i++)
		trace_report_add(&r->report, odd[i].reason, odd[i].count, 0);
}

/* The document is over. Was that its end? Where decompression stopped early that is told already. */
static void report_end(struct trace_reader *r, struct trace_report *report)
{
	if (r->place == AT_END || r->place == STOPPED)
		return;
	if (trace_report_find(report, TRACE_TRUNCATED) != NULL || trace_report_find(report, TRACE_BAD_DATA) != NULL)
		return;
	if (r->trace->bare_array && r->place == IN_EVENTS && !json_oddities(r->json)->inside_token)
		trace_report_add(report, TRACE_OPEN_ARRAY, 1, report->bytes);
	else
		trace_report_add(report, TRACE_TRUNCATED, 1, report->bytes);
}

static void merge_reports(const struct trace_report *from, struct trace_report *into)
{
	for (int reason = 0; reason < TRACE_REASONS; reason++) {
		const struct trace_skip *s = trace_report_find(from, (enum trace_reason)reason);

		if (s != NULL)
			trace_report_add(into, (enum trace_reason)reason, s->count, s->offset);
	}
}

int trace_reader_end(struct trace_reader *r, struct trace_report *report, struct trace **out, struct err *e)
{
	int rc = OK;

	*out = NULL;
	if (!r->fed)
		return err_set(e, E_FORMAT, "this is no trace: it is empty");
	if (r->place != STOPPED) {
		json_feed_end(r->json);
		rc = run(r, e);
	}
	if (rc < 0)
		return rc;
	if (!r->has_events)
		return err_set(e, E_FORMAT, "this is no trace: it has no \"traceEvents\"");
	if (!r->has_object && trace_report_find(&r->report, TRACE_BAD_EVENT) != NULL)
		return err_set(e, E_FORMAT, "this is no trace: nothing in it is an event");
	report_end(r, report);
	report_oddities(r);
	merge_reports(&r->report, report);
	trace_settle(r->trace);
	report->events = r->trace->events.n;
	*out = r->trace;
	r->trace = NULL;
	return OK;
}

static int read_blocks(struct trace_reader *r, struct input *in, const struct trace_watcher *watcher, struct err *e)
{
	for (;;) {
		struct str block;
		int rc = input_next(in, &block, e);

		if (rc < 0 || block.n == 0)
			return rc;
		rc = trace_reader_feed(r, block, e);
		if (rc < 0)
			return rc;
		if (watcher != NULL)
			watcher->block(watcher->arg, in);
	}
}

int trace_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e)
{
	struct trace_reader *r = trace_reader_new(limits->max_events);
	int rc = read_blocks(r, in, watcher, e);

	*report = (struct trace_report){ 0 };
	*out = NULL;
	input_report(in, report);
	if (rc == OK)
		rc = trace_reader_end(r, report, out, e);
	trace_reader_free(r);
	if (rc == E_FORMAT && trace_report_find(report, TRACE_TRUNCATED) != NULL)
		err_add(e, "the compressed file ends early");
	if (rc == E_FORMAT && trace_report_find(report, TRACE_BAD_DATA) != NULL)
		err_add(e, "the compressed file is damaged");
	if (rc == E_FORMAT)
		err_add(e, "%s", name);
	return rc;
}
