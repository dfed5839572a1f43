#include "trace/neuron_ls.h"

#include <inttypes.h>
#include <stdio.h>

#include "json/num.h"
#include "trace/draft.h"
#include "trace/walk.h"

VEC(chips, struct neuron_chip *);

struct ls {
	struct arena *arena;
	struct neuron_host *host;
	struct trace_report *report;
	struct chips chips;
	bool open, in_process; /* a device, a process of it has begun */
};

static struct neuron_chip *chip_of(struct ls *ls)
{
	struct neuron_chip **place;

	if (ls->open)
		return ls->chips.v[ls->chips.n - 1];
	place = vec_push(&ls->chips);
	if (place == NULL)
		return NULL;
	*place = arena_get(ls->arena, sizeof(**place));
	if (*place == NULL) {
		ls->chips.n--;
		return NULL;
	}
	(*place)->index = -1;
	(*place)->bdf = (*place)->cpu_affinity = (*place)->numa_node = str_make("", 0);
	ls->open = true;
	return *place;
}

static void take_number(struct ls *ls, struct str text, int64_t *out, uint64_t offset)
{
	int64_t v;

	if (json_fixed(text, 0, &v) < 0)
		trace_report_add(ls->report, TRACE_BAD_NUMBER, 1, offset);
	else if (v < 0)
		trace_report_add(ls->report, TRACE_BAD_VALUE, 1, offset);
	else
		*out = v;
}

static void take_item(struct ls *ls, struct str text, int64_t *v, size_t *n, size_t max, uint64_t offset)
{
	if (*n == max) {
		trace_report_add(ls->report, TRACE_TOO_MANY, 1, offset);
		return;
	}
	v[*n] = -1;
	take_number(ls, text, &v[*n], offset);
	*n += v[*n] >= 0;
}

static struct neuron_process *process_of(struct ls *ls, struct neuron_chip *c, uint64_t offset)
{
	if (ls->in_process)
		return &c->processes[c->n_processes - 1];
	if (c->n_processes == NEURON_PROCESSES_MAX) {
		trace_report_add(ls->report, TRACE_TOO_MANY, 1, offset);
		return NULL;
	}
	ls->in_process = true;
	c->processes[c->n_processes] = (struct neuron_process){ -1, { "", 0 }, { "", 0 } };
	return &c->processes[c->n_processes++];
}

static void take_process(struct ls *ls, struct neuron_chip *c, struct str key, struct str value, uint64_t offset)
{
	struct neuron_process *p = process_of(ls, c, offset);

	if (p == NULL)
		return;
	if (str_eq(key, STR("pid")))
		take_number(ls, value, &p->pid, offset);
	else if (str_eq(key, STR("command")))
		p->command = arena_str(ls->arena, value);
	else if (str_eq(key, STR("neuron_runtime_version")))
		p->runtime_version = arena_str(ls->arena, value);
}

static void take_chip(struct ls *ls, struct neuron_chip *c, struct str key, struct str value, uint64_t offset)
{
	const struct {
		const char *key;
		int64_t *number;
		struct str *text;
	} members[] = {
		{ "neuron_device", &c->index, NULL },
		{ "nc_count", &c->cores, NULL },
		{ "logical_neuroncore_config", &c->logical_config, NULL },
		{ "memory_size", &c->memory_bytes, NULL },
		{ "bdf", NULL, &c->bdf },
		{ "cpu_affinity", NULL, &c->cpu_affinity },
		{ "numa_node", NULL, &c->numa_node },
		{ "instance_type", NULL, &ls->host->instance_type },
		{ "instance_id", NULL, &ls->host->instance_id },
	};

	for (size_t i = 0; i < COUNT(members); i++) {
		if (!str_eq(key, str_of(members[i].key)))
			continue;
		if (members[i].number != NULL)
			take_number(ls, value, members[i].number, offset);
		else
			*members[i].text = arena_str(ls->arena, value);
	}
}

