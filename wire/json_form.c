/* The JSON form of a WindowBatch, for people with curl: the proto's field names, but texts in place and not by number,
 * labels as objects, ops one object each, enums as the words of the API, the id as 32 hex digits:
 *
 *	{"agent_id":"curl","windows":[{"id":"…","service":"llm","host":"h1","start_ns":1790000000000000000,
 *	  "steps":10,"steps_from":"marker","labels":{"zone":"a"},
 *	  "ops":[{"kind":"cpu_op","name":"aten::mul","calls":30,"cpu_self_ns":900,"basis":"cpu","min_ns":30,"max_ns":30,
 *	          "hist_delta":[157],"hist_count":[30]}],
 *	  "gauges":[{"name":"util","unit":"1","value":0.5,"labels":{}}]}]}
 *
 * A member that nobody knows is an error: a person mistyped it. Read from a tree that is dropped afterwards. */
#include "wire/form.h"

#include <string.h>

#include "json/num.h"
#include "json/tree.h"

struct json_form {
	struct arena *a;	/* the caller's: what the windows are made of */
	struct arena scratch;	/* the tree, and the buckets of one op after the other */
	size_t hist_bytes;	/* left for histograms */
	size_t windows_max;
	struct err *e;
};

/* A member of an object: where it goes, and who reads it. count_at is for those that become arrays. */
struct member {
	const char *name;
	int (*read)(struct json_form *f, const struct json_node *n, void *at, size_t *count);
	size_t at, count_at;
};

static const char *const kind_words[] = {
	[JSON_K_NULL] = "null",	    [JSON_K_BOOL] = "true or false", [JSON_K_NUMBER] = "a number",
	[JSON_K_STRING] = "a text", [JSON_K_ARRAY] = "an array",     [JSON_K_OBJECT] = "an object",
};
_Static_assert(COUNT(kind_words) == JSON_KINDS, "name every kind");

static int want_kind(struct json_form *f, const struct json_node *n, enum json_kind kind)
{
	if (n->kind == kind)
		return OK;
	return err_set(f->e, E_FORMAT, "%s where %s belongs (byte %llu)", kind_words[n->kind], kind_words[kind],
		(unsigned long long)n->offset);
}

static int want_array(struct json_form *f, const struct json_node *n, size_t max)
{
	int rc = want_kind(f, n, JSON_K_ARRAY);

	if (rc == OK && n->n > max)
		rc = err_set(f->e, E_LIMIT, "%zu values, at most %zu", n->n, max);
	return rc;
}

static int form_full(struct json_form *f)
{
	return err_set(f->e, E_LIMIT, "the batch needs more than %zu bytes of memory", f->a->cap);
}

/* Prepends where it was: "ops", and to what begins with an index "ops[3]: …" rather than "ops: [3]: …". */
static int add_name(struct json_form *f, const char *name)
{
	size_t n = strlen(name);
	int rc = err_add(f->e, "%s", name);
	char *text = f->e->text;

	if (text[n + 2] == '[')
		memmove(text + n, text + n + 2, strlen(text + n + 2) + 1);
	return rc;
}

static int read_object(struct json_form *f, const struct json_node *o, const struct member *members, size_t n,
	void *into)
{
	int rc = want_kind(f, o, JSON_K_OBJECT);

	for (size_t i = 0; i < o->n && rc == OK; i++) {
		const struct json_node *item = &o->items[i];
		size_t m = 0;

		while (m < n && !str_eq(str_of(members[m].name), item->key))
			m++;
		if (m == n)
			return err_set(f->e, E_FORMAT, "unknown member \"%.*s\"", STR_ARG(str_upto(item->key, 60)));
		rc = members[m].read(f, item, (char *)into + members[m].at,
			(size_t *)((char *)into + members[m].count_at));
		if (rc < 0)
			return add_name(f, members[m].name);
	}
	return rc;
}

