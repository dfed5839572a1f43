#include "agent/sysfs.h"

#include <inttypes.h>

#include "agent/errand.h"
#include "agent/sysfs_walk.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/must.h"
#include "base/vec.h"
#include "trace/draft.h"

enum {
	SYSFS_MAGIC = 0x73797366,
	LOOK_BYTES_MAX = 32 << 20,
	COUNTERS_MAX = 1 << 16,
	COUNTERS_BYTES_MAX = 16 << 20,
	TEXTS_MAX = 64,
};

static const int64_t walk_limit_ns = 5 * NS_PER_S, power_old_ns = 10 * NS_PER_MIN;

static const struct {
	const char *word, *cure;
} troubles[] = {
	[SYSFS_ABSENT] = { "absent", "is the Neuron driver loaded; in a container, mount the host's /sys" },
	[SYSFS_DENIED] = { "denied", "some counters are for root only: run the agent as root or with CAP_DAC_READ_SEARCH" },
	[SYSFS_CUT] = { "cut", "more counters than are read at a time: raise sysfs.interval and look at what is slow" },
	[SYSFS_ODD] = { "odd", "this driver has counters in a form that is not known here; they are left out" },
	[SYSFS_BACK] = { "back", "counters went back: the driver was loaded anew" },
	[SYSFS_FULL] = { "full", "more gauges than a window has" },
};
_Static_assert(COUNT(troubles) == SYSFS_TROUBLES, "name every trouble");

const char *sysfs_trouble_word(enum sysfs_trouble t)
{
	return troubles[t].word;
}

/* ---- counters, as they were at the last look. The thread's own. */

VEC(last_values, double);

struct memory {
	struct arena arena;
	struct intern paths;
	struct last_values values;
	int64_t at_ns; /* mono; 0: no look yet */
};

static void memory_init(struct memory *m)
{
	arena_init(&m->arena, COUNTERS_BYTES_MAX);
	intern_init(&m->paths, &m->arena, COUNTERS_MAX);
	m->values = (struct last_values)VEC_INIT(COUNTERS_MAX);
	m->at_ns = 0;
}

static void memory_fini(struct memory *m)
{
	intern_fini(&m->paths);
	vec_fini(&m->values);
	arena_fini(&m->arena);
}

/* Where it is remembered; NULL where there is no room. *is_new: it was not yet. */
static double *memory_of(struct memory *m, struct str path, bool *is_new)
{
	uint32_t id = intern_id(&m->paths, path);

	*is_new = id != INTERN_NONE && id >= m->values.n;
	if (id == INTERN_NONE || (*is_new && vec_push(&m->values) == NULL))
		return NULL;
	return &m->values.v[id];
}

/* ---- a look */

/* A text of info, and whether all devices say the same. */
struct info {
	struct str name, text;
	bool differs;
};
VEC(infos, struct info);

struct look {
	struct errand er;
	/* in */
	const char *root;
	struct memory *memory;
	/* out */
	int rc;
	struct err err;
	struct arena arena;
	struct window window;
	int64_t began_ns, took_ns; /* mono */
	uint64_t met[SYSFS_TROUBLES];
	size_t files;
	/* while it walks */
	struct draft draft;
	struct infos infos;
	double seconds; /* since the last one; 0: none */
};

static const struct {
	const char *name, *unit;
	double scale;
} rates[] = {
	{ "other_info/flop_count", "flops/s", 1 },
	{ "other_info/nc_time_in_use", "ratio", 1e-6 }, /* microseconds */
};

static void gauge(struct look *l, const struct sysfs_value *v, const char *unit, double value, struct str key, struct str label)
{
	struct label labels[SYSFS_LABELS_MAX + 1];
	size_t n = v->n_labels;

	if (value == 0)
		return;
	memcpy(labels, v->labels, n * sizeof(*labels));
	if (key.n > 0)
		labels[n++] = (struct label){ key, label };
	draft_gauge(&l->draft, DRAFT_LAST, v->name, str_of(unit), value, labels, n);
}

static void take_counter(struct look *l, const struct sysfs_value *v)
{
	bool is_new;
	double *last = memory_of(l->memory, v->path, &is_new), grown;
	const char *unit = "1/s";
	double scale = 1;

	if (last == NULL) {
		l->met[SYSFS_FULL]++;
		return;
	}
	grown = v->value - *last;
	*last = v->value;
	if (is_new || l->seconds <= 0)
		return;
	if (grown < 0) {
		l->met[SYSFS_BACK]++;
		return;
	}
	for (size_t i = 0; i < COUNT(rates); i++)
		if (str_eq(v->name, str_of(rates[i].name))) {
			unit = rates[i].unit;
			scale = rates[i].scale;
		}
	gauge(l, v, unit, grown * scale / l->seconds, STR(""), STR(""));
}