static void on_leaf(void *arg, const struct walk *w, struct str value, uint64_t offset)
{
	struct ls *ls = arg;
	struct neuron_chip *c = chip_of(ls);

	if (c == NULL) {
		trace_report_add(ls->report, TRACE_TOO_MANY, 1, offset);
		return;
	}
	if (walk_matches(w, "[]/neuroncore_ids/[]"))
		take_item(ls, value, c->core_ids, &c->n_core_ids, NEURON_CORES_MAX, offset);
	else if (walk_matches(w, "[]/connected_to/[]"))
		take_item(ls, value, c->connected, &c->n_connected, NEURON_LINKS_MAX, offset);
	else if (walk_matches(w, "[]/neuron_processes/[]/*"))
		take_process(ls, c, walk_key(w, 3), value, offset);
	else if (walk_matches(w, "[]/*"))
		take_chip(ls, c, walk_key(w, 1), value, offset);
}

static void on_end(void *arg, const struct walk *w)
{
	struct ls *ls = arg;

	if (walk_matches(w, "[]/neuron_processes/[]"))
		ls->in_process = false;
	else if (walk_matches(w, "[]"))
		ls->open = false;
}

static int hand_over(struct ls *ls, struct neuron_host *out, struct err *e)
{
	size_t n = 0;

	out->chips = arena_get_array(ls->arena, ls->chips.n, sizeof(struct neuron_chip *));
	if (out->chips == NULL)
		return err_set(e, E_LIMIT, "no room for %zu Neuron devices", ls->chips.n);
	for (size_t i = 0; i < ls->chips.n; i++)
		if (ls->chips.v[i]->index >= 0)
			out->chips[n++] = ls->chips.v[i];
	out->n_chips = n;
	return n > 0 ? OK : err_set(e, E_FORMAT, "no list of neuron-ls -j: no device in it");
}

int neuron_ls_host(struct arena *a, struct tokens *t, struct neuron_host *out, struct err *e)
{
	struct ls ls = { .arena = a, .host = out, .report = t->report, .chips = VEC_INIT(NEURON_DEVICES_MAX) };
	const struct walk_visitor visitor = { on_leaf, on_end, &ls };
	struct json_value v;
	int rc;

	*out = (struct neuron_host){ .instance_type = { "", 0 }, .instance_id = { "", 0 } };
	if (tokens_next(t, &v) == JSON_ARRAY)
		(void)walk_inside(t, true, &visitor);
	rc = tokens_finish(t);
	if (rc == OK)
		rc = hand_over(&ls, out, e);
	vec_fini(&ls.chips);
	return rc;
}

static void draw_chip(struct draft *d, const struct neuron_chip *c)
{
	const struct {
		const char *name, *unit;
		double value;
	} gauges[] = {
		{ "device_memory_size", "bytes", (double)c->memory_bytes },
		{ "device_neuroncores", "1", (double)c->cores },
		{ "logical_neuroncore_config", "1", (double)c->logical_config },
		{ "device_processes", "1", (double)c->n_processes },
	};
	char index[24];
	struct label device = { STR("device"), { index, 0 } };

	snprintf(index, sizeof(index), "%" PRId64, c->index);
	device.value = str_of(index);
	for (size_t i = 0; i < COUNT(gauges); i++)
		draft_gauge(d, DRAFT_LAST, str_of(gauges[i].name), str_of(gauges[i].unit), gauges[i].value, &device, 1);
	draft_gauge(d, DRAFT_SUM, STR("neuron_devices"), STR("1"), 1, NULL, 0);
	draft_gauge(d, DRAFT_SUM, STR("neuroncores"), STR("1"), (double)c->cores, NULL, 0);
	for (size_t i = 0; i < c->n_processes; i++)
		draft_version(d, STR("runtime"), c->processes[i].runtime_version);
}

int neuron_ls_read(struct arena *a, struct tokens *t, struct window *out, struct err *e)
{
	struct neuron_host host;
	struct draft d;
	int rc = neuron_ls_host(a, t, &host, e);

	*out = (struct window){ 0 };
	if (rc < 0)
		return rc;
	draft_init(&d, a);
	for (size_t i = 0; i < host.n_chips; i++)
		draw_chip(&d, host.chips[i]);
	draft_label(&d, STR("instance_type"), host.instance_type);
	rc = draft_finish(&d, out, e);
	if (rc == OK) {
		out->host = draft_text(&d, host.instance_id);
		out->events = t->report->events = host.n_chips;
	}
	draft_fini(&d);
	return rc;
}
