#include "trace/window.h"

#include "base/enc.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/archive.h"
#include "trace/dialect.h"
#include "trace/fold.h"
#include "trace/input.h"
#include "trace/neffs.h"
#include "trace/neuron.h"
#include "trace/probe.h"
#include "trace/sidecar.h"
#include "trace/sidecars.h"
#include "trace/tar.h"

enum { OWN_BYTES_MAX = 16 << 20 };

/* ---- who it is */
static struct str first_of(struct arena *a, struct str one, struct str two, struct str three)
{
	if (one.n > 0)
		return arena_str(a, one);
	return arena_str(a, two.n > 0 ? two : three);
}

/* What ran, where nobody says which deploy it is. Versions alone give what they always gave. */
static struct str fingerprint(struct arena *a, const char *path, const struct window *w)
{
	size_t n_neffs;
	const struct str *neffs = neffs_beside(a, path, &n_neffs);
	struct hash128 *h;
	uint8_t digest[16];
	char hex[33];

	if (w->n_versions == 0 && n_neffs == 0)
		return STR("");
	h = hash128_new();
	for (size_t i = 0; i < w->n_versions; i++) {
		hash128_add_str(h, w->versions[i].key);
		hash128_add_str(h, w->versions[i].value);
	}
	for (size_t i = 0; i < n_neffs; i++) {
		hash128_add_str(h, STR("neff"));
		hash128_add_str(h, neffs[i]);
	}
	hash128_get(h, digest);
	hash128_free(h);
	enc_hex(digest, sizeof(digest), hex);
	return arena_fmt(a, "fp-%.12s", hex);
}

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return str_cmp(x->key, y->key);
}

static void name_versions(struct arena *a, const struct trace *t, struct window *w)
{
	w->versions = arena_get_array(a, t->n_versions, sizeof(*w->versions));
	if (w->versions == NULL)
		return;
	for (size_t i = 0; i < t->n_versions; i++)
		if (t->versions[i].value.n > 0)
			w->versions[w->n_versions++] = (struct label){
				arena_str(a, t->versions[i].key),
				arena_str(a, t->versions[i].value),
			};
	if (w->n_versions > 0)
		qsort(w->versions, w->n_versions, sizeof(*w->versions), compare_labels);
}

/* The sidecar's labels, then those of the file that it does not name. */
static void name_labels(struct arena *a, const struct sidecar *s, struct window *w)
{
	w->labels = sidecar_labels(a, s->labels, s->n_labels, w->labels, w->n_labels, &w->n_labels);
	for (size_t i = 0; i < s->n_labels && i < w->n_labels; i++)
		w->labels[i] = (struct label){ arena_str(a, s->labels[i].key), arena_str(a, s->labels[i].value) };
}

/* A window that has no names yet. Texts are in an arena. */
struct found {
	struct window w;
	struct str host, worker;	/* what the file itself says, or empty */
	uint8_t content[INPUT_HASH];
	struct trace_report report;
};

/* path: of the trace. */
static void name_window(struct arena *a, const char *path, const struct sidecar *s, const struct window_origin *origin,
	struct found *f)
{
	struct window *w = &f->w;

	w->service = first_of(a, s->service, origin->service, STR("unknown"));
	w->deploy = first_of(a, s->deploy, origin->deploy, STR(""));
	if (str_empty(w->deploy))
		w->deploy = fingerprint(a, path, w);
	w->host = first_of(a, s->host, origin->host, f->host.n > 0 ? f->host : STR("localhost"));
	w->worker = first_of(a, s->worker, origin->worker, f->worker);
	w->source = arena_str(a, origin->source);
	name_labels(a, s, w);
}

static void name_id(const struct window_origin *origin, struct found *f)
{
	struct window *w = &f->w;
	struct hash128 *h = hash128_new();

	hash128_add_str(h, origin->agent_id);
	hash128_add_str(h, w->host);
	hash128_add_str(h, w->worker);
	hash128_add_str(h, w->source);
	hash128_add(h, f->content, sizeof(f->content));
	hash128_get(h, w->id);
	hash128_free(h);
}