static const char *unit_of(const struct sysfs_value *v)
{
	return str_has_prefix(v->name, STR("memory_usage/")) ? "bytes" : "1";
}

/* A measurement of long ago says nothing about now. In percent of the most it may draw; what is raw has a unit of its own. */
static void take_power(struct look *l, const struct sysfs_value *v)
{
	bool percent = str_has_suffix(v->name, STR("utilization")) && v->high <= 101;
	const char *unit = percent ? "ratio" : "1";
	double scale = percent ? 0.01 : 1;

	if (clock_wall_ns() - v->unix_s * NS_PER_S > power_old_ns)
		return;
	gauge(l, v, unit, v->low * scale, STR("stat"), STR("min"));
	gauge(l, v, unit, v->high * scale, STR("stat"), STR("max"));
	gauge(l, v, unit, v->value * scale, STR("stat"), STR("avg"));
}

/* A serial number is nobody's business, and differs from device to device anyway. */
static void take_info(struct look *l, const struct sysfs_value *v)
{
	struct info *info = NULL;

	if (str_contains(v->name, STR("serial")))
		return;
	vec_each(old, &l->infos)
		if (str_eq(old->name, v->name))
			info = old;
	if (info != NULL) {
		info->differs |= !str_eq(info->text, v->text);
		return;
	}
	info = vec_push(&l->infos);
	if (info != NULL)
		*info = (struct info){ .name = arena_str(&l->arena, v->name), .text = arena_str(&l->arena, v->text) };
}

static void on_value(void *arg, const struct sysfs_value *v)
{
	struct look *l = arg;

	switch (v->kind) {
	case SYSFS_COUNTER: take_counter(l, v); break;
	case SYSFS_LEVEL: gauge(l, v, unit_of(v), v->value, STR(""), STR("")); break;
	case SYSFS_PEAK: gauge(l, v, unit_of(v), v->value, STR("stat"), STR("peak")); break;
	case SYSFS_POWER: take_power(l, v); break;
	case SYSFS_PART: gauge(l, v, "1", 1, STR("component"), v->text); break;
	case SYSFS_TEXT: take_info(l, v); break;
	case SYSFS_KINDS: break;
	}
}

static int finish(struct look *l)
{
	char room[64];
	int rc;

	vec_each(info, &l->infos)
		if (!info->differs)
			draft_label(&l->draft, info->name, info->text);
	draft_version(&l->draft, STR("driver"), sysfs_driver_version(l->root, room, sizeof(room)));
	l->met[SYSFS_FULL] += draft_dropped(&l->draft);
	rc = draft_finish(&l->draft, &l->window, &l->err);
	l->window.events = l->files;
	return rc;
}

static void look_run(struct errand *er, struct thread *t)
{
	struct look *l = (struct look *)er;
	struct sysfs_walk w = { .visit = on_value, .arg = l, .limit_ns = walk_limit_ns, .thread = t };

	l->began_ns = clock_mono_ns();
	l->seconds = l->memory->at_ns == 0 ? 0 : (double)(l->began_ns - l->memory->at_ns) / 1e9;
	draft_init(&l->draft, &l->arena);
	l->rc = sysfs_walk(&w, l->root, &l->err);
	l->files = w.files;
	if (l->rc == OK)
		l->rc = finish(l);
	draft_fini(&l->draft);
	l->met[SYSFS_DENIED] = w.denied;
	l->met[SYSFS_CUT] = w.cut;
	l->met[SYSFS_ODD] = w.odd;
	l->memory->at_ns = l->rc == OK ? l->began_ns : 0;
	l->took_ns = clock_mono_ns() - l->began_ns; /* here: the loop's now may be older than the look's begin */
	if (l->rc == OK && !arena_full(&l->memory->arena))
		return;
	memory_fini(l->memory); /* other devices perhaps: afresh */
	memory_init(l->memory);
}

static void look_free(struct errand *er)
{
	struct look *l = (struct look *)er;

	vec_fini(&l->infos);
	arena_fini(&l->arena);
	mem_free(l);
}

/* ---- the source */

struct sysfs {
	uint32_t magic;
	struct sysfs_settings set;
	struct errands *errands;
	struct memory memory; /* the thread's while a look is out */
	bool out;
	int64_t next_ns, last_ns; /* mono: the next look; when the last one began, 0: none */
	struct report_queue queue;
	uint64_t counts[SYSFS_TROUBLES], looks, slowest_ns;
	bool said[SYSFS_TROUBLES];
};

static struct sysfs *own(void *self)
{
	return MAGIC_CHECK((struct sysfs *)self, SYSFS_MAGIC);
}

static const struct sysfs *own_const(const void *self)
{
	return MAGIC_CHECK((const struct sysfs *)self, SYSFS_MAGIC);
}

