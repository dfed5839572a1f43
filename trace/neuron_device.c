#include "trace/neuron_device.h"

#include "trace/draft.h"
#include "trace/neuron_summary.h"
#include "trace/record.h"
#include "trace/xla.h"

/* What a row of a list can have; which of the names a file uses depends on its version. */
enum slot {
	START,
	DURATION,
	END,
	ENGINE,
	OPCODE,
	LAYER,
	HLO,
	NAME,
	BYTES,
	DUPLICATE,
	TYPE,
	ND,
	NC,
	CATEGORY,
	MESSAGE,
	PROFILER,
	HASH,
	NETWORK,
	FIRST_HW,
	LAST_HW,
	SIMULATION,
	HBM_BANDWIDTH,
	DMA_BANDWIDTH,
	PE_CLOCK,
	OTHER_CLOCK,
	PE_ROWS,
	PE_COLS,
	INSTANCE,
	RUNTIME,
	DRIVER,
	COMPILER,
	COLLECTIVES,
	SLOTS
};
_Static_assert((int)SLOTS <= (int)RECORD_SLOTS, "a record has room for every field");

struct device {
	struct draft d;
	struct draft parts; /* instructions by HLO op and by layer; a layer's span is its max_ns */
	struct trace_report *report;
	struct tokens *t;
	struct record rec;
	struct buf name;
	uint64_t n_rows;
	int64_t total_ns, hw_ns, last_ns; /* duration by the summary, by the hardware's clock, by the last row's end */
};

/* ---- checks */

static void blame(struct device *dv, enum trace_reason reason)
{
	trace_report_add(dv->report, reason, 1, dv->rec.offset);
}

/* A duration or a time since the profile's start; false and counted where it is none. */
static bool span_of(struct device *dv, enum slot slot, int64_t *ns)
{
	int rc = record_i64(&dv->rec, slot, ns);

	if (rc == E_NOT_FOUND)
		blame(dv, TRACE_NO_TIME);
	else if (rc == E_FORMAT)
		blame(dv, TRACE_BAD_NUMBER);
	else if (rc < 0 || !neuron_dur_possible(*ns))
		blame(dv, TRACE_BAD_VALUE);
	else
		return true;
	return false;
}

/* Start and duration of a row; an end is as good as a duration. */
static bool times_of(struct device *dv, int64_t *dur_ns)
{
	bool by_end = !record_has(&dv->rec, DURATION) && record_has(&dv->rec, START) && record_has(&dv->rec, END);
	int64_t start_ns;

	if (!span_of(dv, by_end ? END : DURATION, dur_ns))
		return false;
	if (!record_has(&dv->rec, START))
		return true;
	if (!span_of(dv, START, &start_ns))
		return false;
	if (by_end)
		*dur_ns -= start_ns;
	if (*dur_ns < 0) {
		blame(dv, TRACE_BAD_VALUE);
		return false;
	}
	if (start_ns + *dur_ns > dv->last_ns)
		dv->last_ns = start_ns + *dur_ns;
	return true;
}

/* ---- the lists */

static struct str engine_of(const struct record *rec)
{
	struct str engine = record_str(rec, record_str(rec, ENGINE).n > 0 ? ENGINE : NAME);

	if (engine.n == 0)
		return STR("Unknown");
	return str_eq(engine, STR("TensorMatrix")) ? STR("Tensor") : engine;
}

static void add_work(struct device *dv, struct str engine, struct str opcode, int64_t ns)
{
	struct str hlo = record_str(&dv->rec, HLO), layer = record_str(&dv->rec, LAYER);

	draft_device(draft_op_exact(&dv->d, OP_ENGINE, engine), ns, false);
	buf_reset(&dv->name);
	buf_str(&dv->name, engine);
	buf_byte(&dv->name, ' ');
	buf_str(&dv->name, opcode);
	dv->d.full |= dv->name.rc != OK;
	draft_device(draft_op_exact(&dv->d, OP_KERNEL, buf_view(&dv->name)), ns, hlo.n == 0);
	if (hlo.n > 0)
		draft_sum(draft_op_exact(&dv->parts, OP_HLO, hlo), 1, ns);
	if (layer.n > 0)
		draft_sum(draft_op_exact(&dv->parts, OP_ANNOTATION, layer), 1, ns);
}

