#include "trace/neuron_monitor.h"

#include "json/num.h"
#include "trace/draft.h"
#include "trace/neuron_summary.h"
#include "trace/walk.h"

enum { PENDING_MAX = 20000, PENDING_BYTES_MAX = 8 << 20, STARS_MAX = 3, LABELS_MAX = STARS_MAX + 2, RUNTIMES_MAX = 4096 };

/* Whose value it is: known only when the object around it is over. */
enum scope { OF_HOST, OF_RUNTIME, OF_DEVICE };

#define PERCENT 0.01
#define RUNTIME "neuron_runtime_data/[]/report/"
#define CORES RUNTIME "neuroncore_counters/neuroncores_in_use/"
#define EXECUTIONS RUNTIME "execution_stats/"
#define COMPLETED EXECUTIONS "execution_summary/completed"
#define MEMORY RUNTIME "memory_used/neuron_runtime_used_bytes/"
#define DEVICES "system_data/neuron_hw_counters/neuron_devices/[]/"
#define BYTES_MAX 1152921504606846976.0 /* 2^60 */
#define COUNT_MAX 1e18
#define SECONDS_MAX 2678400.0

/* star: what the keys at '*' become, as label keys in order; "" for none. fixed: one label more. */
static const struct rule {
	const char *path, *name, *unit;
	double scale, max; /* of the value as it stands */
	enum draft_fold fold;
	enum scope scope;
	const char *star[STARS_MAX];
	const char *fixed_key, *fixed;
} rules[] = {
	{ CORES "*/neuroncore_utilization", "neuroncore_utilization_ratio", "ratio", PERCENT, 101, DRAFT_MEAN, OF_RUNTIME,
		{ "nc" }, NULL, NULL },
	{ CORES "*/*/*/neuroncore_utilization", "neuroncore_physical_utilization_ratio", "ratio", PERCENT, 101, DRAFT_MEAN,
		OF_RUNTIME, { "nc", "", "core" }, NULL, NULL },
	{ CORES "*/flops", "flops", "flops/s", 1, 1e20, DRAFT_MEAN, OF_RUNTIME, { "nc" }, NULL, NULL },
	{ CORES "*/effective_flops", "flops", "flops/s", 1, 1e20, DRAFT_MEAN, OF_RUNTIME, { "nc" }, NULL, NULL },
	{ EXECUTIONS "error_summary/*", "execution_errors", "1", 1, COUNT_MAX, DRAFT_LAST, OF_RUNTIME, { "type" }, NULL,
		NULL },
	{ EXECUTIONS "execution_summary/*", "executions", "1", 1, COUNT_MAX, DRAFT_SUM, OF_RUNTIME, { "status" }, NULL,
		NULL },
	{ EXECUTIONS "latency_stats/total_latency/*", "execution_latency", "s", 1, SECONDS_MAX, DRAFT_MEAN, OF_RUNTIME,
		{ "percentile" }, "latency", "total" },
	{ EXECUTIONS "latency_stats/device_latency/*", "execution_latency", "s", 1, SECONDS_MAX, DRAFT_MEAN, OF_RUNTIME,
		{ "percentile" }, "latency", "device" },
	{ MEMORY "host", "runtime_memory", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_RUNTIME, { NULL }, "location", "host" },
	{ MEMORY "neuron_device", "runtime_memory", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_RUNTIME, { NULL }, "location",
		"device" },
	{ MEMORY "usage_breakdown/host/*", "host_memory", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_RUNTIME, { "usage_type" },
		NULL, NULL },
	{ MEMORY "usage_breakdown/neuroncore_memory_usage/*/*", "device_memory", "bytes", 1, BYTES_MAX, DRAFT_LAST,
		OF_RUNTIME, { "nc", "usage_type" }, NULL, NULL },
	{ RUNTIME "neuron_runtime_vcpu_usage/vcpu_usage/*", "runtime_cpu_ratio", "ratio", PERCENT, 1e6, DRAFT_MEAN,
		OF_RUNTIME, { "mode" }, NULL, NULL },
	{ DEVICES "mem_ecc_corrected", "ecc_events", "1", 1, COUNT_MAX, DRAFT_LAST, OF_DEVICE, { NULL }, "type",
		"mem_corrected" },
	{ DEVICES "mem_ecc_uncorrected", "ecc_events", "1", 1, COUNT_MAX, DRAFT_LAST, OF_DEVICE, { NULL }, "type",
		"mem_uncorrected" },
	{ DEVICES "sram_ecc_corrected", "ecc_events", "1", 1, COUNT_MAX, DRAFT_LAST, OF_DEVICE, { NULL }, "type",
		"sram_corrected" },
	{ DEVICES "sram_ecc_uncorrected", "ecc_events", "1", 1, COUNT_MAX, DRAFT_LAST, OF_DEVICE, { NULL }, "type",
		"sram_uncorrected" },
	{ "system_data/vcpu_usage/average_usage/*", "host_cpu_ratio", "ratio", PERCENT, 101, DRAFT_MEAN, OF_HOST, { "mode" },
		NULL, NULL },
	{ "system_data/vcpu_usage/context_switch_count", "context_switches", "1", 1, COUNT_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "system_data/memory_info/memory_total_bytes", "host_memory_total", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "system_data/memory_info/memory_used_bytes", "host_memory_used", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "system_data/memory_info/swap_total_bytes", "host_swap_total", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "system_data/memory_info/swap_used_bytes", "host_swap_used", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "neuron_hardware_info/neuron_device_count", "neuron_devices", "1", 1, 100000, DRAFT_LAST, OF_HOST, { NULL }, NULL,
		NULL },
	{ "neuron_hardware_info/neuroncore_per_device_count", "neuroncores_per_device", "1", 1, 100000, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "neuron_hardware_info/neuron_device_memory_size", "device_memory_size", "bytes", 1, BYTES_MAX, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
	{ "neuron_hardware_info/logical_neuroncore_config", "logical_neuroncore_config", "1", 1, 100000, DRAFT_LAST, OF_HOST,
		{ NULL }, NULL, NULL },
};

static const struct {
	const char *path, *label;
} labels[] = {
	{ "instance_info/instance_type", "instance_type" },
	{ "instance_info/instance_availability_zone", "availability_zone" },
	{ "neuron_hardware_info/neuron_device_type", "neuron_device_type" },
	{ "neuron_hardware_info/neuron_device_version", "neuron_device_version" },
	{ "neuron_hardware_info/neuroncore_version", "neuroncore_version" },
	{ "neuron_k8s_info/neuroncores_k8s_info/*/pod_name", "pod" },
	{ "neuron_k8s_info/neuroncores_k8s_info/*/namespace", "namespace" },
};

struct value {
	const struct rule *rule;
	struct str star[STARS_MAX];
	double value;
};
VEC(values, struct value);

VEC(runtimes, struct neuron_runtime);

struct neuron_monitor {
	struct draft d;
	struct arena *arena; /* the window's */
	struct trace_report *report, own_report;
	struct arena scratch; /* of one runtime's or device's values */
	struct values pending;
	struct runtimes runtimes;
	bool by_pid;
	struct str id, tag; /* of the runtime or device around; tag is the better name */
	double completed;   /* of the runtime around; -1: it does not say */
	int64_t completed_ns;
	struct str instance_id;
	double models, period_s;
	int64_t dur_ns;
	uint64_t n_values, n_reports, line_at;
};

/* ---- values */

static void emit(struct neuron_monitor *m, const struct value *v, struct str scope_key, struct str scope_id)
{
	struct label l[LABELS_MAX];
	size_t n = 0;

	if (scope_id.n > 0)
		l[n++] = (struct label){ scope_key, scope_id };
	for (size_t i = 0; i < STARS_MAX && v->rule->star[i] != NULL; i++)
		if (v->rule->star[i][0] != '\0')
			l[n++] = (struct label){ str_of(v->rule->star[i]), v->star[i] };
	if (v->rule->fixed_key != NULL)
		l[n++] = (struct label){ str_of(v->rule->fixed_key), str_of(v->rule->fixed) };
	draft_gauge(&m->d, v->rule->fold, str_of(v->rule->name), str_of(v->rule->unit), v->value, l, n);
	m->n_values++;
}

static void emit_pending(struct neuron_monitor *m, struct str key)
{
	struct str id = m->tag.n > 0 && !m->by_pid ? m->tag : m->id;
	bool whole = !arena_full(&m->scratch);

	trace_report_add(m->report, TRACE_TOO_MANY, whole ? 0 : m->pending.n + 1, m->line_at);
	vec_each(v, &m->pending)
		if (whole) /* else texts are missing */
			emit(m, v, key, id);
	m->pending.n = 0;
	m->id = m->tag = str_make("", 0);
	m->completed = -1;
	m->completed_ns = 0;
	arena_reset(&m->scratch);
}

/* ---- runtimes */

static struct neuron_runtime *runtime_of(struct neuron_monitor *m, int64_t pid)
{
	struct neuron_runtime *r;

	vec_each(old, &m->runtimes)
		if (old->pid == pid)
			return old;
	r = vec_push(&m->runtimes);
	if (r == NULL)
		trace_report_add(m->report, TRACE_TOO_MANY, 1, m->line_at);
	else
		r->pid = pid;
	return r;
}

static void end_runtime(struct neuron_monitor *m)
{
	struct neuron_runtime *r;
	int64_t pid;

	if (m->by_pid && str_to_i64(m->id, &pid) == OK && pid > 0 && (r = runtime_of(m, pid)) != NULL) {
		r->in_last = true;
		r->completed = m->completed;
		r->period_ns = m->completed_ns;
		if (r->tag.n == 0 && m->tag.n > 0 && !str_eq(m->tag, m->id))
			r->tag = draft_text(&m->d, m->tag);
	}
	emit_pending(m, m->by_pid ? STR("pid") : STR("tag"));
}

/* The keys at the pattern's stars. */
static void take_stars(struct neuron_monitor *m, const struct rule *r, const struct walk *w, struct value *v)
{
	struct str rest = str_of(r->path);
	size_t n = 0;

	for (unsigned i = 0; rest.p != NULL && n < STARS_MAX; i++)
		if (str_eq(str_split(&rest, '/'), STR("*")))
			v->star[n++] = arena_str(&m->scratch, walk_key(w, i));
}

static void take_value(struct neuron_monitor *m, const struct rule *r, const struct walk *w, struct str text, uint64_t offset)
{
	struct value v = { .rule = r };
	struct value *keep;

	if (json_double(text, &v.value) < 0) {
		trace_report_add(m->report, TRACE_BAD_NUMBER, 1, offset);
		return;
	}
	if (!(v.value >= 0 && v.value <= r->max)) {
		trace_report_add(m->report, TRACE_BAD_VALUE, 1, offset);
		return;
	}
	v.value *= r->scale;
	if (walk_matches(w, COMPLETED))
		m->completed = v.value;
	take_stars(m, r, w, &v);
	if (r->scope == OF_HOST && !arena_full(&m->scratch)) {
		emit(m, &v, STR(""), STR(""));
		return;
	}
	keep = vec_push(&m->pending);
	if (keep != NULL)
		*keep = v;
	else
		trace_report_add(m->report, TRACE_TOO_MANY, 1, offset);
}

/* ---- leaves that are no values */

static void take_error(struct neuron_monitor *m, struct str text)
{
	const struct label message = { STR("message"), text };

	draft_gauge(&m->d, DRAFT_SUM, STR("monitor_errors"), STR("1"), 1, &message, 1);
	m->n_values++;
}

static void take_period(struct neuron_monitor *m, const struct walk *w, struct str text)
{
	double s;

	if (json_double(text, &s) < 0 || !(s > 0 && s <= SECONDS_MAX))
		return;
	m->period_s = s > m->period_s ? s : m->period_s;
	if (walk_matches(w, EXECUTIONS "period"))
		m->completed_ns = (int64_t)(s * 1e9);
}

static bool take_label(struct neuron_monitor *m, const struct walk *w, struct str text)
{
	for (size_t i = 0; i < COUNT(labels); i++)
		if (walk_matches(w, labels[i].path)) {
			draft_label(&m->d, str_of(labels[i].label), text);
			return true;
		}
	return false;
}

static bool take_name(struct neuron_monitor *m, const struct walk *w, struct str text)
{
	if (walk_matches(w, "neuron_runtime_data/[]/pid") || walk_matches(w, DEVICES "neuron_device_index"))
		m->id = arena_str(&m->scratch, text);
	else if (walk_matches(w, "neuron_runtime_data/[]/neuron_runtime_tag"))
		m->tag = arena_str(&m->scratch, text);
	else if (walk_matches(w, "instance_info/instance_id"))
		m->instance_id = draft_text(&m->d, text);
	else if (walk_matches(w, RUNTIME "memory_used/loaded_models/[]/uuid"))
		m->models++;
	else
		return take_label(m, w, text);
	return true;
}

static void on_leaf(void *arg, const struct walk *w, struct str value, uint64_t offset)
{
	struct neuron_monitor *m = arg;
	struct str key = walk_key(w, w->depth - 1);

	for (size_t i = 0; i < COUNT(rules); i++)
		if (walk_matches(w, rules[i].path)) {
			take_value(m, &rules[i], w, value, offset);
			return;
		}
	if (str_eq(key, STR("error")) && value.n > 0)
		take_error(m, value);
	else if (str_eq(key, STR("period")))
		take_period(m, w, value);
	else
		take_name(m, w, value);
}

static void on_end(void *arg, const struct walk *w)
{
	struct neuron_monitor *m = arg;

	if (walk_matches(w, "neuron_runtime_data/[]"))
		end_runtime(m);
	else if (walk_matches(w, "system_data/neuron_hw_counters/neuron_devices/[]"))
		emit_pending(m, STR("device"));
}

/* ---- reports */

static void end_report(struct neuron_monitor *m)
{
	end_runtime(m); /* of a report that ends early */
	draft_gauge(&m->d, DRAFT_LAST, STR("loaded_models"), STR("1"), m->models, NULL, 0);
	m->dur_ns += (int64_t)(m->period_s * 1e9);
	if (!neuron_dur_possible(m->dur_ns))
		m->dur_ns = NEURON_DUR_MAX_NS;
	m->models = m->period_s = 0;
	m->n_reports++;
}

static void read_report(struct neuron_monitor *m, struct tokens *t)
{
	const struct walk_visitor visitor = { on_leaf, on_end, m };

	(void)walk_inside(t, false, &visitor);
	end_report(m);
}

/* The document that a line begins with, a report or a list of them; false: it is none. */
static bool read_one(struct neuron_monitor *m, struct tokens *t)
{
	struct json_value v;
	enum json_token tok = tokens_next(t, &v);
	bool list = tok == JSON_ARRAY, any = false;

	m->line_at = t->document_at;
	if (list)
		tok = tokens_next(t, &v);
	for (; tok == JSON_OBJECT; tok = list ? tokens_next(t, &v) : JSON_DONE) {
		read_report(m, t);
		any = true;
	}
	if (any)
		return true;
	if (tok == JSON_ERROR) {
		tokens_count_bad(t);
	} else {
		trace_report_add(t->report, TRACE_BAD_EVENT, 1, t->document_at);
	}
	return false;
}

static int read_all(struct neuron_monitor *m, struct tokens *t)
{
	while (tokens_next_line(t))
		(void)read_one(m, t);
	return tokens_finish(t);
}

int neuron_monitor_finish(struct neuron_monitor *m, struct window *out, struct err *e)
{
	int rc;

	*out = (struct window){ 0 };
	if (m->n_values == 0)
		return err_set(e, E_FORMAT, "no report of neuron-monitor in it");
	rc = draft_finish(&m->d, out, e);
	if (rc < 0)
		return rc;
	out->host = m->instance_id;
	out->dur_ns = m->dur_ns;
	out->events = m->report->events = m->n_reports;
	trace_report_add(m->report, TRACE_TOO_MANY, draft_dropped(&m->d), 0);
	return OK;
}

static void monitor_init(struct neuron_monitor *m, struct arena *a, struct trace_report *report)
{
	*m = (struct neuron_monitor){ .arena = a, .report = report, .pending = VEC_INIT(PENDING_MAX),
		.runtimes = VEC_INIT(RUNTIMES_MAX), .completed = -1, .instance_id = { "", 0 } };
	draft_init(&m->d, a);
	arena_init(&m->scratch, PENDING_BYTES_MAX);
}

static void monitor_fini(struct neuron_monitor *m)
{
	vec_fini(&m->pending);
	vec_fini(&m->runtimes);
	arena_fini(&m->scratch);
	draft_fini(&m->d);
}

int neuron_monitor_read(struct arena *a, struct tokens *t, struct window *out, struct err *e)
{
	struct neuron_monitor m;
	int rc;

	*out = (struct window){ 0 };
	monitor_init(&m, a, t->report);
	tokens_as_lines(t);
	rc = read_all(&m, t);
	if (rc == OK)
		rc = neuron_monitor_finish(&m, out, e);
	monitor_fini(&m);
	return rc;
}

/* ---- one at a time */

struct neuron_monitor *neuron_monitor_new(struct arena *a)
{
	struct neuron_monitor *m = mem_get(sizeof(*m));

	monitor_init(m, a, NULL);
	m->report = &m->own_report;
	m->by_pid = true;
	return m;
}

void neuron_monitor_free(struct neuron_monitor *m)
{
	if (m == NULL)
		return;
	monitor_fini(m);
	mem_free(m);
}

int neuron_monitor_add(struct neuron_monitor *m, struct str line, struct err *e)
{
	const struct trace_limits limits = { line.n + 1, 2, 0, 0 };
	struct input *in;
	struct tokens t;
	bool is_report;
	int rc = input_open_memory(&in, line, "neuron-monitor", &limits, e);

	if (rc < 0)
		return rc;
	input_without_hash(in);
	vec_each(r, &m->runtimes)
		r->in_last = false;
	tokens_init(&t, in, m->report, e);
	tokens_as_lines(&t);
	is_report = tokens_next_line(&t) && read_one(m, &t);
	rc = tokens_finish(&t);
	tokens_fini(&t);
	input_close(in);
	if (rc == OK && !is_report)
		rc = err_set(e, E_FORMAT, "no report of neuron-monitor: \"%.*s\"", STR_ARG(str_upto(line, 60)));
	return rc;
}

const struct neuron_runtime *neuron_monitor_runtimes(const struct neuron_monitor *m, size_t *n)
{
	*n = m->runtimes.n;
	return m->runtimes.v;
}

uint64_t neuron_monitor_lost(const struct neuron_monitor *m)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < m->report->n_skips; i++)
		lost += m->report->skips[i].count;
	return lost;
}
