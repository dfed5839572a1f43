#include "trace/neuron_system.h"

#include "base/hash.h"
#include "json/num.h"
#include "json/tree.h"
#include "trace/event.h"
#include "trace/neuron_event.h"
#include "trace/neuron_fold.h"
#include "trace/neuron_summary.h"
#include "trace/record.h"

enum { TEXTS_MAX = 1000000, TEXT_BYTES_MAX = 512 << 20, FLOWS_MAX = 32000000, FRAMEWORK_TYPE = 99999 };

enum slot {
	NAME,
	START,
	DURATION,
	END,
	UNIT,
	ID,
	PARENT,
	GROUP,
	INSTANCE,
	PROCESS,
	THREAD,
	LNC,
	NC,
	PHYSICAL,
	EXEC,
	MODEL,
	MODEL_NAME,
	SIZE,
	TYPE,
	SOURCE,
	FLOW,
	STREAM,
	EXTRA,
	USAGE,
	PERCENT,
	UTIL,
	HBM,
	DEVICE,
	CATEGORY,
	MESSAGE,
	SLOTS
};
_Static_assert((int)SLOTS <= (int)RECORD_SLOTS, "a record has room for every field");

struct profile {
	struct tokens *t;
	struct trace_report *report;
	struct draft d;
	struct record rec;
	struct neuron_events_all all;
	struct str lane; /* label of the list that is being read, or empty */
	struct str instance;
	bool full;
};

static const struct record_field event_fields[] = {
	RECORD_FIELD("name", NAME),
	RECORD_FIELD("timestamp", START),
	RECORD_FIELD("start_ts", START),
	RECORD_FIELD("duration", DURATION),
	RECORD_FIELD("duration_ns", DURATION),
	RECORD_FIELD("end_ts", END),
	RECORD_FIELD("timestamp_unit", UNIT),
	RECORD_FIELD("id", ID),
	RECORD_FIELD("parent_id", PARENT),
	RECORD_FIELD("group", GROUP),
	RECORD_FIELD("instance_id", INSTANCE),
	RECORD_FIELD("process_id", PROCESS),
	RECORD_FIELD("thread_id", THREAD),
	RECORD_FIELD("lnc_idx", LNC),
	RECORD_FIELD("nc_idx", NC),
	RECORD_FIELD("device_core_idx", PHYSICAL),
	RECORD_FIELD("pcore_idx", PHYSICAL),
	RECORD_FIELD("exec_id", EXEC),
	RECORD_FIELD("model_id", MODEL),
	RECORD_FIELD("model_name", MODEL_NAME),
	RECORD_FIELD("size", SIZE),
	RECORD_FIELD("type", TYPE),
	RECORD_FIELD("trace_event_source", SOURCE),
	{ STR("flow_id"), FLOW, RECORD_LIST },
	RECORD_FIELD("framework_stream_id", STREAM),
	RECORD_FIELD("extra_attributes_json", EXTRA),
	{ STR("args"), NAME, RECORD_INSIDE },
	RECORD_LABELLED(NAME),
};

static const struct record_field warning_fields[] = {
	RECORD_FIELD("category", CATEGORY),
	RECORD_FIELD("message", MESSAGE),
	RECORD_TEXT(MESSAGE),
};

static const struct record_field memory_fields[] = {
	RECORD_FIELD("usage", USAGE),
	RECORD_FIELD("used_bytes", USAGE),
	RECORD_FIELD("percent_usage", PERCENT),
	RECORD_FIELD("used_percent", PERCENT),
	RECORD_LABELLED(USAGE),
};

static const struct record_field cpu_fields[] = {
	RECORD_FIELD("util", UTIL),
	RECORD_FIELD("util_percent", UTIL),
	RECORD_LABELLED(UTIL),
};

/* Bytes of device memory: what every field is stands in its name, so all are read. */
static const char *const hbm_types[] = { "total", "generic", "weights", "tensors", "io", "scratchpad", "shared_scratchpad",
	"dram_spill", "dma_rings_spill", "dma_rings_runtime", "dma_rings_io", "dma_rings_collectives", "collectives",
	"profiler_buffers", "ucode_lib", "unknown" };