static void on_instruction(struct device *dv)
{
	struct str engine = engine_of(&dv->rec);
	struct str opcode = record_str(&dv->rec, record_str(&dv->rec, OPCODE).n > 0 ? OPCODE : TYPE);
	const struct label wait = { STR("engine"), engine };
	int64_t dur_ns;

	if (opcode.n == 0) {
		blame(dv, TRACE_NO_NAME);
		return;
	}
	if (!times_of(dv, &dur_ns))
		return;
	dv->n_rows++;
	if (str_eq(opcode, STR("EVENT_SEMAPHORE")))
		draft_gauge(&dv->d, DRAFT_SUM, STR("semaphore_wait"), STR("ns"), (double)dur_ns, &wait, 1);
	else
		add_work(dv, engine, opcode, dur_ns);
}

static void on_dma(struct device *dv)
{
	struct str duplicate = record_str(&dv->rec, DUPLICATE);
	int64_t dur_ns, bytes;

	if (str_eq(duplicate, STR("yes")) || str_eq(duplicate, STR("1")) || !times_of(dv, &dur_ns))
		return;
	dv->n_rows++;
	draft_device(draft_op_exact(&dv->d, OP_ENGINE, STR("DMA")), dur_ns, false);
	if (record_i64(&dv->rec, BYTES, &bytes) == OK && bytes >= 0)
		draft_gauge(&dv->d, DRAFT_SUM, STR("dma_bytes"), STR("bytes"), (double)bytes, NULL, 0);
}

/* A layer's span is wall time: the engines' times in it may be more, or less. */
static void on_layer(struct device *dv)
{
	struct str name = record_str(&dv->rec, NAME);
	struct op_summary *op;
	int64_t dur_ns;

	if (name.n == 0 || !times_of(dv, &dur_ns))
		return;
	op = draft_op_exact(&dv->parts, OP_ANNOTATION, name);
	if (op != NULL && op->max_ns < dur_ns)
		op->max_ns = dur_ns;
}

static void on_throttle(struct device *dv)
{
	const struct label type = { STR("type"), record_str(&dv->rec, TYPE) };
	int64_t dur_ns;

	if (!times_of(dv, &dur_ns))
		return;
	draft_gauge(&dv->d, DRAFT_SUM, STR("throttle_events"), STR("1"), 1, &type, 1);
	draft_gauge(&dv->d, DRAFT_SUM, STR("throttle_time"), STR("ns"), (double)dur_ns, &type, 1);
}

static void on_memory(struct device *dv)
{
	const struct label labels[] = {
		{ STR("usage_type"), record_str(&dv->rec, TYPE) },
		{ STR("nc"), record_str(&dv->rec, NC) },
		{ STR("nd"), record_str(&dv->rec, ND) },
	};
	int64_t bytes;

	if (record_i64(&dv->rec, BYTES, &bytes) < 0)
		return;
	if (bytes < 0)
		blame(dv, TRACE_BAD_VALUE);
	else
		draft_gauge(&dv->d, DRAFT_MAX, STR("device_memory"), STR("bytes"), (double)bytes, labels, COUNT(labels));
}

static void on_warning(struct device *dv)
{
	const struct label labels[] = {
		{ STR("category"), record_str(&dv->rec, CATEGORY) },
		{ STR("message"), record_str(&dv->rec, MESSAGE) },
	};

	draft_gauge(&dv->d, DRAFT_SUM, STR("profile_warnings"), STR("1"), 1, labels, COUNT(labels));
}

