#include "cli/summary.h"

#include <unistd.h>

#include "base/mem.h"
#include "cli/neuron_print.h"
#include "cli/progress.h"
#include "json/text.h"
#include "trace/archive.h"
#include "trace/device_use.h"
#include "trace/dialect.h"
#include "trace/launch_delay.h"
#include "trace/neuron.h"
#include "trace/session.h"
#include "trace/tar.h"

enum { ARENA_BYTES_MAX = 1 << 30 };

static int make_gauges(struct summary *s)
{
	const struct trace *t = s->trace;
	struct draft d;
	int rc;

	draft_init(&d, &s->arena);
	for (size_t i = 0; i < t->n_versions; i++)
		draft_version(&d, t->versions[i].key, t->versions[i].value);
	rc = device_use(t, &d, &s->error);
	if (t->delays != NULL)
		launch_delay_gauges(launch_delays_finish(t->delays), &d);
	if (rc == OK)
		rc = draft_finish(&d, &s->gauges, &s->error);
	draft_fini(&d);
	return rc;
}

static int make_tables(struct summary *s, const struct summary_want *want)
{
	struct steps *steps = want->steps || want->by_step ? steps_new(s->trace) : NULL;
	int rc = keyavg_table_make_and(&s->table, s->trace, steps == NULL ? NULL : steps_add, steps, &s->error);

	if (rc == OK && steps != NULL)
		rc = steps_finish(steps, &s->steps, &s->error);
	if (rc == OK && want->chains)
		rc = chains_make(&s->chains, s->trace, CHAINS_KERNELS, &s->error);
	if (rc == OK && want->by_module && s->trace->xla != NULL)
		rc = xla_table_make(&s->modules, s->trace, &s->error);
	if (rc == OK && want->gauges)
		rc = make_gauges(s);
	steps_free(steps);
	return rc;
}

static int read_trace(struct summary *s, struct input *in, enum probe_kind kind, const struct summary_want *want,
	const struct trace_limits *limits, struct progress *p)
{
	unsigned more = want->more | (want->chains ? TRACE_PYTHON : 0) | (want->gauges ? TRACE_COPIES | TRACE_DELAYS : 0);
	int rc = dialect_read(kind, in, s->name, limits, more, NULL, &s->report, &s->trace, &s->error);

	progress_say(p, "adding up");
	return rc == OK ? make_tables(s, want) : rc;
}

static int read_stacks(struct summary *s, struct input *in, enum probe_kind kind, const struct summary_want *want,
	const struct trace_limits *limits, struct progress *p)
{
	const struct summary_want more = { .more = TRACE_PYTHON };
	int rc;

	if (probe_is_neuron(kind) || want->by_engine || want->by_module)
		return err_set(&s->error, E_FORMAT, "%s: stacks are of traces whose calls stand in each other, and this is %s",
			s->name, probe_sentence(kind));
	rc = read_trace(s, in, kind, &more, limits, p);
	if (rc == OK)
		rc = stacks_print(s->trace, want->stacks_of, &s->stacks, &s->error);
	return rc == OK ? buf_finish(&s->stacks, "the stacks", &s->error) : rc;
}

static int read_neuron(struct summary *s, struct input *in, enum probe_kind kind)
{
	int rc;

	s->window = mem_get(sizeof(*s->window));
	rc = neuron_read(kind, &s->arena, in, s->name, s->window, &s->report, &s->error);
	if (rc == OK)
		neuron_rows_make(&s->table, s->window, &s->arena);
	return rc;
}

/* Is this the kind of file that an option is for? */
static int check_kind(struct summary *s, enum probe_kind kind, const struct summary_want *want)
{
	const char *what = probe_sentence(kind);

	if (want->by_engine && kind != PROBE_NEURON_DEVICE)
		return err_set(&s->error, E_FORMAT, "%s: --by-engine is for Neuron device profiles, and this is %s", s->name, what);
	if (want->by_module && (s->trace == NULL || s->trace->xla == NULL))
		return err_set(&s->error, E_FORMAT, "%s: --by-module is for traces of JAX and PyTorch/XLA, and this is %s",
			s->name, what);
	if (want->by_step && probe_is_neuron(kind))
		return err_set(&s->error, E_FORMAT, "%s: --steps is for traces, and this is %s", s->name, what);
	return OK;
}

static int read_kind(struct summary *s, struct input *in, enum probe_kind kind, const struct summary_want *want,
	const struct trace_limits *limits, struct progress *p)
{
	int rc = OK;

	if (want->more != 0 && !want->folded && (probe_is_neuron(kind) || kind == PROBE_XPLANE || kind == PROBE_XLA_TRACE))
		return err_set(&s->error, E_FORMAT, "%s: --by-shape, --memory and --python are for PyTorch traces, and this is %s",
			s->name, probe_sentence(kind));
	if (!probe_is_neuron(kind)) {
		input_without_hash(in);
		if (!s->member) /* an archive is decompressed ahead as a whole */
			input_ahead(in);
	}
	if (want->folded)
		rc = read_stacks(s, in, kind, want, limits, p);
	else if (probe_is_neuron(kind))
		rc = read_neuron(s, in, kind);
	else if (!want->by_engine)
		rc = read_trace(s, in, kind, want, limits, p);
	return rc == OK && !want->folded ? check_kind(s, kind, want) : rc;
}