/* ---- when it was, and how whole it is */
static int64_t start_of(const struct trace *t, int64_t mtime_ns, int64_t first_ns)
{
	int64_t start_ns = t->has_base ? ns_add(t->base_ns, first_ns) : mtime_ns;

	return start_ns < 0 ? 0 : start_ns;
}

static void count_losses(const struct trace_report *report, struct window *w)
{
	for (size_t i = 0; i < report->n_skips; i++) {
		struct str reason = str_of(report->skips[i].reason);
		bool truncated = str_eq(reason, STR("truncated"));
		bool whole_file = truncated || str_eq(reason, STR("bad_checksum")) || str_eq(reason, STR("bad_data"));

		w->flags |= truncated ? WINDOW_TRUNCATED : WINDOW_DAMAGED;
		w->skipped += whole_file ? 0 : report->skips[i].count;
	}
}

/* ---- what the file is decides who reads it */

/* What all files of an archive have in common, too. */
struct source {
	const char *path; /* for people; of the trace in the file system, where it stands there itself */
	struct input *in;
	const struct window_origin *origin;
	const struct trace_limits *limits;
	int64_t mtime_ns;
};

static int make_window(struct arena *a, const struct source *s, struct trace *t, struct found *f, struct err *e)
{
	int64_t first_ns;
	int rc;

	if (t->events.n == 0)
		return err_set(e, E_FORMAT, "no timed events");
	rc = fold_trace(t, a, &f->w, &first_ns, e);
	if (rc < 0)
		return rc;
	f->w.start_ns = start_of(t, s->mtime_ns, first_ns);
	name_versions(a, t, &f->w);
	f->host = arena_str(a, t->host_name);
	if (t->rank >= 0)
		f->worker = arena_fmt(a, "%lld", (long long)t->rank);
	return OK;
}

static int window_of_trace(enum probe_kind kind, struct arena *a, const struct source *s, struct found *f, struct err *e)
{
	struct trace *t = NULL;
	int rc = dialect_read(kind, s->in, s->path, s->limits, TRACE_COPIES | TRACE_DELAYS, NULL, &f->report, &t, e);

	if (rc == OK) {
		rc = make_window(a, s, t, f, e);
		if (rc < 0)
			err_add(e, "%s", s->path);
	}
	trace_free(t);
	return rc;
}

static int window_of_neuron(enum probe_kind kind, struct arena *a, const struct source *s, struct found *f, struct err *e)
{
	int rc = neuron_read(kind, a, s->in, s->path, &f->w, &f->report, e);

	if (rc < 0)
		return rc;
	if (f->w.start_ns == 0) /* no wall clock in the file */
		f->w.start_ns = s->mtime_ns < 0 ? 0 : s->mtime_ns;
	f->host = f->w.host;
	return OK;
}

static int find_window(struct arena *a, const struct source *s, struct found *f, struct err *e)
{
	enum probe_kind kind = PROBE_UNKNOWN;
	int rc;

	*f = (struct found){ .w.ops = NULL };
	rc = probe_input(s->in, s->path, &kind, e);
	if (rc == OK)
		rc = probe_is_neuron(kind) ? window_of_neuron(kind, a, s, f, e) : window_of_trace(kind, a, s, f, e);
	if (rc == OK) {
		rc = input_hash(s->in, f->content, e);
		if (rc < 0)
			err_add(e, "%s", s->path);
	}
	if (rc == OK)
		count_losses(&f->report, &f->w);
	else
		window_fini(&f->w);
	return rc;
}

static int finish(struct arena *a, const struct source *s, const struct sidecar *sidecar, struct found *f, struct err *e)
{
	const struct window_origin *origin = s->origin;
	struct window *w = &f->w;
	int rc = OK;

	if (sidecar->has_start)
		w->start_ns = sidecar->start_ns;
	name_window(a, s->path, sidecar, origin, f);
	name_id(origin, f);
	if (origin->rules != NULL)
		rc = name_rules_apply(origin->rules, a, w, e);
	if (rc == OK && arena_full(a))
		rc = err_set(e, E_LIMIT, "no room for a window of %zu ops", w->n_ops);
	if (rc == OK)
		rc = window_check(w, e);
	if (rc == OK)
		return OK;
	window_fini(w);
	return err_add(e, "%s", s->path);
}