static int read_text(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	struct str *s = at;
	int rc = want_kind(f, n, JSON_K_STRING);

	(void)count;
	if (rc == OK)
		*s = arena_str(f->a, n->text);
	if (rc == OK && arena_full(f->a))
		rc = form_full(f);
	return rc;
}

static int bad_number(struct json_form *f, const struct json_node *n, int rc, const char *want)
{
	return rc == OK ? OK : err_set(f->e, E_FORMAT, "%.*s, want %s", STR_ARG(str_upto(n->text, 40)), want);
}

static int read_i64(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_NUMBER);

	(void)count;
	return rc < 0 ? rc : bad_number(f, n, json_i64(n->text, at), "a whole number of 64 bits");
}

static int read_u64(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_NUMBER);

	(void)count;
	return rc < 0 ? rc : bad_number(f, n, json_u64(n->text, at), "a whole number from 0 on");
}

static int read_u32(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	uint64_t v = 0;
	int rc = read_u64(f, n, &v, count);

	if (rc == OK && v > UINT32_MAX)
		rc = bad_number(f, n, E_LIMIT, "a whole number below 2^32");
	if (rc == OK)
		*(uint32_t *)at = (uint32_t)v;
	return rc;
}

static int read_double(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_NUMBER);

	(void)count;
	return rc < 0 ? rc : bad_number(f, n, json_double(n->text, at), "a number that a double holds");
}

static int read_bool(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_BOOL);

	(void)count;
	if (rc == OK)
		*(bool *)at = n->truth;
	return rc;
}

static int read_id(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_STRING);

	(void)count;
	if (rc == OK && window_id_parse(n->text, at) < 0)
		rc = err_set(f->e, E_FORMAT, "\"%.*s\", want 32 hex digits", STR_ARG(str_upto(n->text, 40)));
	return rc;
}

static int bad_word(struct json_form *f, const struct json_node *n, const char *want)
{
	return err_set(f->e, E_FORMAT, "\"%.*s\", want %s", STR_ARG(str_upto(n->text, 40)), want);
}

static int read_steps_from(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_STRING);

	(void)count;
	if (rc == OK && steps_from_parse(n->text, at) < 0)
		rc = bad_word(f, n, "none, marker, executions, optimizer or anchor");
	return rc;
}

static int read_kind(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	int rc = want_kind(f, n, JSON_K_STRING);

	(void)count;
	if (rc == OK && op_kind_parse(n->text, at) < 0)
		rc = bad_word(f, n, "a kind of op: cpu_op, kernel, …");
	return rc;
}

static int read_basis(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	static const char *const words[] = {
		[OP_BASIS_NONE] = "none", [OP_BASIS_DEVICE] = "device", [OP_BASIS_CPU] = "cpu",
	};
	int rc = want_kind(f, n, JSON_K_STRING);

	(void)count;
	for (size_t i = 0; i < COUNT(words) && rc == OK; i++) {
		if (!str_eq(n->text, str_of(words[i])))
			continue;
		*(enum op_basis *)at = (enum op_basis)i;
		return OK;
	}
	return rc < 0 ? rc : bad_word(f, n, "none, device or cpu");
}

/* An object of texts. */
static int read_labels(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	struct label *labels;
	int rc = want_kind(f, n, JSON_K_OBJECT);

	if (rc == OK && n->n > WINDOW_LABELS_MAX)
		rc = err_set(f->e, E_LIMIT, "%zu labels, at most %d", n->n, WINDOW_LABELS_MAX);
	if (rc < 0 || n->n == 0)
		return rc;
	labels = arena_get_array(f->a, n->n, sizeof(*labels));
	if (labels == NULL)
		return form_full(f);
	for (size_t i = 0; i < n->n && rc == OK; i++) {
		labels[i].key = arena_str(f->a, n->items[i].key);
		rc = read_text(f, &n->items[i], &labels[i].value, NULL);
		if (rc < 0)
			return err_add(f->e, "%.*s", STR_ARG(str_upto(n->items[i].key, 60)));
	}
	*(struct label **)at = labels;
	*count = n->n;
	return OK;
}