/* Versions stand in different lists, by the tool's version. */
static void on_versions(struct device *dv)
{
	static const struct {
		enum slot slot;
		const char *key;
	} versions[] = {
		{ PROFILER, "profiler" }, { RUNTIME, "runtime" },	 { DRIVER, "driver" },
		{ COMPILER, "compiler" }, { COLLECTIVES, "collectives" },
	};

	for (size_t i = 0; i < COUNT(versions); i++)
		draft_version(&dv->d, str_of(versions[i].key), record_str(&dv->rec, versions[i].slot));
	draft_label(&dv->d, STR("instance_type"), record_str(&dv->rec, INSTANCE));
}

static void on_metadata(struct device *dv)
{
	static const struct {
		enum slot slot;
		const char *name, *unit;
	} peaks[] = {
		{ HBM_BANDWIDTH, "peak_hbm_bandwidth", "bytes/s" }, { DMA_BANDWIDTH, "peak_dma_bandwidth", "bytes/s" },
		{ PE_CLOCK, "tensor_engine_clock", "GHz" },	    { OTHER_CLOCK, "other_engines_clock", "GHz" },
		{ PE_ROWS, "tensor_engine_rows", "1" },		    { PE_COLS, "tensor_engine_cols", "1" },
	};
	int64_t first_ns = 0, last_ns = 0;

	for (size_t i = 0; i < COUNT(peaks); i++) {
		double v;

		if (record_double(&dv->rec, peaks[i].slot, &v) == OK && v >= 0)
			draft_gauge(&dv->d, DRAFT_LAST, str_of(peaks[i].name), str_of(peaks[i].unit), v, NULL, 0);
	}
	if (record_i64(&dv->rec, FIRST_HW, &first_ns) == OK && record_i64(&dv->rec, LAST_HW, &last_ns) == OK &&
		first_ns >= 0 && last_ns > first_ns && neuron_dur_possible(last_ns - first_ns))
		dv->hw_ns = last_ns - first_ns;
	on_versions(dv);
	if (str_eq(record_str(&dv->rec, SIMULATION), STR("1")))
		draft_label(&dv->d, STR("simulation"), STR("true"));
}

static void on_header(struct device *dv)
{
	draft_label(&dv->d, STR("neff_hash"), record_str(&dv->rec, HASH));
	draft_label(&dv->d, STR("network"), record_str(&dv->rec, NETWORK));
}

/* ---- fields */

static const struct record_field instruction_fields[] = {
	RECORD_FIELD("timestamp", START),    RECORD_FIELD("duration", DURATION),	RECORD_FIELD("label", ENGINE),
	RECORD_FIELD("opcode", OPCODE),      RECORD_FIELD("layer", LAYER),		RECORD_FIELD("hlo_name", HLO),
	RECORD_FIELD("engine", ENGINE),      RECORD_FIELD("duration_ns", DURATION), RECORD_FIELD("start_ts", START),
	RECORD_FIELD("end_ts", END),	     RECORD_FIELD("subgroup", NAME),	RECORD_FIELD("compiler_opcode", TYPE),
};

static const struct record_field dma_fields[] = {
	RECORD_FIELD("timestamp", START),    RECORD_FIELD("duration", DURATION), RECORD_FIELD("transfer_size", BYTES),
	RECORD_FIELD("duplicate", DUPLICATE), RECORD_FIELD("start_ts", START),   RECORD_FIELD("duration_ns", DURATION),
	RECORD_FIELD("end_ts", END),
};

static const struct record_field layer_fields[] = {
	RECORD_FIELD("name", NAME),
	RECORD_FIELD("start", START),
	RECORD_FIELD("end", END),
	RECORD_FIELD("duration", DURATION),
};

static const struct record_field throttle_fields[] = {
	RECORD_FIELD("timestamp", START),
	RECORD_FIELD("duration", DURATION),
	RECORD_FIELD("type", TYPE),
	RECORD_FIELD("throttle_type", TYPE),
	RECORD_FIELD("start_ts", START),
	RECORD_FIELD("end_ts", END),
	RECORD_FIELD("duration_ns", DURATION),
};

