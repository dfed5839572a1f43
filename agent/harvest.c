#include "agent/harvest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/tree.h"
#include "trace/input.h"
#include "trace/probe.h"
#include "trace/sidecar.h"

enum { DEPTH_MAX = 6, NAMES_MAX = 10000, OWN_LABELS_MAX = 3, TEXTS_BYTES = 16 << 20 };

enum item_state { ITEM_WAITING, ITEM_OUT, ITEM_OVER };

struct item {
	const char *path;
	enum item_state state;
	bool is_device;
	bool stays; /* it goes with its session's folder, or stays in it */
	unsigned tries;
	int64_t due_ns; /* mono */
	struct label *labels, version;
	size_t n_labels, n_versions;
};
VEC(items, struct item);

struct harvest {
	struct arena texts;
	struct str service, device_service, deploy, worker, top;
	struct items items;
	struct harvest_sum sum;
	struct harvest_back_counts backs;
};

/* While it is being made. */
struct maker {
	struct harvest *h;
	const struct harvest_settings *set;
	const char *work_dir;
	struct thread *thread;
	struct sessions sessions;
	unsigned names; /* looked at so far */
	bool stopped;
};

static bool is_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static struct str text(struct maker *m, struct str s)
{
	return arena_str(&m->h->texts, s);
}

static struct item *item_add(struct maker *m, const char *path)
{
	struct label *labels = arena_get_array(&m->h->texts, OWN_LABELS_MAX + m->set->n_labels, sizeof(*labels));
	struct item *it = labels == NULL ? NULL : vec_push(&m->h->items);

	if (it == NULL)
		return NULL;
	it->path = text(m, str_of(path)).p;
	it->labels = labels;
	for (size_t i = 0; i < m->set->n_labels; i++)
		labels[it->n_labels++] = (struct label){ text(m, m->set->labels[i].key), text(m, m->set->labels[i].value) };
	m->h->sum.traces++;
	return it;
}

/* ---- files as they are */

/* What is no trace of ours is passed over; the sentence of the last one is kept. */
static bool is_readable(struct maker *m, const char *path)
{
	struct trace_limits limits = TRACE_LIMITS_DEFAULT;
	enum probe_kind kind = PROBE_UNKNOWN;
	struct input *in = NULL;
	struct err e = { 0 };
	bool good = false;

	if (input_open_regular(&in, path, &limits, &e) == OK && probe_input(in, path, &kind, &e) == OK) {
		good = kind == PROBE_TRACE || kind == PROBE_XLA_TRACE || kind == PROBE_XPLANE ||
		       (probe_is_neuron(kind) && kind != PROBE_NEURON_LS);
		if (!good)
			err_set(&e, E_FORMAT, "%s: %s", path, probe_sentence(kind));
	}
	input_close(in);
	if (!good)
		snprintf(m->h->sum.why, sizeof(m->h->sum.why), "%s", e.text);
	return good;
}

static bool is_session(const struct maker *m, const char *dir)
{
	vec_each(s, &m->sessions)
		if (strcmp(s->dir, dir) == 0)
			return true;
	return false;
}

static bool is_shown(const char *name)
{
	return name[0] != '.' && !str_has_suffix(str_of(name), STR(SIDECAR_SUFFIX)) && !str_has_suffix(str_of(name), STR(".tmp"));
}

static void take_files(struct maker *m, const char *dir, unsigned depth);

static void take_entry(struct maker *m, const char *path, unsigned depth)
{
	struct stat st;

	if (++m->names > NAMES_MAX || lstat(path, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode) && depth > 0 && !is_session(m, path))
		take_files(m, path, depth - 1);
	else if (S_ISREG(st.st_mode) && is_readable(m, path))
		item_add(m, path);
}

static void take_files(struct maker *m, const char *dir, unsigned depth)
{
	struct tree_names names;

	(void)tree_list(dir, is_shown, NAMES_MAX, &names);
	vec_each(name, &names) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", dir, *name) < PATH_MAX)
			take_entry(m, path, depth);
	}
	tree_names_fini(&names);
}

/* ---- sessions */

static void name_item(struct maker *m, struct item *it, const struct session *s, const char *profile, struct str version)
{
	struct arena *a = &m->h->texts;
	const char *slash = strrchr(s->dir, '/');

	if (s->pid > 0)
		it->labels[it->n_labels++] = (struct label){ STR("pid"), arena_fmt(a, "%d", (int)s->pid) };
	it->labels[it->n_labels++] = (struct label){ STR("session"), arena_fmt(a, "%.200s", slash == NULL ? s->dir : slash + 1) };
	it->labels[it->n_labels++] = (struct label){ STR("profile"), str_of(profile) };
	if (!str_empty(version)) {
		it->version = (struct label){ STR("profiler"), arena_str(a, version) };
		it->n_versions = 1;
	}
}

