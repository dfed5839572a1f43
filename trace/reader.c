#include "trace/reader.h"

#include "base/mem.h"
#include "json/num.h"
#include "json/pull.h"
#include "json/text.h"
#include "trace/intake.h"
#include "trace/quick.h"

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
	EVENT_VALUE,  /* value of r->member */
	IN_ARGS,
	ARGS_VALUE, /* value of r->member */
	IN_DIMS,    /* inside a list of shapes */
	AT_END,	 /* behind the document, where only white space may be */
	STOPPED, /* whatever comes is not looked at */
	PLACES
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

struct trace_reader {
	struct json_reader *json;
	struct trace *trace;
	struct trace_report report;
	enum place place;
	enum member member;
	enum header header;
	struct str version; /* key of H_VERSION, static */
	unsigned events_depth;
	bool fed; /* there was at least a byte */
	bool has_events, events_closed;
	bool has_object; /* at least one event was an object */
	uint64_t last_error; /* offset of the last text that was no JSON */
	struct err header_error; /* the first one before the list of events */
	struct intake in; /* the event under way */
	struct buf key;	  /* without its escapes */
	struct quick *quick;
};

struct trace_reader *trace_reader_new(uint64_t max_events)
{
	struct trace_reader *r = mem_get(sizeof(*r));

	r->json = json_reader_new(JSON_TOLERANT, JSON_LIMITS_TRACE);
	r->trace = mem_get(sizeof(*r->trace));
	trace_init(r->trace, max_events);
	intake_init(&r->in, r->trace, &r->report);
	buf_init(&r->key, JSON_LIMITS_TRACE.token_bytes * 4);
	r->quick = quick_new(json_mask_best());
	r->last_error = UINT64_MAX;
	return r;
}

void trace_reader_want(struct trace_reader *r, unsigned want)
{
	r->trace->want = want;
}

void trace_reader_kernel(struct trace_reader *r, const struct json_mask_kernel *kernel)
{
	quick_free(r->quick);
	r->quick = kernel == NULL ? NULL : quick_new(kernel);
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
	intake_fini(&r->in);
	buf_fini(&r->key);
	quick_free(r->quick);
	mem_free(r);
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

/* Behind the string under way: a key that the event has not had yet. Whoever writes raw quotes writes no key twice. */
static bool key_may_follow(const void *arg, struct str key)
{
	const struct trace_reader *r = arg;
	enum member m = member_of_event(key);

	return m != MEMBERS && m != r->member && !intake_seen(&r->in, m);
}

/* What "name" or "args" begins may as well be something in a name. */
static bool key_may_begin(struct str key)
{
	enum member m = member_of_event(key);

	return m != MEMBERS && m != M_NAME && m != M_ARGS;
}

static void begin_events(struct trace_reader *r)
{
	const struct json_keys keys = { json_depth(r->json) + 1, key_may_follow, key_may_begin, r };

	if (r->has_events)
		trace_forget_events(r->trace); /* the last of equal keys stands */
	r->has_events = true;
	r->events_closed = false;
	r->events_depth = json_depth(r->json);
	r->place = IN_EVENTS;
	json_reader_keys(r->json, &keys);
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
	r->place = header_place(r, json_meaning(v, &r->key));
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
	} else if (str_eq(json_meaning(v, &r->key), STR("rank"))) {
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
	intake_begin(&r->in, v->offset);
	if (tok == JSON_OBJECT) {
		r->has_object = true;
		r->place = IN_EVENT;
		return;
	}
	intake_lose(&r->in, TRACE_BAD_EVENT);
	if (tok == JSON_ARRAY)
		json_skip(r->json);
}

static void in_event(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT_END) {
		intake_finish(&r->in);
		r->place = IN_EVENTS;
		return;
	}
	r->in.any = true;
	r->member = member_of_event(json_meaning(v, &r->key));
	if (r->member == MEMBERS)
		json_skip(r->json);
	else
		r->place = EVENT_VALUE;
}