static int window_of(struct arena *a, const struct source *s, const struct sidecar *sidecar, struct found *f, struct err *e)
{
	int rc = find_window(a, s, f, e);

	return rc == OK ? finish(a, s, sidecar, f, e) : rc;
}

int window_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, struct window *out, struct trace_report *report, struct err *e)
{
	struct sidecar sidecar;
	struct source s = { .path = path, .origin = origin, .limits = limits };
	struct found f = { .w.ops = NULL };
	int rc;

	rc = sidecar_read(a, path, &sidecar, e);
	if (rc == OK)
		rc = input_open_regular(&s.in, path, limits, e);
	if (rc == OK) {
		s.mtime_ns = input_mtime_ns(s.in);
		rc = window_of(a, &s, &sidecar, &f, e);
	}
	*report = f.report;
	*out = rc == OK ? f.w : (struct window){ 0 };
	input_close(s.in);
	return rc;
}

/* ---- archives */

/* A file of an archive whose sidecar may come behind it. */
struct waiting {
	struct arena arena;
	const char *name; /* "ARCHIVE:FILE" */
	struct found found;
	int rc; /* negative: it became no window, and why */
	struct err why;
};
VEC(waitings, struct waiting *);

struct several {
	struct arena *a; /* the caller's */
	struct source like;
	const struct sidecar *own; /* the archive's */
	const struct window_visit *visit;
	struct sidecars *sidecars;
	bool begun;	   /* a file has been read */
	bool all_sidecars; /* are known: nothing has to wait */
	bool ended;	   /* nobody wants the rest */
	struct waitings waiting;
	size_t waiting_bytes;
};

static void waiting_free(struct waiting *one)
{
	if (one == NULL)
		return;
	window_fini(&one->found.w);
	arena_fini(&one->arena);
	mem_free(one);
}

/* The file's own sidecar, and the archive's behind it. */
static int name_waiting(struct several *v, struct waiting *one, struct err *e)
{
	struct str in_archive = str_from(str_of(one->name), strlen(v->like.path) + 1);
	struct source s = v->like;
	struct sidecar sidecar;
	int rc = sidecars_find(v->sidecars, &one->arena, in_archive, &sidecar, e);

	if (rc < 0)
		return rc;
	s.path = one->name;
	rc = sidecar_fill(&one->arena, &sidecar, v->own, e);
	if (rc == OK)
		rc = finish(&one->arena, &s, &sidecar, &one->found, e);
	if (rc == OK && !arena_take(v->a, &one->arena))
		rc = err_set(e, E_LIMIT, "%s: no room for its window", one->name);
	return rc;
}

/* Takes it. Its name may be in the arena that the visitor resets. */
static int hand_on(struct several *v, struct waiting *one, struct err *e)
{
	const struct window_visit *visit = v->visit;
	char *name = mem_dup_text(one->name);
	int rc;

	if (one->rc == OK)
		one->rc = name_waiting(v, one, &one->why);
	if (one->rc == OK) {
		rc = visit->window(visit->arg, name, &one->found.w, &one->found.report, &one->why, e);
		one->found.w = (struct window){ 0 };
	} else {
		rc = visit->window(visit->arg, name, NULL, &one->found.report, &one->why, e);
	}
	mem_free(name);
	waiting_free(one);
	v->ended = rc < 0;
	return rc;
}

/* In their order. */
static int hand_on_all(struct several *v, struct err *e)
{
	int rc = OK;

	vec_each(one, &v->waiting) {
		if (v->ended)
			waiting_free(*one);
		else
			rc = hand_on(v, *one, e);
	}
	vec_fini(&v->waiting);
	v->waiting_bytes = 0;
	return rc;
}

static void read_ahead(struct input *in)
{
	input_without_hash(in);
	input_ahead(in);
}

/* Too many wait: what stands behind them is looked for in the archive. */
static int know_all_sidecars(struct several *v, struct err *e)
{
	struct input *in = NULL;
	int rc = input_open_regular(&in, v->like.path, v->like.limits, e);

	if (rc < 0)
		return rc;
	sidecars_free(v->sidecars);
	v->sidecars = sidecars_new(v->like.path);
	v->all_sidecars = true;
	read_ahead(in);
	rc = sidecars_read(v->sidecars, in, e);
	input_close(in);
	return rc == OK ? hand_on_all(v, e) : rc;
}