static const struct record_field hbm_fields[] = {
	RECORD_FIELD("total_bytes", 0),
	RECORD_FIELD("generic_bytes", 1),
	RECORD_FIELD("weights_bytes", 2),
	RECORD_FIELD("tensors_bytes", 3),
	RECORD_FIELD("io_bytes", 4),
	RECORD_FIELD("scratchpad_bytes", 5),
	RECORD_FIELD("shared_scratchpad_bytes", 6),
	RECORD_FIELD("dram_spill_bytes", 7),
	RECORD_FIELD("dma_rings_spill_bytes", 8),
	RECORD_FIELD("dma_rings_runtime_bytes", 9),
	RECORD_FIELD("dma_rings_io_bytes", 10),
	RECORD_FIELD("dma_rings_collectives_bytes", 11),
	RECORD_FIELD("collectives_bytes", 12),
	RECORD_FIELD("profiler_buffers_bytes", 13),
	RECORD_FIELD("ucode_lib_bytes", 14),
	RECORD_FIELD("unknown_bytes", 15),
	RECORD_FIELD("hbm_idx", HBM),
	RECORD_FIELD("device_idx", DEVICE),
};

/* ---- one event */

static void blame(struct profile *s, enum trace_reason reason)
{
	trace_report_add(s->report, reason, 1, s->rec.offset);
}

static uint32_t text_id(struct profile *s, struct str text)
{
	uint32_t id;

	if (text.n == 0)
		return NEURON_NONE;
	id = intern_id(&s->all.texts, text);
	if (id == INTERN_NONE)
		s->full = true;
	return id;
}

/* A member that newer versions keep inside extra_attributes_json. */
static struct str member(struct profile *s, const struct json_node *extra, enum slot slot, const char *key)
{
	const struct json_node *n;

	if (record_str(&s->rec, slot).n > 0 || extra == NULL)
		return record_str(&s->rec, slot);
	n = json_get(extra, key);
	return n != NULL && (n->kind == JSON_K_STRING || n->kind == JSON_K_NUMBER) ? n->text : str_make("", 0);
}

/* An id may be any number or text; below 0 it is none. */
static bool read_id(struct str text, uint64_t *id)
{
	int64_t v;

	text = str_trim(text);
	if (text.n == 0)
		return false;
	if (json_u64(text, id) == OK)
		return true;
	if (json_fixed(text, 0, &v) == OK) {
		*id = (uint64_t)v;
		return v >= 0;
	}
	*id = hash64(text.p, text.n, 0);
	return true;
}

/* 0 is none. */
static uint64_t id_of(struct str text)
{
	uint64_t id;

	return read_id(text, &id) ? id : 0;
}

/* 0 is one, too. */
static uint64_t exec_of(struct str text)
{
	uint64_t id;

	if (!read_id(text, &id))
		return 0;
	return id < UINT64_MAX ? id + 1 : hash64(text.p, text.n, 0);
}

static int64_t bytes_of(struct profile *s, struct str text)
{
	int64_t v = -1;

	text = str_trim(text);
	if (text.n == 0)
		return -1;
	if (json_fixed(text, 0, &v) == OK && v >= 0 && v >> 60 == 0)
		return v;
	blame(s, TRACE_BAD_VALUE);
	return -1;
}

static int shift_of(struct str unit)
{
	if (str_eq(unit, STR("us")))
		return 3;
	return str_eq(unit, STR("ms")) ? 6 : 0;
}

static bool read_ns(struct profile *s, enum slot slot, int64_t *out)
{
	struct str text = str_trim(record_str(&s->rec, slot));
	int rc = text.n == 0 ? E_NOT_FOUND : json_fixed(text, shift_of(record_str(&s->rec, UNIT)), out);

	if (rc == E_NOT_FOUND)
		blame(s, TRACE_NO_TIME);
	else if (rc < 0)
		blame(s, TRACE_BAD_NUMBER);
	return rc == OK;
}