/* An op as it stands in the document: its buckets wait in the scratch arena until all its members are read. */
struct json_op {
	struct op_summary op;
	uint32_t *delta;
	size_t n_delta;
	uint64_t *count;
	size_t n_count;
};

/* An array of numbers into the scratch arena. */
static int read_numbers(struct json_form *f, const struct json_node *n, size_t each, void **at, size_t *count,
	int (*read)(struct json_form *, const struct json_node *, void *, size_t *))
{
	int rc = want_array(f, n, HIST_BUCKETS_MAX);
	char *numbers = rc < 0 ? NULL : arena_get_array(&f->scratch, n->n, each);

	if (rc == OK && numbers == NULL)
		rc = form_full(f);
	for (size_t i = 0; rc == OK && i < n->n; i++)
		if (read(f, &n->items[i], numbers + i * each, NULL) < 0)
			return err_add(f->e, "[%zu]", i);
	if (rc < 0)
		return rc;
	*at = numbers;
	*count = n->n;
	return OK;
}

static int read_deltas(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	return read_numbers(f, n, sizeof(uint32_t), at, count, read_u32);
}

static int read_counts(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	return read_numbers(f, n, sizeof(uint64_t), at, count, read_u64);
}

#define MEMBER(type, field, reader) { #field, reader, offsetof(struct type, field), 0 }
#define MEMBERS(type, field, reader) { #field, reader, offsetof(struct type, field), offsetof(struct type, n_##field) }
#define OP(field, reader) { #field, reader, offsetof(struct json_op, op.field), 0 }

static const struct member op_members[] = {
	OP(kind, read_kind),
	OP(name, read_text),
	OP(calls, read_u64),
	OP(device_total_ns, read_i64),
	OP(device_self_ns, read_i64),
	OP(cpu_total_ns, read_i64),
	OP(cpu_self_ns, read_i64),
	OP(orphan_calls, read_u64),
	OP(orphan_ns, read_i64),
	OP(basis, read_basis),
	OP(min_ns, read_i64),
	OP(max_ns, read_i64),
	{ "hist_zero", read_u64, offsetof(struct json_op, op.hist.zero), 0 },
	{ "hist_delta", read_deltas, offsetof(struct json_op, delta), offsetof(struct json_op, n_delta) },
	{ "hist_count", read_counts, offsetof(struct json_op, count), offsetof(struct json_op, n_count) },
};

static int read_op(struct json_form *f, const struct json_node *n, struct op_summary *out)
{
	struct json_op o = { .op = { .kind = OP_KINDS } };
	int rc = read_object(f, n, op_members, COUNT(op_members), &o);

	if (rc == OK && o.op.kind == OP_KINDS)
		rc = err_set(f->e, E_FORMAT, "kind: missing");
	if (rc == OK && o.n_delta != o.n_count)
		rc = err_set(f->e, E_FORMAT, "hist_delta: %zu values, hist_count: %zu", o.n_delta, o.n_count);
	if (rc == OK)
		rc = form_hist(&o.op.hist, o.delta, o.count, o.n_delta, &f->hist_bytes, f->e);
	*out = o.op; /* also when refused: the histogram has an owner then */
	return rc;
}

static int read_ops(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	struct op_summary *ops;
	int rc = want_array(f, n, WINDOW_OPS_MAX);

	if (rc < 0)
		return rc;
	ops = arena_get_array(f->a, n->n, sizeof(*ops));
	if (ops == NULL)
		return form_full(f);
	*(struct op_summary **)at = ops;
	*count = n->n;
	for (size_t i = 0; i < n->n; i++)
		if (read_op(f, &n->items[i], &ops[i]) < 0)
			return err_add(f->e, "[%zu]", i);
	return OK;
}

