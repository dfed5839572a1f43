#include "cli/optable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "json/num.h"
#include "json/pull.h"
#include "json/tree.h"

enum { BLOCK_BYTES = 64 * 1024, FILE_BYTES_MAX = 64 << 20 };

static const double NS_MAX = 9e15; /* about 100 days: more is a mistake of units */

/* ---- is it one? */

enum guess { GUESS_UNKNOWN, GUESS_TABLE, GUESS_OTHER };

/* The document's first members: "ops" makes an op table, "traceEvents" a trace; others do not tell. */
static enum guess guess_by_member(struct json_reader *r, enum json_token t, const struct json_value *v)
{
	if (t == JSON_OBJECT || t == JSON_MORE)
		return GUESS_UNKNOWN;
	if (t != JSON_KEY)
		return GUESS_OTHER;
	if (str_eq(v->raw, STR("ops")))
		return GUESS_TABLE;
	if (str_eq(v->raw, STR("traceEvents")))
		return GUESS_OTHER;
	json_skip(r);
	return GUESS_UNKNOWN;
}

static enum guess guess_in_block(struct json_reader *r)
{
	enum guess guess = GUESS_UNKNOWN;
	enum json_token t = JSON_OBJECT;
	struct json_value v;

	while (guess == GUESS_UNKNOWN && t != JSON_MORE) {
		t = json_next(r, &v);
		guess = guess_by_member(r, t, &v);
	}
	return guess;
}

static int guess_file(int fd, const char *path, struct json_reader *r, enum guess *guess, struct err *e)
{
	char *block = mem_get(BLOCK_BYTES);
	ssize_t n = 1;
	int rc = OK;

	while (*guess == GUESS_UNKNOWN && n > 0) {
		do
			n = read(fd, block, BLOCK_BYTES);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			rc = err_sys(e, "%s: read", path);
		else if (n == 0)
			json_feed_end(r);
		else
			json_feed(r, block, (size_t)n);
		if (n >= 0)
			*guess = guess_in_block(r);
	}
	mem_free(block);
	return rc;
}

int optable_file_is(const char *path, bool *yes, struct err *e)
{
	struct json_reader *r = json_reader_new(JSON_STRICT, JSON_LIMITS_BODY);
	enum guess guess = GUESS_UNKNOWN;
	int fd = file_open_regular(path, e), rc; /* of a pipe the first bytes could not be read again */

	rc = fd < 0 ? fd : guess_file(fd, path, r, &guess, e);
	if (fd >= 0)
		close(fd);
	json_reader_free(r);
	*yes = guess == GUESS_TABLE;
	return rc;
}

/* ---- reading it */

struct source {
	const char *path;
	struct arena *arena;
	struct err *e;
};

static int read_times(const struct source *s, const struct json_node *node, const char *what, uint64_t times,
	int64_t *ns)
{
	double us = 0, total;

	if (node->kind != JSON_K_NUMBER || json_double(node->text, &us) != OK || us < 0)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: %s is microseconds, a number not below 0", s->path,
			(unsigned long long)node->offset, what);
	total = us * 1e3 * (double)times;
	if (total > NS_MAX)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: %s of %.*s microseconds is more than a hundred days", s->path,
			(unsigned long long)node->offset, what, STR_ARG(node->text));
	*ns = llround(total);
	return OK;
}

static int read_steps(const struct source *s, const struct json_node *root, uint64_t *steps)
{
	const struct json_node *node = json_get(root, "steps");

	*steps = 1;
	if (node == NULL)
		return OK;
	if (node->kind != JSON_K_NUMBER || json_u64(node->text, steps) != OK || *steps == 0)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: steps is a whole number from 1", s->path,
			(unsigned long long)node->offset);
	return OK;
}

/* As a profiler of a device calls its copies: "Memcpy HtoD (Pinned -> Device)", "Memset (Device)". */
static enum op_kind kind_of(struct str name)
{
	if (str_has_prefix(name, STR("Memcpy")))
		return OP_MEMCPY;
	return str_has_prefix(name, STR("Memset")) ? OP_MEMSET : OP_CPU_OP;
}