static const char *profile_of(const char *name)
{
	if (!decode_is_device(name))
		return "system";
	return str_has_prefix(str_of(name), STR("summary-")) ? "summary" : "device";
}

/* What decode_session left, this time or before we were killed. */
static bool read_note(struct maker *m, const char *dir, struct buf *note, struct str *version, bool *with_system)
{
	char path[PATH_MAX];
	struct str rest;

	buf_reset(note);
	if (snprintf(path, sizeof(path), "%s/" DECODE_NOTE, dir) >= PATH_MAX || file_read_regular(path, note, NULL) < 0)
		return false;
	rest = buf_view(note);
	*version = str_split(&rest, '\n');
	*with_system = str_has_prefix(rest, STR("with-system"));
	snprintf(m->h->sum.version, sizeof(m->h->sum.version), "%.*s", STR_ARG(*version));
	return true;
}

static bool is_json(const char *name)
{
	return is_shown(name) && str_has_suffix(str_of(name), STR(".json"));
}

static void take_decoded(struct maker *m, const struct session *s, const char *dir, struct str version)
{
	struct tree_names names;

	(void)tree_list(dir, is_json, NAMES_MAX, &names);
	vec_each(name, &names) {
		char path[PATH_MAX];
		struct item *it = NULL;

		if (snprintf(path, sizeof(path), "%s/%s", dir, *name) < PATH_MAX && is_file(path))
			it = item_add(m, path);
		if (it != NULL) {
			it->is_device = decode_is_device(*name);
			name_item(m, it, s, profile_of(*name), version);
		}
	}
	tree_names_fini(&names);
}

static void decode(struct maker *m, const struct session *s, const char *dir)
{
	struct decode_result r;

	decode_session(m->set->decode, s, dir, m->thread, &r);
	m->h->sum.decode_ends[r.end]++;
	if (r.why[0] != '\0')
		memcpy(m->h->sum.why, r.why, sizeof(m->h->sum.why));
	m->stopped = m->stopped || r.end == DECODE_STOPPED;
}

/* The framework's own trace has the host's side of the same ops: it is taken where there is no system profile. */
static void take_trace_json(struct maker *m, const struct session *s)
{
	char path[PATH_MAX];
	struct item *it;

	if (!s->has_trace_json || snprintf(path, sizeof(path), "%s/trace.json", s->dir) >= PATH_MAX || !is_readable(m, path))
		return;
	it = item_add(m, path);
	if (it == NULL)
		return;
	it->stays = true;
	name_item(m, it, s, "framework", STR(""));
}

static void take_session(struct maker *m, const struct session *s, size_t index)
{
	struct str version = STR("");
	bool with_system = false;
	char dir[PATH_MAX];
	struct buf note;

	buf_init(&note, 4096);
	if (m->set->decode != NULL && snprintf(dir, sizeof(dir), "%s/decoded-%zu", m->work_dir, index) < PATH_MAX) {
		if (read_note(m, dir, &note, &version, &with_system)) {
			m->h->sum.decoded_before++;
		} else {
			decode(m, s, dir);
			read_note(m, dir, &note, &version, &with_system);
		}
		take_decoded(m, s, dir, version);
	}
	if (!with_system && !m->stopped)
		take_trace_json(m, s);
	buf_fini(&note);
}

/* ---- all of it */

static void take_all(struct maker *m, const char *in_dir)
{
	sessions_find(in_dir, &m->sessions);
	m->h->sum.sessions = m->sessions.n;
	for (size_t i = 0; i < m->sessions.n && !m->stopped; i++)
		take_session(m, &m->sessions.v[i], i);
	if (!m->stopped && !is_session(m, in_dir))
		take_files(m, in_dir, DEPTH_MAX);
}

static void name_harvest(struct harvest *h, const struct harvest_settings *s)
{
	h->service = arena_str(&h->texts, str_of(s->service));
	h->device_service = arena_fmt(&h->texts, "%.*s/device", STR_ARG(str_empty(h->service) ? STR("unknown") : h->service));
	h->deploy = arena_str(&h->texts, str_of(s->deploy));
	h->worker = arena_str(&h->texts, str_of(s->worker));
	h->top = arena_str(&h->texts, str_of(s->top));
}

