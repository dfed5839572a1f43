#include "base/metric.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

enum { METRICS_MAX = 4096 }; /* names and labels together; further ones are not made (NULL) */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_TYPES };

static const char *const type_name[] = { [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge" };
_Static_assert(COUNT(type_name) == METRIC_TYPES, "name every type");

struct metric {
	_Atomic uint64_t bits; /* a counter's count, or the bits of a gauge's double */
	enum metric_type type;
	char *name, *labels, *help; /* labels: "" for none */
};

struct metrics {
	pthread_mutex_t *lock; /* guards the list; values are atomic */
	struct metric **v;
	size_t n, room;
};

struct metrics *metrics_new(void)
{
	struct metrics *ms = mem_get(sizeof(*ms));

	ms->lock = mem_get(sizeof(*ms->lock));
	pthread_mutex_init(ms->lock, NULL);
	return ms;
}

void metrics_free(struct metrics *ms)
{
	if (ms == NULL)
		return;
	for (size_t i = 0; i < ms->n; i++) {
		mem_free(ms->v[i]->name);
		mem_free(ms->v[i]->labels);
		mem_free(ms->v[i]->help);
		mem_free(ms->v[i]);
	}
	pthread_mutex_destroy(ms->lock);
	mem_free(ms->lock);
	mem_free(ms->v);
	mem_free(ms);
}

static struct metric *find(const struct metrics *ms, const char *name, const char *labels)
{
	for (size_t i = 0; i < ms->n; i++)
		if (strcmp(ms->v[i]->name, name) == 0 && strcmp(ms->v[i]->labels, labels) == 0)
			return ms->v[i];
	return NULL;
}

static struct metric *add(struct metrics *ms, enum metric_type type, const char *name, const char *labels,
	const char *help)
{
	struct metric *m;

	if (ms->n == METRICS_MAX)
		return NULL;
	if (ms->n == ms->room) {
		ms->room = ms->room ? ms->room * 2 : 32;
		ms->v = mem_resize(ms->v, ms->room * sizeof(struct metric *));
	}
	m = mem_get(sizeof(*m));
	m->type = type;
	m->name = mem_dup_text(name);
	m->labels = mem_dup_text(labels);
	m->help = mem_dup_text(help);
	ms->v[ms->n++] = m;
	return m;
}

static struct metric *get(struct metrics *ms, enum metric_type type, const char *name, const char *labels,
	const char *help)
{
	struct metric *m;

	if (ms == NULL)
		return NULL;
	labels = labels == NULL ? "" : labels;
	pthread_mutex_lock(ms->lock);
	m = find(ms, name, labels);
	if (m == NULL)
		m = add(ms, type, name, labels, help);
	must(m == NULL || m->type == type);
	pthread_mutex_unlock(ms->lock);
	return m;
}

struct metric *metric_counter(struct metrics *ms, const char *name, const char *labels, const char *help)
{
	return get(ms, METRIC_COUNTER, name, labels, help);
}

struct metric *metric_gauge(struct metrics *ms, const char *name, const char *labels, const char *help)
{
	return get(ms, METRIC_GAUGE, name, labels, help);
}

void metric_add(struct metric *m, uint64_t n)
{
	if (m == NULL)
		return;
	must(m->type == METRIC_COUNTER);
	atomic_fetch_add_explicit(&m->bits, n, memory_order_relaxed);
}

void metric_set(struct metric *m, double v)
{
	uint64_t bits;

	if (m == NULL)
		return;
	must(m->type == METRIC_GAUGE);
	memcpy(&bits, &v, sizeof(bits));
	atomic_store_explicit(&m->bits, bits, memory_order_relaxed);
}

double metric_value(const struct metric *m)
{
	uint64_t bits;
	double v;

	if (m == NULL)
		return 0;
	bits = atomic_load_explicit(&m->bits, memory_order_relaxed);
	if (m->type == METRIC_COUNTER)
		return (double)bits;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_help(const char *help, struct buf *out)
{
	for (; *help != '\0'; help++)
		if (*help == '\n')
			buf_text(out, "\\n");
		else if (*help == '\\')
			buf_text(out, "\\\\");
		else
			buf_byte(out, *help);
}

static void put_double(double v, struct buf *out)
{
	char text[32];

	if (isnan(v)) {
		buf_text(out, "NaN");
		return;
	}
	if (isinf(v)) {
		buf_text(out, v > 0 ? "+Inf" : "-Inf");
		return;
	}
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	buf_text(out, text);
}

static void put_sample(const struct metric *m, struct buf *out)
{
	buf_text(out, m->name);
	if (m->labels[0] != '\0')
		buf_fmt(out, "{%s}", m->labels);
	buf_byte(out, ' ');
	if (m->type == METRIC_COUNTER)
		buf_fmt(out, "%" PRIu64, atomic_load_explicit(&m->bits, memory_order_relaxed));
	else
		put_double(metric_value(m), out);
	buf_byte(out, '\n');
}

static bool name_came_before(const struct metrics *ms, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(ms->v[k]->name, ms->v[i]->name) == 0)
			return true;
	return false;
}

/* All samples of a name must stand together in the text format, whenever each was made. */
static void put_family(const struct metrics *ms, size_t first, struct buf *out)
{
	const struct metric *head = ms->v[first];

	buf_fmt(out, "# HELP %s ", head->name);
	put_help(head->help, out);
	buf_fmt(out, "\n# TYPE %s %s\n", head->name, type_name[head->type]);
	for (size_t k = first; k < ms->n; k++)
		if (strcmp(ms->v[k]->name, head->name) == 0)
			put_sample(ms->v[k], out);
}

void metrics_write(const struct metrics *ms, struct buf *out)
{
	if (ms == NULL)
		return;
	pthread_mutex_lock(ms->lock);
	for (size_t i = 0; i < ms->n; i++)
		if (!name_came_before(ms, i))
			put_family(ms, i, out);
	pthread_mutex_unlock(ms->lock);
}
