#include "trace/event.h"

#include "base/mem.h"
#include "trace/launch_delay.h"
#include "trace/memory.h"
#include "trace/xla.h"

enum {
	NAMES_MAX = 4000000,
	THREADS_MAX = 1000000, /* of EVENT_THREADS_MAX */
	TEXT_BYTES_MAX = 1 << 30, /* of all names together */
};

const struct event_cat_info event_cat_infos[EVENT_CATS] = {
	[CAT_CPU_OP] = { .class = EVENT_HOST_OP, .op = true, .kind = OP_CPU_OP },
	[CAT_OPERATOR] = { .class = EVENT_HOST_OP, .op = true, .kind = OP_CPU_OP },
	[CAT_USER_ANNOTATION] = { .class = EVENT_HOST_OP, .annotation = true, .kind = OP_ANNOTATION },
	[CAT_RUNTIME] = { .class = EVENT_HOST_CALL, .launcher = true, .kind = OP_RUNTIME },
	[CAT_GLOW_RUNTIME] = { .class = EVENT_HOST_CALL, .kind = OP_RUNTIME },
	[CAT_OVERHEAD] = { .class = EVENT_HOST_CALL, .kind = OP_OVERHEAD },
	[CAT_EXTERNAL_CORRELATION] = { .class = EVENT_HOST_CALL, .kind = OP_OVERHEAD },
	[CAT_KERNEL] = { .class = EVENT_DEVICE, .executes = true, .kind = OP_KERNEL },
	[CAT_MEMCPY] = { .class = EVENT_DEVICE, .executes = true, .kind = OP_MEMCPY },
	[CAT_MEMSET] = { .class = EVENT_DEVICE, .executes = true, .kind = OP_MEMSET },
	[CAT_DEVICE_OP] = { .class = EVENT_DEVICE, .executes = true, .kind = OP_KERNEL },
	[CAT_DEVICE_RANGE] = { .class = EVENT_DEVICE, .kind = OP_OVERHEAD },
	[CAT_DEVICE_ANNOTATION] = { .class = EVENT_DEVICE, .annotation = true, .kind = OP_ANNOTATION },
	[CAT_PYTHON] = { .class = EVENT_PYTHON, .kind = OP_OVERHEAD },
	[CAT_HLO] = { .class = EVENT_DEVICE, .executes = true, .kind = OP_HLO },
};
/* The commonest first. */
static const struct {
	struct str text;
	enum event_cat cat;
} cats[] = {
	{ STR("cpu_op"), CAT_CPU_OP },
	{ STR("kernel"), CAT_KERNEL },
	{ STR("python_function"), CAT_PYTHON },
	{ STR("user_annotation"), CAT_USER_ANNOTATION },
	{ STR("gpu_memcpy"), CAT_MEMCPY },
	{ STR("gpu_memset"), CAT_MEMSET },
	{ STR("gpu_user_annotation"), CAT_DEVICE_ANNOTATION },
	{ STR("overhead"), CAT_OVERHEAD },
	{ STR("external_correlation"), CAT_EXTERNAL_CORRELATION },
	{ STR("Operator"), CAT_OPERATOR },
	{ STR("Runtime"), CAT_RUNTIME },
	{ STR("Kernel"), CAT_KERNEL },
	{ STR("Memcpy"), CAT_MEMCPY },
	{ STR("Memset"), CAT_MEMSET },
	{ STR("mtia_ccp_events"), CAT_DEVICE_OP },
	{ STR("hpu_op"), CAT_DEVICE_OP },
	{ STR("cuda_sync"), CAT_DEVICE_RANGE },
	{ STR("cuda_profiler_range"), CAT_DEVICE_RANGE },
	{ STR("mtia_insight"), CAT_DEVICE_RANGE },
};

enum { CATS_COMMON = 4 };

static bool find_cat(struct str text, size_t from, size_t to, enum event_cat *out)
{
	for (size_t i = from; i < to; i++)
		if (str_eq(text, cats[i].text)) {
			*out = cats[i].cat;
			return true;
		}
	return false;
}

bool event_cat_parse(struct str text, enum event_cat *out)
{
	if (find_cat(text, 0, CATS_COMMON, out))
		return true;
	if (str_has_suffix(text, STR("_runtime")) || str_has_suffix(text, STR("_driver"))) {
		/* cuda, hip, xpu, mtia, privateuse1 and whatever comes next */
		*out = str_eq(text, STR("glow_runtime")) ? CAT_GLOW_RUNTIME : CAT_RUNTIME;
		return true;
	}
	return find_cat(text, CATS_COMMON, COUNT(cats), out);
}

