#include "bench/sample.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 1 << 16 };

void sample_add(struct sample *s, double v)
{
	if (s->n < SAMPLE_MAX)
		s->v[s->n++] = v;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct sample sorted(const struct sample *s)
{
	struct sample copy = *s;

	qsort(copy.v, copy.n, sizeof(*copy.v), by_value);
	return copy;
}

double sample_median(const struct sample *s)
{
	const struct sample in_order = sorted(s);

	return s->n == 0 ? 0 : (in_order.v[(s->n - 1) / 2] + in_order.v[s->n / 2]) / 2;
}

static void write_one(struct json_writer *w, const char *key, const char *what, double v)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", key == NULL ? "" : key, key == NULL ? "" : "_", what);
	jw_key_double(w, name, v);
}

void sample_write(struct json_writer *w, const char *key, const struct sample *s)
{
	const struct sample in_order = sorted(s);

	write_one(w, key, "min", s->n == 0 ? 0 : in_order.v[0]);
	write_one(w, key, "median", sample_median(s));
	write_one(w, key, "max", s->n == 0 ? 0 : in_order.v[s->n - 1]);
}

struct sample sample_ratio(const struct sample *a, const struct sample *b)
{
	struct sample r = { .n = 0 };

	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (b->v[i] > 0)
			sample_add(&r, a->v[i] / b->v[i]);
	return r;
}

struct json_writer *sample_begin(struct sample_line *line, const char *bench)
{
	buf_init(&line->text, LINE_MAX_BYTES);
	jw_init(&line->w, &line->text);
	jw_object(&line->w);
	jw_key_text(&line->w, "bench", bench);
	return &line->w;
}

int sample_end(struct sample_line *line, struct err *e)
{
	int rc;

	jw_end(&line->w);
	rc = jw_finish(&line->w, e);
	if (rc == OK)
		printf("%s\n", line->text.p);
	fflush(stdout);
	buf_fini(&line->text);
	return rc;
}