static size_t bytes_of(const struct waiting *one)
{
	size_t bytes = sizeof(*one) + one->arena.used;

	for (size_t i = 0; i < one->found.w.n_ops; i++)
		bytes += one->found.w.ops[i].hist.n * sizeof(uint64_t);
	return bytes;
}

static int wait_or_go(struct several *v, struct waiting *one, struct err *e)
{
	struct waiting **place;
	int rc = OK;

	if (v->all_sidecars)
		return hand_on(v, one, e);
	place = vec_push(&v->waiting);
	if (place == NULL) {
		waiting_free(one);
		return err_set(e, E_NOMEM, "no memory for a window");
	}
	*place = one;
	v->waiting_bytes += bytes_of(one);
	if (v->waiting.n == WINDOWS_WAITING || v->waiting_bytes > WINDOWS_WAITING_BYTES)
		rc = know_all_sidecars(v, e);
	return rc;
}

static int take_member(struct several *v, const char *name, struct input *in, const struct err *why, struct err *e)
{
	struct source s = v->like;
	struct waiting *one = mem_get(sizeof(*one));

	arena_init(&one->arena, v->a->cap);
	one->name = arena_text(&one->arena, name).p;
	s.path = name;
	s.in = in;
	one->why = *why;
	one->rc = in == NULL ? why->code : find_window(&one->arena, &s, &one->found, &one->why);
	return wait_or_go(v, one, e);
}

static int visit_member(void *arg, const char *name, struct input *in, struct err *why, struct err *e)
{
	struct several *v = arg;
	int rc = OK;

	if (v->begun && v->visit->between != NULL)
		rc = v->visit->between(v->visit->arg, e);
	v->begun = true;
	if (rc == OK)
		rc = take_member(v, name, in, why, e);
	v->ended = rc < 0;
	return rc;
}

static int visit_sidecar(void *arg, struct tar *t, const struct tar_file *f, struct err *e)
{
	struct several *v = arg;
	int rc = v->all_sidecars ? OK : sidecars_take(v->sidecars, t, f, e);

	v->ended = rc < 0;
	return rc;
}

static int read_archive(struct several *v, struct input *in, struct err *e)
{
	struct trace_report report;
	struct err why = { 0 };
	int rc, rc_waiting;

	read_ahead(in);
	v->sidecars = sidecars_new(v->like.path);
	rc = archive_each(in, v->like.path, v->like.limits, visit_member, visit_sidecar, v, &report, e);
	rc_waiting = hand_on_all(v, &why);
	sidecars_free(v->sidecars);
	if (rc_waiting == OK)
		return rc;
	if (e != NULL)
		*e = why;
	return rc_waiting;
}

static int read_several(struct several *v, struct input *in, struct err *e)
{
	struct source s = v->like;
	struct err why = { 0 };
	struct found f;
	struct str head;
	int rc = input_peek(in, &head, e);

	if (rc < 0)
		return rc;
	if (tar_is(head))
		return read_archive(v, in, e);
	s.in = in;
	rc = window_of(v->a, &s, v->own, &f, &why);
	return v->visit->window(v->visit->arg, s.path, rc == OK ? &f.w : NULL, &f.report, &why, e);
}

int windows_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, const struct window_visit *visit, struct err *e)
{
	struct sidecar sidecar = { 0 };
	struct several v = { .a = a, .own = &sidecar, .visit = visit, .waiting = VEC_INIT(WINDOWS_WAITING),
		.like = { .path = path, .origin = origin, .limits = limits } };
	struct input *in = NULL;
	struct arena own; /* the visitor may reset its own */
	int rc;

	arena_init(&own, OWN_BYTES_MAX);
	rc = sidecar_read(&own, path, &sidecar, e);
	if (rc == OK)
		rc = input_open_regular(&in, path, limits, e);
	if (rc == OK) {
		v.like.mtime_ns = input_mtime_ns(in);
		rc = read_several(&v, in, e);
	}
	input_close(in);
	arena_fini(&own);
	return rc;
}