int harvest_make(struct harvest **out, const struct harvest_settings *s, const char *in_dir, const char *work_dir,
	struct thread *t, struct err *e)
{
	struct harvest *h = mem_get(sizeof(*h));
	struct maker m = { .h = h, .set = s, .work_dir = work_dir, .thread = t };
	int rc = OK;

	arena_init(&h->texts, TEXTS_BYTES);
	h->items.cap = HARVEST_FILES_MAX;
	name_harvest(h, s);
	take_all(&m, in_dir);
	vec_fini(&m.sessions);
	if (m.stopped)
		rc = err_set(e, E_STOPPED, "%s: the agent ends", in_dir);
	else if (arena_full(&h->texts))
		rc = err_set(e, E_LIMIT, "%s: no room for the names of its traces", in_dir);
	h->backs.waiting = h->items.n;
	if (rc < 0) {
		harvest_free(h);
		return rc;
	}
	*out = h;
	return OK;
}

void harvest_free(struct harvest *h)
{
	if (h == NULL)
		return;
	vec_fini(&h->items);
	arena_fini(&h->texts);
	mem_free(h);
}

const struct harvest_sum *harvest_sum(const struct harvest *h)
{
	return &h->sum;
}

/* ---- for the loop */

static void item_over(struct harvest *h, struct item *it)
{
	it->state = ITEM_OVER;
	h->backs.out--;
}

static void item_bad(struct harvest *h, struct item *it, const char *why)
{
	item_over(h, it);
	h->backs.bad++;
	snprintf(h->backs.bad_why, sizeof(h->backs.bad_why), "%s", why == NULL ? "" : why);
}

bool harvest_next(struct harvest *h, int64_t now_ns, struct source_trace *out)
{
	vec_each(it, &h->items) {
		if (it->state != ITEM_WAITING || it->due_ns > now_ns)
			continue;
		*out = (struct source_trace){
			.key = (uint64_t)(it - h->items.v) + 1,
			.service = it->is_device ? h->device_service : h->service,
			.deploy = h->deploy,
			.worker = h->worker,
			.labels = it->labels,
			.n_labels = it->n_labels,
			.versions = &it->version,
			.n_versions = it->n_versions,
		};
		it->state = ITEM_OUT;
		h->backs.waiting--;
		h->backs.out++;
		if (watch_stat(&out->file, it->path, it->tries))
			return true;
		item_bad(h, it, "it was removed by somebody else");
	}
	return false;
}

/* The trace before its sidecar: were it the other way round, a kill in between would leave a trace that says less about
 * itself, and be another window. */
static void remove_files(const char *path)
{
	char side[PATH_MAX];

	unlink(path);
	crash_point("harvest.removed");
	if (snprintf(side, sizeof(side), "%s" SIDECAR_SUFFIX, path) < PATH_MAX)
		unlink(side);
}

static void remove_trace(const struct harvest *h, const struct item *it)
{
	char held[PATH_MAX];
	int fd;

	if (it->stays)
		return;
	if (str_empty(h->top) || !str_has_prefix(str_of(it->path), h->top)) {
		remove_files(it->path);
		return;
	}
	fd = tree_hold(h->top.p, it->path, held, NULL);
	if (fd < 0)
		return;
	remove_files(held);
	close(fd);
}

void harvest_back(struct harvest *h, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct item *it;

	must(key > 0 && key <= h->items.n);
	it = &h->items.v[key - 1];
	must(it->state == ITEM_OUT);
	switch (r->end) {
	case SOURCE_KEPT:
		item_over(h, it);
		h->backs.kept++;
		h->backs.has_device = h->backs.has_device || r->has_device;
		remove_trace(h, it);
		break;
	case SOURCE_EMPTY:
		item_over(h, it);
		h->backs.empty++;
		remove_trace(h, it);
		break;
	case SOURCE_BAD: item_bad(h, it, r->why); break;
	case SOURCE_AGAIN:
		it->state = ITEM_WAITING;
		it->tries++;
		it->due_ns = now_ns + r->delay_ns;
		h->backs.out--;
		h->backs.waiting++;
		break;
	case SOURCE_ENDS: must(false && "no end of a trace");
	}
}

int64_t harvest_wake_ns(const struct harvest *h)
{
	int64_t wake = INT64_MAX;

	vec_each(it, &h->items)
		if (it->state == ITEM_WAITING && it->due_ns < wake)
			wake = it->due_ns;
	return wake;
}

struct harvest_back_counts harvest_backs(const struct harvest *h)
{
	return h->backs;
}

bool harvest_over(const struct harvest *h)
{
	return h->backs.waiting == 0 && h->backs.out == 0;
}