/* Wall time, or a time from the profile's own start. */
static bool read_times(struct profile *s, struct neuron_event *ev)
{
	bool by_end = !record_has(&s->rec, DURATION) && record_has(&s->rec, END);

	if (!read_ns(s, START, &ev->start_ns) || !read_ns(s, by_end ? END : DURATION, &ev->dur_ns))
		return false;
	if (by_end)
		ev->dur_ns = ns_sub(ev->dur_ns, ev->start_ns);
	if (neuron_dur_possible(ev->dur_ns) && (neuron_time_possible(ev->start_ns) || neuron_dur_possible(ev->start_ns)))
		return true;
	blame(s, TRACE_BAD_VALUE);
	return false;
}

/* The part of a lane label behind a prefix: "PID:" in "i-0b1e/PID:17/framework/TID:0". */
static struct str label_part(struct str label, struct str prefix)
{
	while (label.p != NULL) {
		struct str part = str_split(&label, '/');

		if (str_drop_prefix(&part, prefix))
			return part;
	}
	return str_make("", 0);
}

static enum neuron_lane lane_of(struct profile *s, const struct neuron_name *known)
{
	bool stream = record_str(&s->rec, STREAM).n > 0 || label_part(s->lane, STR("Stream:")).n > 0;
	enum neuron_lane lane;
	int64_t type;

	if (!neuron_lane_parse(record_str(&s->rec, SOURCE), &lane) && !neuron_lane_of_label(s->lane, &lane)) {
		lane = known != NULL ? known->lane : NEURON_RUNTIME;
		if (str_has_prefix(record_str(&s->rec, GROUP), STR("framework")))
			lane = NEURON_FRAMEWORK;
		if (record_i64(&s->rec, TYPE, &type) == OK && type == FRAMEWORK_TYPE)
			lane = NEURON_FRAMEWORK;
	}
	return lane == NEURON_FRAMEWORK && stream ? NEURON_STREAM : lane;
}

static enum neuron_what what_of(const struct neuron_name *known, enum neuron_lane lane)
{
	bool host = lane != NEURON_HARDWARE;

	if (known != NULL && known->what != NEURON_CALL && host == (known->lane != NEURON_HARDWARE))
		return known->what;
	return host ? NEURON_CALL : NEURON_DEVICE_WORK;
}

static void read_flows(struct profile *s, struct neuron_event *ev)
{
	struct str rest = record_str(&s->rec, FLOW);

	ev->first_flow = (uint32_t)s->all.flows.n;
	while (rest.n > 0 && rest.p != NULL) {
		struct str flow = str_split(&rest, RECORD_JOIN);
		uint64_t *place = flow.n == 0 ? NULL : vec_push(&s->all.flows);

		if (place == NULL)
			continue;
		*place = hash64(flow.p, flow.n, 0);
		ev->n_flows++;
	}
}

/* Hosts of one file may have processes of one number: those of all but the first are told apart by its name. */
static struct str on_host(struct profile *s, struct str process)
{
	struct str host = record_str(&s->rec, INSTANCE);

	if (host.n == 0 && str_has_prefix(s->lane, STR("i-")))
		host = str_upto(s->lane, str_find_byte(s->lane, '/'));
	if (s->instance.n == 0 && host.n > 0)
		s->instance = draft_text(&s->d, host);
	if (host.n == 0 || str_eq(host, s->instance))
		return process;
	return arena_fmt(&s->rec.scratch, "%.*s of %.*s", STR_ARG(process), STR_ARG(host));
}

static int32_t physical_of(struct str text)
{
	uint64_t n;

	return str_to_u64(text, &n) == OK && n < 1 << 20 ? (int32_t)n : -1;
}

/* "NC0:4" of a lane: the logical core, and which physical one of it. */
static struct str cores_of_lane(struct str lane, int32_t *physical)
{
	struct str rest = label_part(lane, STR("NC"));
	struct str core = str_split(&rest, ':');

	if (core.n == 0) /* "NC:0" */
		return rest;
	*physical = physical_of(rest);
	return core;
}

