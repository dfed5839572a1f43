#include "trace/window.h"

#include "base/enc.h"
#include "base/hash.h"
#include "base/mem.h"
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

/* host, worker: what the file itself says, or empty. */
static void name_window(struct arena *a, const char *path, struct str host, struct str worker, const struct sidecar *s,
	const struct window_origin *origin, struct window *w)
{
	w->service = first_of(a, s->service, origin->service, STR("unknown"));
	w->deploy = first_of(a, s->deploy, origin->deploy, STR(""));
	if (str_empty(w->deploy))
		w->deploy = fingerprint(a, path, w);
	w->host = first_of(a, s->host, origin->host, host.n > 0 ? host : STR("localhost"));
	w->worker = first_of(a, s->worker, origin->worker, worker);
	w->source = arena_str(a, origin->source);
	name_labels(a, s, w);
}

static int name_id(struct input *in, const struct window_origin *origin, struct window *w, struct err *e)
{
	uint8_t content[INPUT_HASH];
	struct hash128 *h;
	int rc = input_hash(in, content, e);

	if (rc < 0)
		return rc;
	h = hash128_new();
	hash128_add_str(h, origin->agent_id);
	hash128_add_str(h, w->host);
	hash128_add_str(h, w->worker);
	hash128_add_str(h, w->source);
	hash128_add(h, content, sizeof(content));
	hash128_get(h, w->id);
	hash128_free(h);
	return OK;
}

/* ---- when it was, and how whole it is */
static int64_t start_of(const struct trace *t, const struct sidecar *s, int64_t mtime_ns, int64_t first_ns)
{
	int64_t start_ns = mtime_ns;

	if (s->has_start)
		start_ns = s->start_ns;
	else if (t->has_base)
		start_ns = ns_add(t->base_ns, first_ns);
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

static int finish(struct arena *a, struct input *in, const struct window_origin *origin, struct window *w, struct err *e)
{
	int rc = name_id(in, origin, w, e);

	if (rc == OK && origin->rules != NULL)
		rc = name_rules_apply(origin->rules, a, w, e);
	if (rc == OK && arena_full(a))
		rc = err_set(e, E_LIMIT, "no room for a window of %zu ops", w->n_ops);
	return rc == OK ? window_check(w, e) : rc;
}

/* What the file is decides who reads it. */
struct source {
	const char *path;
	struct input *in;
	const struct sidecar *sidecar;
	const struct window_origin *origin;
	const struct trace_limits *limits;
	struct trace_report *report;
	int64_t mtime_ns;
};

static int make_window(struct arena *a, const struct source *s, struct trace *t, struct window *w, struct err *e)
{
	int64_t first_ns;
	int rc;

	if (t->events.n == 0)
		return err_set(e, E_FORMAT, "no timed events");
	rc = fold_trace(t, a, w, &first_ns, e);
	if (rc < 0)
		return rc;
	w->start_ns = start_of(t, s->sidecar, s->mtime_ns, first_ns);
	name_versions(a, t, w);
	name_window(a, s->path, t->host_name, t->rank >= 0 ? arena_fmt(a, "%lld", (long long)t->rank) : STR(""), s->sidecar,
		s->origin, w);
	return finish(a, s->in, s->origin, w, e);
}

static int window_of_trace(enum probe_kind kind, struct arena *a, const struct source *s, struct window *w, struct err *e)
{
	struct trace *t = NULL;
	int rc = dialect_read(kind, s->in, s->path, s->limits, TRACE_COPIES | TRACE_DELAYS, NULL, s->report, &t, e);

	if (rc == OK) {
		rc = make_window(a, s, t, w, e);
		if (rc < 0)
			err_add(e, "%s", s->path);
	}
	trace_free(t);
	return rc;
}

static int window_of_neuron(enum probe_kind kind, struct arena *a, const struct source *s, struct window *w,
	struct err *e)
{
	int rc = neuron_read(kind, a, s->in, s->path, w, s->report, e);

	if (rc < 0)
		return rc;
	if (s->sidecar->has_start)
		w->start_ns = s->sidecar->start_ns;
	else if (w->start_ns == 0) /* no wall clock in the file */
		w->start_ns = s->mtime_ns < 0 ? 0 : s->mtime_ns;
	name_window(a, s->path, w->host, STR(""), s->sidecar, s->origin, w);
	rc = finish(a, s->in, s->origin, w, e);
	return rc < 0 ? err_add(e, "%s", s->path) : OK;
}

static int window_of(struct arena *a, const struct source *s, struct window *out, struct err *e)
{
	enum probe_kind kind = PROBE_UNKNOWN;
	int rc;

	*out = (struct window){ 0 };
	*s->report = (struct trace_report){ 0 };
	rc = probe_input(s->in, s->path, &kind, e);
	if (rc == OK)
		rc = probe_is_neuron(kind) ? window_of_neuron(kind, a, s, out, e) : window_of_trace(kind, a, s, out, e);
	if (rc == OK)
		count_losses(s->report, out);
	else
		window_fini(out);
	return rc;
}

int window_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, struct window *out, struct trace_report *report, struct err *e)
{
	struct sidecar sidecar;
	struct source s = { .path = path, .sidecar = &sidecar, .origin = origin, .limits = limits, .report = report };
	int rc;

	*out = (struct window){ 0 };
	*report = (struct trace_report){ 0 };
	rc = sidecar_read(a, path, &sidecar, e);
	if (rc == OK)
		rc = input_open_regular(&s.in, path, limits, e);
	if (rc == OK) {
		s.mtime_ns = input_mtime_ns(s.in);
		rc = window_of(a, &s, out, e);
	}
	input_close(s.in);
	return rc;
}