static const struct {
	struct str prefix;
	const char *device;
} devices[] = {
	{ STR("cuda_"), "CUDA" },
	{ STR("hip_"), "CUDA" }, /* PyTorch calls both so */
	{ STR("privateuse1_"), "NEURON" },
	{ STR("xpu_"), "XPU" },
	{ STR("mtia_"), "MTIA" },
};

const char *event_cat_device(struct str text)
{
	for (size_t i = 0; i < COUNT(devices); i++)
		if (str_has_prefix(text, devices[i].prefix))
			return devices[i].device;
	return NULL;
}

/* ---- names */
static const struct {
	struct str text;
	uint8_t flags;
	bool whole; /* else a prefix */
} marks[] = {
	{ STR("ProfilerStep*"), NAME_STEP, true },
	{ STR("[memory]"), NAME_DROPPED, true },
	{ STR("[OutOfMemory]"), NAME_DROPPED, true },
	{ STR("profiler::_record_function_enter"), NAME_DROPPED, true },
	{ STR("profiler::_record_function_enter_new"), NAME_DROPPED, true },
	{ STR("profiler::_record_function_exit"), NAME_DROPPED, true },
	{ STR("aten::is_leaf"), NAME_DROPPED, true },
	{ STR("aten::output_nr"), NAME_DROPPED, true },
	{ STR("aten::_version"), NAME_DROPPED, true },
	{ STR("nccl:"), NAME_ASYNC, false },
	{ STR("gloo:"), NAME_ASYNC, false },
	{ STR("mpi:"), NAME_ASYNC, false },
	{ STR("ucc:"), NAME_ASYNC, false },
};

/* ATen ops that make a view or memory and launch nothing, without "aten::" and a trailing "_". */
static const char *const no_work[] = {
	"view", "reshape", "_reshape_alias", "_unsafe_view", "view_as", "reshape_as", "expand", "expand_as", "broadcast_to",
	"t", "transpose", "permute", "numpy_T", "mT", "adjoint", "movedim", "swapaxes", "unsqueeze", "squeeze", "flatten",
	"unflatten", "ravel", "as_strided", "slice", "select", "narrow", "split", "split_with_sizes", "chunk", "unbind",
	"tensor_split", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "unfold", "diagonal", "detach", "alias",
	"lift", "lift_fresh", "view_as_real", "view_as_complex", "real", "imag", "conj", "_conj", "resolve_conj",
	"resolve_neg", "positive", "set", "resize", "record_stream", "pin_memory", "empty", "empty_like", "empty_strided",
	"new_empty", "new_empty_strided", "item", "_local_scalar_dense", "is_nonzero", "result_type", "can_cast",
	"is_pinned", "_has_compatible_shallow_copy_type",
};

static bool launches_nothing(struct str name)
{
	if (!str_drop_prefix(&name, STR("aten::")))
		return false;
	for (size_t i = 0; i < COUNT(no_work); i++) {
		struct str op = str_of(no_work[i]);

		if (str_has_prefix(name, op) &&
			(name.n == op.n || (name.n == op.n + 1 && name.p[op.n] == '_')))
			return true;
	}
	return false;
}

static uint8_t flags_of(struct str name)
{
	for (size_t i = 0; i < COUNT(marks); i++)
		if (marks[i].whole ? str_eq(name, marks[i].text) : str_has_prefix(name, marks[i].text))
			return marks[i].flags;
	return launches_nothing(name) ? NAME_NO_WORK : 0;
}

void trace_names_init(struct trace_names *n, struct arena *a, size_t cap)
{
	*n = (struct trace_names){ 0 };
	intern_init(&n->intern, a, cap);
}

void trace_names_fini(struct trace_names *n)
{
	if (n == NULL)
		return;
	intern_fini(&n->intern);
	mem_free(n->flags);
	n->flags = NULL;
	n->room = 0;
}

uint32_t trace_names_id(struct trace_names *n, struct str name)
{
	struct str number = name;
	uint32_t id;

	if (str_drop_prefix(&number, STR("ProfilerStep#"))) {
		if (str_to_i64(number, &n->step) < 0 || n->step < 0)
			n->step = -1;
		name = STR("ProfilerStep*");
	}
	id = intern_find(&n->intern, name);
	if (id != INTERN_NONE)
		return id;
	if (intern_count(&n->intern) == n->room) {
		size_t room = n->room ? n->room * 2 : 256;
		uint8_t *flags = mem_try_resize(n->flags, room);

		if (flags == NULL)
			return INTERN_NONE;
		n->flags = flags;
		n->room = room;
	}
	id = intern_id(&n->intern, name);
	if (id != INTERN_NONE)
		n->flags[id] = flags_of(name);
	return id;
}