static void read_place(struct profile *s, struct neuron_event *ev)
{
	struct str process = record_str(&s->rec, PROCESS), thread = record_str(&s->rec, THREAD);
	struct str core = record_str(&s->rec, LNC), stream = record_str(&s->rec, STREAM);
	struct str lane_core = cores_of_lane(s->lane, &ev->physical_core);

	if (process.n == 0)
		process = label_part(s->lane, STR("PID:"));
	process = on_host(s, process);
	if (thread.n == 0)
		thread = label_part(s->lane, STR("TID:"));
	if (stream.n == 0)
		stream = label_part(s->lane, STR("Stream:"));
	if (core.n == 0)
		core = record_str(&s->rec, NC);
	if (core.n == 0)
		core = lane_core;
	ev->process = text_id(s, process);
	if (ev->lane == NEURON_STREAM)
		ev->thread = text_id(s, arena_fmt(&s->rec.scratch, "%.*s stream %.*s", STR_ARG(process), STR_ARG(stream)));
	else if (thread.n > 0)
		ev->thread = text_id(s, arena_fmt(&s->rec.scratch, "%.*s thread %.*s", STR_ARG(process), STR_ARG(thread)));
	ev->core = text_id(s, core);
	if (record_has(&s->rec, PHYSICAL))
		ev->physical_core = physical_of(str_trim(s->rec.v[PHYSICAL]));
}

static void read_numbers(struct profile *s, struct neuron_event *ev)
{
	const struct json_node *extra = NULL;
	struct str exec, model, model_name, size;

	if (record_str(&s->rec, EXTRA).n > 0 && json_parse(&s->rec.scratch, s->rec.v[EXTRA], &extra, NULL) < 0)
		extra = NULL;
	exec = member(s, extra, EXEC, "exec_id");
	model = member(s, extra, MODEL, "model_id");
	model_name = member(s, extra, MODEL_NAME, "model_name");
	size = member(s, extra, SIZE, "size");
	ev->id = id_of(record_str(&s->rec, ID));
	ev->parent = id_of(member(s, extra, PARENT, "parent_id"));
	ev->exec = exec_of(exec);
	if (model_name.n > 0)
		ev->model = text_id(s, model_name);
	else if (model.n > 0)
		ev->model = text_id(s, arena_fmt(&s->rec.scratch, "model %.*s", STR_ARG(model)));
	ev->bytes = bytes_of(s, size);
}

static void on_event(struct profile *s)
{
	struct str name = record_str(&s->rec, NAME);
	const struct neuron_name *known = neuron_name_find(name);
	struct neuron_event fresh = { .physical_core = -1, .thread = NEURON_NONE, .model = NEURON_NONE, .up = NEURON_NONE,
		.op = NEURON_NONE };
	struct neuron_event *ev;

	if (name.n == 0) {
		blame(s, TRACE_NO_NAME);
		return;
	}
	if (!read_times(s, &fresh))
		return;
	fresh.lane = (uint8_t)lane_of(s, known);
	fresh.what = (uint8_t)what_of(known, (enum neuron_lane)fresh.lane);
	fresh.rank = known == NULL ? NEURON_RANK_OTHER : known->rank;
	fresh.name = text_id(s, name);
	read_place(s, &fresh);
	read_numbers(s, &fresh);
	ev = s->full || arena_full(&s->rec.scratch) ? NULL : vec_push(&s->all.events);
	if (ev == NULL) {
		blame(s, TRACE_TOO_MANY);
		s->full = false;
		return;
	}
	read_flows(s, &fresh);
	*ev = fresh;
}

/* ---- series of the host */

static void add_share(struct profile *s, enum slot slot, enum draft_fold fold, struct str name)
{
	double v;

	if (record_double(&s->rec, slot, &v) < 0)
		return;
	if (v >= 0 && v <= 101)
		draft_gauge(&s->d, fold, name, STR("ratio"), v / 100, NULL, 0);
	else
		blame(s, TRACE_BAD_VALUE);
}

static void on_memory(struct profile *s)
{
	int64_t bytes;

	if (record_i64(&s->rec, USAGE, &bytes) == OK) {
		if (bytes >= 0 && bytes >> 60 == 0)
			draft_gauge(&s->d, DRAFT_MAX, STR("host_memory_used"), STR("bytes"), (double)bytes, NULL, 0);
		else
			blame(s, TRACE_BAD_VALUE);
	}
	add_share(s, PERCENT, DRAFT_MAX, STR("host_memory_used_ratio"));
}