static int open_input(struct input **in, const char *path, const struct trace_limits *limits, struct err *e)
{
	int rc;

	if (str_eq(str_of(path), STR("-")))
		return input_open_fd(in, STDIN_FILENO, "standard input", limits, e);
	rc = session_refuse(path, e);
	return rc < 0 ? rc : input_open(in, path, limits, e);
}

/* A file's name is bytes; what is no UTF-8 in it becomes U+FFFD, as in the names that are in files. */
static const char *utf8_of(struct arena *a, const char *name)
{
	struct buf escaped, text;
	const char *copy;

	buf_init(&escaped, ARENA_BYTES_MAX);
	buf_init(&text, ARENA_BYTES_MAX);
	json_escape(str_of(name), &escaped);
	json_unescape(buf_view(&escaped), &text);
	copy = arena_str(a, buf_view(&text)).p;
	buf_fini(&escaped);
	buf_fini(&text);
	return copy;
}

static const char *label_of(struct arena *a, const char *text)
{
	size_t n = strlen(text);
	char *label = arena_get(a, n + 1);

	if (label == NULL)
		return "?";
	label[str_tame(text, n, label)] = '\0';
	return label;
}

static void summary_init(struct summary *s, const char *name)
{
	*s = (struct summary){ 0 };
	arena_init(&s->arena, ARENA_BYTES_MAX);
	buf_init(&s->stacks, ARENA_BYTES_MAX);
	s->name = arena_text(&s->arena, name).p;
	s->text = utf8_of(&s->arena, name);
	s->label = label_of(&s->arena, s->text);
}

static void summary_fini(struct summary *s)
{
	keyavg_table_fini(&s->table);
	xla_table_fini(&s->modules);
	step_table_fini(&s->steps);
	chains_fini(&s->chains);
	buf_fini(&s->stacks);
	trace_free(s->trace);
	window_fini(s->window);
	mem_free(s->window);
	arena_fini(&s->arena);
}

/* What all files of a command have in common. */
struct reading {
	const struct summary_want *want;
	const struct trace_limits *limits;
	summary_visit *visit;
	void *arg;
};

static void read_one(const struct reading *r, struct summary *s, struct input *in, struct progress *p)
{
	const struct trace_watcher watcher = { progress_block, p };
	enum probe_kind kind = PROBE_UNKNOWN;
	int rc = probe_input(in, s->name, &kind, &s->error);

	p->name = s->label;
	input_watch(in, &watcher);
	if (rc == OK)
		rc = read_kind(s, in, kind, r->want, r->limits, p);
	progress_over(p);
	s->readable = rc == OK;
}

/* ---- archives */
struct member_visit {
	const struct reading *r;
	struct progress *p;
};

static int visit_member(void *arg, const char *name, struct input *in, struct err *why, struct err *e)
{
	const struct member_visit *v = arg;
	struct summary s;

	(void)e;
	summary_init(&s, name);
	s.member = true;
	s.error = *why;
	if (in != NULL)
		read_one(v->r, &s, in, v->p);
	v->r->visit(v->r->arg, &s);
	summary_fini(&s);
	return OK;
}

static void read_archive(const struct reading *r, struct summary *archive, struct input *in)
{
	struct progress p;
	struct member_visit v = { r, &p };

	progress_begin(&p, archive->label, in);
	archive->member = true;
	if (archive_each(in, archive->name, r->limits, visit_member, NULL, &v, &archive->report, &archive->error) < 0)
		r->visit(r->arg, archive);
}

void summary_read(const char *path, const struct summary_want *want, const struct trace_limits *limits,
	summary_visit *visit, void *arg)
{
	const struct reading r = { want, limits, visit, arg };
	struct summary s;
	struct input *in = NULL;
	struct str head = STR("");
	struct progress p;
	int rc;

	summary_init(&s, str_eq(str_of(path), STR("-")) ? "standard input" : path);
	rc = open_input(&in, path, limits, &s.error);
	if (rc == OK)
		rc = input_peek(in, &head, &s.error);
	if (rc == OK && tar_is(head)) {
		input_without_hash(in);
		input_ahead(in);
		read_archive(&r, &s, in);
	} else {
		progress_begin(&p, s.label, NULL);
		if (rc == OK)
			read_one(&r, &s, in, &p);
		visit(arg, &s);
	}
	input_close(in);
	summary_fini(&s);
}