static const struct record_field memory_fields[] = {
	RECORD_FIELD("amount_bytes", BYTES),
	RECORD_FIELD("nd", ND),
	RECORD_FIELD("nc", NC),
	RECORD_FIELD("usage_type", TYPE),
};

static const struct record_field warning_fields[] = {
	RECORD_FIELD("category", CATEGORY),
	RECORD_FIELD("message", MESSAGE),
	RECORD_TEXT(MESSAGE),
};

static const struct record_field metadata_fields[] = {
	RECORD_FIELD("first_hw_timestamp", FIRST_HW),
	RECORD_FIELD("last_hw_timestamp", LAST_HW),
	RECORD_FIELD("is_simulation", SIMULATION),
	RECORD_FIELD("hbm_ddr_bandwidth", HBM_BANDWIDTH),
	RECORD_FIELD("dma_ddr_bandwidth", DMA_BANDWIDTH),
	RECORD_FIELD("pe_clock_freq", PE_CLOCK),
	RECORD_FIELD("tensor_engine_clock_freq", PE_CLOCK),
	RECORD_FIELD("pe_clock_others", OTHER_CLOCK),
	RECORD_FIELD("neuroncore_clock_freq", OTHER_CLOCK),
	RECORD_FIELD("pe_num_rows", PE_ROWS),
	RECORD_FIELD("tensor_engine_num_rows", PE_ROWS),
	RECORD_FIELD("pe_num_cols", PE_COLS),
	RECORD_FIELD("tensor_engine_num_cols", PE_COLS),
	RECORD_FIELD("instance_type", INSTANCE),
	RECORD_FIELD("runtime_version", RUNTIME),
	RECORD_FIELD("driver_version", DRIVER),
	RECORD_FIELD("compiler_version", COMPILER),
	RECORD_FIELD("collectives_version", COLLECTIVES),
	RECORD_FIELD("explorer_version", PROFILER),
};

static const struct record_field header_fields[] = {
	RECORD_FIELD("hash", HASH),
	RECORD_FIELD("network_name", NETWORK),
};

static const struct record_field info_fields[] = {
	RECORD_FIELD("profiler_version", PROFILER),
};

#define FIELDS(table) table, COUNT(table)
static const struct list {
	const char *key;
	const struct record_field *fields;
	size_t n_fields;
	void (*row)(struct device *dv);
} lists[] = {
	{ "instruction", FIELDS(instruction_fields), on_instruction },
	{ "dma", FIELDS(dma_fields), on_dma },
	{ "layer_summary", FIELDS(layer_fields), on_layer },
	{ "ham", FIELDS(throttle_fields), on_throttle },
	{ "throttle", FIELDS(throttle_fields), on_throttle },
	{ "nc_mem_usage", FIELDS(memory_fields), on_memory },
	{ "warnings", FIELDS(warning_fields), on_warning },
	{ "metadata", FIELDS(metadata_fields), on_metadata },
	{ "neff_header", FIELDS(header_fields), on_header },
	{ "profile_info", FIELDS(info_fields), on_versions },
};

/* ---- the file */

static bool read_rows(struct device *dv, const struct list *l)
{
	unsigned depth = tokens_depth(dv->t);
	enum record_step step;

	while ((step = record_next(dv->t, depth, l->fields, l->n_fields, &dv->rec)) == RECORD_READ)
		l->row(dv);
	return step == RECORD_END;
}

/* A list of one may be without its brackets. */
static bool read_one(struct device *dv, const struct list *l)
{
	if (!record_members(dv->t, l->fields, l->n_fields, &dv->rec))
		return false;
	if (dv->rec.some)
		l->row(dv);
	return true;
}

static const struct list *list_of(struct str key)
{
	for (size_t i = 0; i < COUNT(lists); i++)
		if (str_eq(key, str_of(lists[i].key)))
			return &lists[i];
	return NULL;
}