static void on_cpu(struct profile *s)
{
	add_share(s, UTIL, DRAFT_MEAN, STR("host_cpu_ratio"));
}

static void on_hbm(struct profile *s)
{
	for (unsigned i = 0; i < COUNT(hbm_types); i++) {
		const struct label labels[] = {
			{ STR("usage_type"), str_of(hbm_types[i]) },
			{ STR("hbm"), record_str(&s->rec, HBM) },
			{ STR("nd"), record_str(&s->rec, DEVICE) },
		};
		int64_t bytes;

		if (record_i64(&s->rec, i, &bytes) < 0)
			continue;
		if (bytes >= 0 && bytes >> 60 == 0)
			draft_gauge(&s->d, DRAFT_MAX, STR("device_memory"), STR("bytes"), (double)bytes, labels, COUNT(labels));
		else
			blame(s, TRACE_BAD_VALUE);
	}
}

/* That the trace's ring was full and lost events, for instance. */
static void on_warning(struct profile *s)
{
	const struct label labels[] = {
		{ STR("category"), record_str(&s->rec, CATEGORY) },
		{ STR("message"), record_str(&s->rec, MESSAGE) },
	};

	draft_gauge(&s->d, DRAFT_SUM, STR("profile_warnings"), STR("1"), 1, labels, COUNT(labels));
}

/* ---- the file */

#define FIELDS(table) table, COUNT(table)
static const struct list {
	const char *key;
	const struct record_field *fields;
	size_t n_fields;
	void (*row)(struct profile *s);
} lists[] = {
	{ "trace_events", FIELDS(event_fields), on_event },
	{ "trace_event", FIELDS(event_fields), on_event },
	{ "mem_usage", FIELDS(memory_fields), on_memory },
	{ "cpu_util", FIELDS(cpu_fields), on_cpu },
	{ "device_mem_usage", FIELDS(hbm_fields), on_hbm },
	{ "warnings", FIELDS(warning_fields), on_warning },
};

static const struct list *list_of(struct str key)
{
	for (size_t i = 0; i < COUNT(lists); i++)
		if (str_eq(key, str_of(lists[i].key)))
			return &lists[i];
	return NULL;
}

static bool read_rows(struct profile *s, const struct list *l)
{
	unsigned depth = tokens_depth(s->t);
	enum record_step step;

	while ((step = record_next(s->t, depth, l->fields, l->n_fields, &s->rec)) == RECORD_READ)
		l->row(s);
	return step == RECORD_END;
}

/* What stands under a label or a lane: events, or one. False where reading cannot go on. */
static bool read_labelled(struct profile *s, const struct list *l, enum json_token tok)
{
	if (tok == JSON_ARRAY)
		return read_rows(s, l);
	if (tok != JSON_OBJECT)
		return tok != JSON_DONE && tok != JSON_ERROR;
	if (!record_members(s->t, l->fields, l->n_fields, &s->rec))
		return false;
	if (s->rec.some)
		l->row(s);
	return true;
}

/* { lane: [ … ], … } */
static bool read_lanes(struct profile *s, const struct list *l)
{
	struct json_value v;
	enum json_token tok;
	bool whole = true;

	while (whole && (tok = tokens_next(s->t, &v)) == JSON_KEY) {
		struct arena keep;

		arena_init(&keep, RECORD_BYTES_MAX);
		s->lane = arena_str(&keep, v.raw);
		whole = read_labelled(s, l, tokens_next(s->t, &v));
		s->lane = str_make("", 0);
		arena_fini(&keep);
	}
	return whole && tok == JSON_OBJECT_END;
}