/* Each trouble is said when it begins, and counted as long as it lasts. */
static void say(struct sysfs *s, enum sysfs_trouble t, bool is_there, const char *what)
{
	if (is_there && !s->said[t])
		log_warn("sysfs.trouble", "what=%s reason=\"%s\" cure=\"%s\"", troubles[t].word, what, troubles[t].cure);
	s->counts[t] += is_there;
	s->said[t] = is_there;
}

static void push(struct sysfs *s, struct look *l, int64_t now_ns, int64_t wall_ns)
{
	const struct sysfs_conf *cf = s->set.conf;
	struct window *w = &l->window;
	struct err e = { 0 };

	w->dur_ns = s->last_ns == 0 ? 0 : l->began_ns - s->last_ns;
	w->start_ns = wall_ns - (now_ns - l->began_ns) - w->dur_ns;
	w->service = str_of(cf->service);
	w->deploy = str_of(cf->deploy);
	if (w->n_gauges > 0 && report_push(&s->queue, &s->set.origin, sysfs_source.name, w, &e) < 0)
		log_error("sysfs.lost", "err=\"%s\"", e.text);
	s->last_ns = l->began_ns;
}

static void take(struct sysfs *s, struct look *l, int64_t now_ns, int64_t wall_ns)
{
	uint64_t took = (uint64_t)l->took_ns;

	s->out = false;
	s->looks++;
	s->slowest_ns = took > s->slowest_ns ? took : s->slowest_ns;
	say(s, SYSFS_ABSENT, l->rc < 0, l->err.text);
	for (size_t i = SYSFS_ABSENT + 1; i < SYSFS_TROUBLES; i++)
		say(s, (enum sysfs_trouble)i, l->met[i] > 0, "");
	if (l->rc == OK)
		push(s, l, now_ns, wall_ns);
	else
		s->last_ns = 0;
}

static void start(struct sysfs *s, int64_t now_ns)
{
	struct look *l = mem_get(sizeof(*l));

	l->er = (struct errand){ look_run, look_free };
	l->root = s->set.conf->root;
	l->memory = &s->memory;
	l->infos.cap = TEXTS_MAX;
	arena_init(&l->arena, LOOK_BYTES_MAX);
	s->next_ns = now_ns + s->set.conf->interval_ns;
	s->out = errands_give(s->errands, &l->er);
	if (!s->out)
		look_free(&l->er);
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct sysfs *s = own(self);
	struct errand *er = errands_fetch(s->errands);

	if (er != NULL) {
		take(s, (struct look *)er, now_ns, wall_ns);
		er->free(er);
	}
	if (!s->out && now_ns >= s->next_ns)
		start(s, now_ns);
}

static int64_t on_wake(const void *self, bool busy)
{
	(void)busy;
	return own_const(self)->out ? INT64_MAX : own_const(self)->next_ns;
}

static int on_fd(void *self)
{
	return errands_fd(own(self)->errands);
}

static bool on_batch(void *self, int64_t now_ns, struct buf *out)
{
	(void)now_ns;
	return report_pop(&own(self)->queue, out);
}

static void on_status(const void *self)
{
	const struct sysfs *s = own_const(self);
	struct buf b;

	buf_init(&b, 1024);
	for (size_t i = 0; i < SYSFS_TROUBLES; i++)
		buf_fmt(&b, " %s=%" PRIu64, troubles[i].word, s->counts[i]);
	log_info("sysfs.status", "looks=%" PRIu64 " windows=%" PRIu64 " lost=%" PRIu64 " slowest_ms=%.1f%.*s", s->looks, s->queue.made,
		s->queue.lost, (double)s->slowest_ns / 1e6, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

static void on_close(void *self)
{
	struct sysfs *s = own(self);

	errands_stop(s->errands);
	memory_fini(&s->memory);
	report_queue_fini(&s->queue);
	s->magic = MAGIC_DEAD;
	mem_free(s);
}

const struct source_type sysfs_source = {
	.name = "sysfs",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.batch = on_batch,
	.status = on_status,
};

int sysfs_open(struct source *out, const struct sysfs_settings *set, struct err *e)
{
	struct sysfs *s = mem_get(sizeof(*s));
	int rc;

	s->magic = SYSFS_MAGIC;
	s->set = *set;
	memory_init(&s->memory);
	report_queue_init(&s->queue);
	rc = errands_start(&s->errands, "sysfs", 1, e);
	if (rc < 0) {
		on_close(s);
		return rc;
	}
	*out = (struct source){ &sysfs_source, s };
	return OK;
}

uint64_t sysfs_count(const struct source *s, enum sysfs_trouble t)
{
	return own_const(s->self)->counts[t];
}