/* [name, calls, device_us] */
static int read_op(const struct source *s, const struct json_node *row, struct op_summary *op)
{
	bool on_cpu;
	int64_t ns = 0;
	int rc;

	if (row->kind != JSON_K_ARRAY || row->n != 3 || row->items[0].kind != JSON_K_STRING)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: an op is [\"name\", calls, microseconds]", s->path,
			(unsigned long long)row->offset);
	op->name = row->items[0].text;
	if (str_empty(op->name) || op->name.n > WINDOW_NAME_MAX)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: an op's name has 1 to %d bytes", s->path,
			(unsigned long long)row->items[0].offset, WINDOW_NAME_MAX);
	if (row->items[1].kind != JSON_K_NUMBER || json_u64(row->items[1].text, &op->calls) != OK)
		return err_set(s->e, E_FORMAT, "%s: byte %llu: calls of %.*s is a whole number not below 0", s->path,
			(unsigned long long)row->items[1].offset, STR_ARG(op->name));
	rc = read_times(s, &row->items[2], "the time of an op", 1, &ns);
	on_cpu = str_has_suffix(op->name, STR("@cpu"));
	op->kind = kind_of(op->name);
	op->device_total_ns = op->device_self_ns = on_cpu ? 0 : ns;
	op->cpu_total_ns = op->cpu_self_ns = ns; /* for comparison with a trace that has host times only */
	return rc;
}

static int read_ops(const struct source *s, const struct json_node *ops, struct window *out)
{
	int rc = OK;

	if (ops == NULL || ops->kind != JSON_K_ARRAY)
		return err_set(s->e, E_FORMAT, "%s: an op table has \"ops\", an array of [\"name\", calls, microseconds]",
			s->path);
	if (ops->n > WINDOW_OPS_MAX - 2)
		return err_set(s->e, E_LIMIT, "%s: more than %d ops", s->path, WINDOW_OPS_MAX - 2);
	out->ops = arena_get_array(s->arena, ops->n + 2, sizeof(*out->ops));
	for (size_t i = 0; rc == OK && out->ops != NULL && i < ops->n; i++)
		rc = read_op(s, &ops->items[i], &out->ops[out->n_ops++]);
	return rc;
}

static int read_step_time(const struct source *s, const struct json_node *root, struct window *out)
{
	const struct json_node *node = json_get(root, "step_us");
	struct op_summary *op;

	if (node == NULL || out->ops == NULL)
		return OK;
	op = &out->ops[out->n_ops++];
	*op = (struct op_summary){ .kind = OP_STEP, .name = STR("step"), .calls = out->steps };
	return read_times(s, node, "step_us", out->steps, &op->cpu_total_ns);
}

static int read_gap_time(const struct source *s, const struct json_node *root, struct window *out)
{
	const struct json_node *node = json_get(root, "gap_us");
	struct op_summary *op;
	int rc;

	if (node == NULL || out->ops == NULL)
		return OK;
	op = &out->ops[out->n_ops++];
	*op = (struct op_summary){ .kind = OP_GAP, .name = STR("device"), .calls = out->steps };
	rc = read_times(s, node, "gap_us", out->steps, &op->device_total_ns);
	op->device_self_ns = op->device_total_ns;
	return rc;
}

static int cmp_op(const void *a, const void *b)
{
	return op_summary_cmp(a, b);
}

/* In a window's order, an op that stands in several rows as one. */
static void order_ops(struct window *w)
{
	size_t n = 0;

	if (w->n_ops > 1)
		qsort(w->ops, w->n_ops, sizeof(*w->ops), cmp_op);
	for (size_t i = 0; i < w->n_ops; i++) {
		if (n > 0 && op_summary_cmp(&w->ops[n - 1], &w->ops[i]) == 0)
			op_summary_merge(&w->ops[n - 1], &w->ops[i]);
		else
			w->ops[n++] = w->ops[i];
	}
	w->n_ops = n;
}

static int read_table(const struct source *s, const struct json_node *root, struct window *out)
{
	int rc = read_steps(s, root, &out->steps);

	if (rc == OK)
		rc = read_ops(s, json_get(root, "ops"), out);
	if (rc == OK)
		rc = read_step_time(s, root, out);
	if (rc == OK)
		rc = read_gap_time(s, root, out);
	if (rc == OK)
		order_ops(out);
	return rc;
}

int optable_file_read(struct arena *a, const char *path, struct window *out, struct err *e)
{
	struct source s = { path, a, e };
	const struct json_node *root;
	struct buf text;
	int rc;

	*out = (struct window){ .has_device = true, .steps_from = STEPS_MARKER };
	out->service = out->host = out->source = STR("table");
	buf_init(&text, FILE_BYTES_MAX);
	rc = file_read_all(path, &text, e);
	if (rc == OK) {
		rc = json_parse(a, buf_view(&text), &root, e);
		if (rc < 0)
			err_add(e, "%s", path);
	}
	if (rc == OK)
		rc = read_table(&s, root, out);
	if (rc == OK && arena_full(a))
		rc = err_set(e, E_LIMIT, "%s: larger than an op table can be", path);
	buf_fini(&text);
	return rc;
}