/* A member of the whole that is no list: an event under a label, or the events of a lane. */
static bool read_stranger(struct profile *s, struct str key)
{
	static const struct list events = { "", FIELDS(event_fields), on_event };
	enum neuron_lane any;
	bool lane = neuron_lane_of_label(key, &any), whole;
	struct arena keep;
	struct json_value v;
	enum json_token tok;

	arena_init(&keep, RECORD_BYTES_MAX);
	s->lane = arena_str(&keep, lane ? key : STR(""));
	tok = tokens_next(s->t, &v);
	if (tok == JSON_ARRAY && !lane) {
		tokens_skip(s->t);
		whole = true;
	} else if (tok == JSON_OBJECT && !lane) {
		whole = record_members(s->t, events.fields, events.n_fields, &s->rec);
		if (whole && record_has(&s->rec, NAME) && record_has(&s->rec, START))
			on_event(s);
	} else {
		whole = read_labelled(s, &events, tok);
	}
	s->lane = str_make("", 0);
	arena_fini(&keep);
	return whole;
}

static bool read_member(struct profile *s, struct str key)
{
	const struct list *l = list_of(key);
	struct json_value v;
	enum json_token tok;

	if (l == NULL)
		return read_stranger(s, key);
	tok = tokens_next(s->t, &v);
	if (tok == JSON_ARRAY)
		return read_rows(s, l);
	if (tok == JSON_OBJECT)
		return read_lanes(s, l);
	return tok != JSON_DONE && tok != JSON_ERROR;
}

static int read_all(struct profile *s, struct err *e)
{
	struct json_value v;
	enum json_token tok = tokens_next(s->t, &v);

	if (s->t->rc < 0)
		return s->t->rc;
	if (tok != JSON_OBJECT)
		return err_set(e, E_FORMAT, "no system profile: it must be a JSON object with a list \"trace_events\"");
	while ((tok = tokens_next(s->t, &v)) == JSON_KEY)
		if (!read_member(s, v.raw))
			break;
	if (tok == JSON_ERROR)
		tokens_count_bad(s->t);
	return tokens_finish(s->t);
}

/* Among wall times, times near zero are none. */
static void drop_strangers(struct profile *s)
{
	struct neuron_events *v = &s->all.events;
	bool wall = false;
	size_t n = 0;

	vec_each(ev, v)
		wall |= neuron_time_possible(ev->start_ns);
	for (size_t i = 0; wall && i < v->n; i++)
		if (neuron_time_possible(v->v[i].start_ns))
			v->v[n++] = v->v[i];
	if (!wall)
		return;
	trace_report_add(s->report, TRACE_BAD_VALUE, v->n - n, 0);
	v->n = n;
}

static int finish(struct profile *s, struct window *out, struct err *e)
{
	int rc;

	if (s->all.events.n == 0 && s->d.gauges.n == 0)
		return err_set(e, E_FORMAT, "no system profile: no events in it");
	drop_strangers(s);
	rc = neuron_link_events(&s->all, e);
	if (rc == OK)
		rc = neuron_fold(&s->all, &s->d, out, e);
	if (rc == OK)
		rc = draft_finish(&s->d, out, e);
	if (rc < 0)
		return rc;
	out->host = s->instance;
	s->report->events = s->all.events.n;
	trace_report_add(s->report, TRACE_TOO_MANY, draft_dropped(&s->d), 0);
	return OK;
}

int neuron_system_read(struct arena *a, struct tokens *t, struct window *out, struct err *e)
{
	struct profile s = { .t = t, .report = t->report, .lane = { "", 0 }, .instance = { "", 0 } };
	int rc;

	*out = (struct window){ 0 };
	draft_init(&s.d, a);
	record_init(&s.rec);
	s.all.events.cap = NEURON_EVENTS_MAX;
	s.all.flows.cap = FLOWS_MAX;
	arena_init(&s.all.arena, TEXT_BYTES_MAX);
	intern_init(&s.all.texts, &s.all.arena, TEXTS_MAX);
	rc = read_all(&s, e);
	if (rc == OK)
		rc = finish(&s, out, e);
	vec_fini(&s.all.events);
	vec_fini(&s.all.flows);
	intern_fini(&s.all.texts);
	arena_fini(&s.all.arena);
	record_fini(&s.rec);
	draft_fini(&s.d);
	return rc;
}