static void event_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	r->place = IN_EVENT;
	if (r->member == M_ARGS)
		intake_args(&r->in);
	if (r->member == M_ARGS && tok == JSON_OBJECT)
		r->place = IN_ARGS;
	else if (opens(tok))
		json_skip(r->json);
	if (r->member != M_ARGS)
		intake_take(&r->in, r->member, tok, v->raw, v->plain);
}

static void in_args(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT_END) {
		r->place = IN_EVENT;
		return;
	}
	r->member = member_of_args(&r->in, json_meaning(v, &r->key));
	if (r->member == MEMBERS)
		json_skip(r->json);
	else
		r->place = ARGS_VALUE;
}

static void args_value(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	r->place = IN_ARGS;
	if (r->member == M_DIMS && tok == JSON_ARRAY) {
		intake_dims_begin(&r->in);
		r->place = IN_DIMS;
		return;
	}
	if (opens(tok))
		json_skip(r->json);
	intake_take(&r->in, r->member, tok, v->raw, v->plain);
}

static void in_dims(struct trace_reader *r, enum json_token tok, const struct json_value *v)
{
	if (tok == JSON_OBJECT)
		json_skip(r->json);
	if (intake_dims(&r->in, tok, v->raw))
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
	case IN_DIMS: in_dims(r, tok, v); break;
	case AT_END:
	case STOPPED:
	case PLACES: break;
	}
	return OK;
}

/* Text that is no JSON. In the list of events it costs the event it is in; behind the list the rest of the file; in the
 * header what comes before the list. */
static int bad_json(struct trace_reader *r, struct err *e)
{
	uint64_t offset = json_error_offset(r->json);
	struct err why = { 0 };

	json_reader_error(r->json, &why);
	if (why.code == E_NOMEM || (!r->has_events && (why.code != E_FORMAT || json_depth(r->json) == 0)))
		return json_reader_error(r->json, e);
	trace_report_add(&r->report, TRACE_BAD_JSON, 1, offset);
	if (!r->has_events) {
		r->header_error = r->header_error.code == OK ? why : r->header_error;
		json_recover_at_key(r->json, 1, STR("traceEvents"));
		r->place = IN_HEADER;
		return OK;
	}
	if (r->events_closed || offset == r->last_error) {
		r->place = STOPPED;
		return OK;
	}
	r->last_error = offset;
	json_recover(r->json, r->events_depth);
	r->place = IN_EVENTS;
	return OK;
}

/* Between events: as many as can be read the quick way, up to the first that is odd or cut by the block's end. */
static void leap(struct trace_reader *r)
{
	struct json_unread u;
	size_t n;

	if (r->quick == NULL || !json_unread(r->json, &u))
		return;
	n = quick_events(r->quick, &r->in, &u);
	if (n == 0)
		return;
	json_leap(r->json, n);
	r->has_object = true;
}

static int run(struct trace_reader *r, struct err *e)
{
	while (r->place != STOPPED) {
		struct json_value v;
		enum json_token tok;
		int rc;

		if (r->place == IN_EVENTS)
			leap(r);
		tok = json_next(r->json, &v);
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
	if (!r->has_events && r->header_error.code != OK)
		return err_set(e, E_FORMAT, "%s", r->header_error.text);
	if (!r->has_events)
		return err_set(e, E_FORMAT, "this is no trace: it has no \"traceEvents\"");
	if (!r->has_object && trace_report_find(&r->report, TRACE_BAD_EVENT) != NULL)
		return err_set(e, E_FORMAT, "this is no trace: nothing in it is an event");
	report_end(r, report);
	trace_report_oddities(&r->report, json_oddities(r->json));
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
	return trace_read_more(in, name, limits, 0, watcher, report, out, e);
}

int trace_read_more(struct input *in, const char *name, const struct trace_limits *limits, unsigned want,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e)
{
	struct trace_reader *r = trace_reader_new(limits->max_events);
	int rc;

	trace_reader_want(r, want);
	rc = read_blocks(r, in, watcher, e);
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