/* ---- the trace */
void trace_init(struct trace *t, size_t cap_events)
{
	*t = (struct trace){ .rank = -1 };
	t->steps.cap = TRACE_STEPS_MAX;
	t->events.cap = cap_events < EVENT_NO_LINK ? cap_events : EVENT_NO_LINK - 1;
	arena_init(&t->arena, TEXT_BYTES_MAX);
	trace_names_init(&t->names, &t->arena, NAMES_MAX);
	t->dims_of.cap = t->allocs.cap = t->events.cap;
	intern_init(&t->dims, &t->arena, NAMES_MAX);
	intern_init(&t->threads, &t->arena, THREADS_MAX);
	intern_init(&t->pids, &t->arena, THREADS_MAX);
}

void trace_fini(struct trace *t)
{
	if (t == NULL)
		return;
	vec_fini(&t->events);
	vec_fini(&t->steps);
	launch_delays_free(t->delays);
	t->delays = NULL;
	xla_free(t->xla);
	t->xla = NULL;
	vec_fini(&t->dims_of);
	vec_fini(&t->allocs);
	trace_names_fini(&t->names);
	intern_fini(&t->dims);
	intern_fini(&t->threads);
	intern_fini(&t->pids);
	mem_free(t->pid_of);
	t->pid_of = NULL;
	arena_fini(&t->arena);
}

void trace_forget_events(struct trace *t)
{
	t->events.n = t->steps.n = t->dims_of.n = t->allocs.n = 0;
	memset(t->copy_bytes, 0, sizeof(t->copy_bytes));
	launch_delays_free(t->delays);
	t->delays = NULL;
	t->device = NULL;
}

bool trace_note_step(struct trace *t, const struct trace_event *ev)
{
	struct trace_step *s;

	if (!event_is_step(t, ev))
		return true;
	s = vec_push(&t->steps);
	if (s != NULL)
		*s = (struct trace_step){ ev->start_ns, ev->dur_ns, t->names.step };
	return s != NULL;
}

static bool pid_room(struct trace *t)
{
	size_t room = t->pid_room ? t->pid_room * 2 : 64;
	uint32_t *pid_of;

	if (intern_count(&t->threads) < t->pid_room)
		return true;
	pid_of = mem_try_resize(t->pid_of, room * sizeof(*pid_of));
	if (pid_of == NULL)
		return false;
	t->pid_of = pid_of;
	t->pid_room = room;
	return true;
}

uint32_t trace_thread(struct trace *t, struct str pid, struct str tid)
{
	char key[512];
	struct str text = { key, 0 };
	uint32_t id, pid_id;

	pid = str_upto(pid, 200);
	tid = str_upto(tid, 200);
	if (pid.n)
		memcpy(key, pid.p, pid.n);
	key[pid.n] = '\037';
	if (tid.n)
		memcpy(key + pid.n + 1, tid.p, tid.n);
	text.n = pid.n + 1 + tid.n;
	id = intern_find(&t->threads, text);
	if (id != INTERN_NONE)
		return id;
	if (!pid_room(t))
		return INTERN_NONE;
	pid_id = intern_id(&t->pids, pid);
	id = pid_id == INTERN_NONE ? INTERN_NONE : intern_id(&t->threads, text);
	if (id != INTERN_NONE)
		t->pid_of[id] = pid_id;
	return id;
}

struct str trace_dims(const struct trace *t, const struct trace_event *ev)
{
	size_t at = (size_t)(ev - t->events.v);

	if (at >= t->dims_of.n || t->dims_of.v[at] == 0)
		return STR("[]");
	return intern_name(&t->dims, t->dims_of.v[at] - 1);
}

static void drop_python(struct trace *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->events.n; i++) {
		if (t->events.v[i].cat == CAT_PYTHON)
			continue;
		if (t->want & TRACE_SHAPES)
			t->dims_of.v[kept] = t->dims_of.v[i];
		t->events.v[kept++] = t->events.v[i];
	}
	t->events.n = kept;
}

void trace_settle(struct trace *t)
{
	if (!t->has_host_name && !(t->want & TRACE_PYTHON))
		drop_python(t);
	if (t->want & TRACE_MEMORY)
		memory_settle(t);
}