static const struct member gauge_members[] = {
	MEMBER(gauge, name, read_text),
	MEMBER(gauge, unit, read_text),
	MEMBER(gauge, value, read_double),
	MEMBERS(gauge, labels, read_labels),
};

static int read_gauges(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	struct gauge *gauges;
	int rc = want_array(f, n, WINDOW_GAUGES_MAX);

	if (rc < 0)
		return rc;
	gauges = arena_get_array(f->a, n->n, sizeof(*gauges));
	if (gauges == NULL)
		return form_full(f);
	for (size_t i = 0; i < n->n; i++) {
		gauges[i].name = gauges[i].unit = STR("");
		if (read_object(f, &n->items[i], gauge_members, COUNT(gauge_members), &gauges[i]) < 0)
			return err_add(f->e, "[%zu]", i);
	}
	*(struct gauge **)at = gauges;
	*count = n->n;
	return OK;
}

static const struct member window_members[] = {
	MEMBER(window, id, read_id),
	MEMBER(window, service, read_text),
	MEMBER(window, deploy, read_text),
	MEMBER(window, host, read_text),
	MEMBER(window, worker, read_text),
	MEMBER(window, source, read_text),
	MEMBER(window, start_ns, read_i64),
	MEMBER(window, dur_ns, read_i64),
	MEMBER(window, steps, read_u64),
	MEMBER(window, steps_from, read_steps_from),
	MEMBER(window, has_device, read_bool),
	MEMBER(window, flags, read_u32),
	MEMBER(window, launches, read_u64),
	MEMBER(window, events, read_u64),
	MEMBER(window, skipped, read_u64),
	MEMBERS(window, labels, read_labels),
	MEMBERS(window, versions, read_labels),
	MEMBERS(window, ops, read_ops),
	MEMBERS(window, gauges, read_gauges),
};

static int read_window(struct json_form *f, const struct json_node *n, struct window *w)
{
	int rc;

	w->service = w->deploy = w->host = w->worker = w->source = STR("");
	rc = read_object(f, n, window_members, COUNT(window_members), w);
	if (rc == OK && json_get(n, "id") == NULL)
		rc = err_set(f->e, E_FORMAT, "id: missing, want 32 hex digits, the same whenever the window is sent again");
	return rc < 0 ? rc : form_finish_window(w, f->e);
}

static int read_windows(struct json_form *f, const struct json_node *n, void *at, size_t *count)
{
	struct window *windows;
	int rc = want_array(f, n, f->windows_max);

	if (rc < 0)
		return rc;
	windows = arena_get_array(f->a, n->n, sizeof(*windows));
	if (windows == NULL)
		return form_full(f);
	*(struct window **)at = windows;
	*count = n->n;
	for (size_t i = 0; i < n->n; i++)
		if (read_window(f, &n->items[i], &windows[i]) < 0)
			return err_add(f->e, "[%zu]", i);
	return OK;
}

static const struct member batch_members[] = {
	MEMBER(wire_batch, agent_id, read_text),
	MEMBER(wire_batch, agent_version, read_text),
	MEMBERS(wire_batch, windows, read_windows),
};

int form_read_json(struct arena *a, struct str text, const struct wire_limits *limits, struct wire_batch *out,
	struct err *e)
{
	struct err none;
	struct json_form f = {
		.a = a,
		.hist_bytes = limits->decoded_bytes,
		.windows_max = limits->windows,
		.e = e != NULL ? e : &none,
	};
	const struct json_node *root = NULL;
	int rc;

	arena_init(&f.scratch, limits->decoded_bytes);
	out->agent_id = out->agent_version = STR("");
	rc = json_parse(&f.scratch, text, &root, f.e);
	if (rc == OK)
		rc = read_object(&f, root, batch_members, COUNT(batch_members), out);
	if (rc == OK)
		rc = form_check_agent(out, f.e);
	arena_fini(&f.scratch);
	return rc;
}