/* ---- archives */

struct several {
	struct arena *a;
	struct source like; /* what all of them have in common */
	const struct sidecars *sidecars;
	const struct window_visit *visit;
};

static int hand_on(const struct several *v, struct source *s, struct err *why, struct err *e)
{
	struct trace_report report = { 0 };
	struct window w;

	s->report = &report;
	if (s->in == NULL || window_of(v->a, s, &w, why) < 0)
		return v->visit->window(v->visit->arg, s->path, NULL, &report, why, e);
	return v->visit->window(v->visit->arg, s->path, &w, &report, why, e);
}

/* Its own, and the archive's behind it. */
static int sidecar_of(const struct several *v, const char *name, struct sidecar *s, struct err *e)
{
	struct str in_archive = str_from(str_of(name), strlen(v->like.path) + 1);
	int rc = sidecars_find(v->sidecars, v->a, in_archive, s, e);

	return rc < 0 ? rc : sidecar_fill(v->a, s, v->like.sidecar, e);
}

static int visit_member(void *arg, const char *name, struct input *in, struct err *why, struct err *e)
{
	const struct several *v = arg;
	struct source s = v->like;
	struct sidecar sidecar;

	s.path = name;
	s.sidecar = &sidecar;
	if (in != NULL && sidecar_of(v, name, &sidecar, why) == OK)
		s.in = in;
	return hand_on(v, &s, why, e);
}

static void read_ahead(struct input *in)
{
	input_without_hash(in);
	input_ahead(in);
}

/* first: for the sidecars. */
static int read_archive(struct several *v, struct input *first, struct err *e)
{
	struct sidecars *sidecars = NULL;
	struct trace_report report;
	struct input *in = NULL;
	int rc;

	read_ahead(first);
	rc = sidecars_read(&sidecars, first, v->like.path, e);
	if (rc == OK)
		rc = input_open_regular(&in, v->like.path, v->like.limits, e);
	if (rc == OK) {
		v->sidecars = sidecars;
		read_ahead(in);
		rc = archive_each(in, v->like.path, v->like.limits, visit_member, v, &report, e);
	}
	input_close(in);
	sidecars_free(sidecars);
	return rc;
}

static int read_several(struct several *v, struct input *in, struct err *e)
{
	struct source s = v->like;
	struct err why = { 0 };
	struct str head;
	int rc = input_peek(in, &head, e);

	if (rc < 0)
		return rc;
	if (tar_is(head))
		return read_archive(v, in, e);
	s.in = in;
	return hand_on(v, &s, &why, e);
}

int windows_from_file(struct arena *a, const char *path, const struct window_origin *origin,
	const struct trace_limits *limits, const struct window_visit *visit, struct err *e)
{
	struct sidecar sidecar = { 0 };
	struct several v = { .a = a, .visit = visit,
		.like = { .path = path, .sidecar = &sidecar, .origin = origin, .limits = limits } };
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