/* The value of a member of the whole. False where reading cannot go on. */
static bool read_member(struct device *dv, struct str key)
{
	const struct list *l = list_of(key);
	bool summary = str_eq(key, STR("summary"));
	struct json_value v;
	enum json_token tok;

	if (l == NULL && !summary) {
		tokens_skip(dv->t);
		return true;
	}
	tok = tokens_next(dv->t, &v);
	if (tok != JSON_ARRAY && tok != JSON_OBJECT)
		return tok != JSON_DONE && tok != JSON_ERROR;
	if (summary)
		return neuron_summary_inside(dv->t, tok == JSON_ARRAY, &dv->d, &dv->total_ns);
	return tok == JSON_ARRAY ? read_rows(dv, l) : read_one(dv, l);
}

static int read_all(struct device *dv, struct err *e)
{
	struct json_value v;
	enum json_token tok = tokens_next(dv->t, &v);

	if (dv->t->rc < 0)
		return dv->t->rc;
	if (tok != JSON_OBJECT)
		return err_set(e, E_FORMAT, "no device profile: it must be a JSON object with a list \"instruction\"");
	while ((tok = tokens_next(dv->t, &v)) == JSON_KEY)
		if (!read_member(dv, v.raw))
			break;
	if (tok == JSON_ERROR)
		tokens_count_bad(dv->t);
	return tokens_finish(dv->t);
}

/* All instructions of one HLO op are one call, and so are those of one layer, whose span the layer list says. */
static void settle(struct device *dv)
{
	dv->d.full |= dv->parts.full;
	vec_each(part, &dv->parts.ops) {
		struct op_summary *op = draft_op(&dv->d, part->kind, hlo_base_name(part->name));
		int64_t span_ns = part->max_ns > 0 ? part->max_ns : part->device_total_ns;

		if (part->kind == OP_HLO) {
			draft_device(op, part->device_total_ns, true);
		} else if (op != NULL) {
			draft_sum(op, 0, span_ns);
			op->device_self_ns = 0; /* its time is that of hlo and kernel rows */
			draft_value(op, span_ns, OP_BASIS_DEVICE);
		}
	}
}

static int finish(struct device *dv, struct window *out, struct err *e)
{
	int rc;

	if (dv->n_rows == 0 && dv->d.gauges.n == 0)
		return err_set(e, E_FORMAT, "no device profile: no instructions in it");
	settle(dv);
	rc = draft_finish(&dv->d, out, e);
	if (rc < 0)
		return rc;
	out->has_device = true;
	out->steps = out->launches = dv->n_rows > 0;
	out->steps_from = dv->n_rows > 0 ? STEPS_EXECUTIONS : STEPS_NONE;
	out->dur_ns = dv->total_ns > 0 ? dv->total_ns : dv->hw_ns > 0 ? dv->hw_ns : dv->last_ns;
	out->events = dv->report->events = dv->n_rows;
	trace_report_add(dv->report, TRACE_TOO_MANY, draft_dropped(&dv->d) + draft_dropped(&dv->parts), 0);
	return OK;
}

int neuron_device_read(struct arena *a, struct tokens *t, struct window *out, struct err *e)
{
	struct device dv = { .t = t, .report = t->report };
	int rc;

	*out = (struct window){ 0 };
	draft_init(&dv.d, a);
	draft_init(&dv.parts, a);
	record_init(&dv.rec);
	buf_init(&dv.name, RECORD_BYTES_MAX);
	rc = read_all(&dv, e);
	if (rc == OK)
		rc = finish(&dv, out, e);
	buf_fini(&dv.name);
	record_fini(&dv.rec);
	draft_fini(&dv.parts);
	draft_fini(&dv.d);
	return rc;
}

bool neuron_device_split(const struct op_summary *op, struct str *engine, struct str *opcode)
{
	struct str rest = op->name;

	if (op->kind != OP_KERNEL)
		return false;
	*engine = str_split(&rest, ' ');
	*opcode = rest;
	return rest.p != NULL && engine->n > 0 && rest.n > 0;
}
