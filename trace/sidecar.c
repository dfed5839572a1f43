#include "trace/sidecar.h"

#include "base/buf.h"
#include "base/file.h"
#include "json/num.h"
#include "json/tree.h"

enum { PATH_TEXT_MAX = 4096 };

static int text_member(const struct json_node *root, const char *key, struct str *out, struct err *e)
{
	const struct json_node *n = json_get(root, key);

	if (n == NULL || n->kind == JSON_K_NULL)
		return OK;
	if (n->kind != JSON_K_STRING)
		return err_set(e, E_FORMAT, "\"%s\" must be a string", key);
	*out = n->text;
	return OK;
}

static int start_member(const struct json_node *root, struct sidecar *s, struct err *e)
{
	const struct json_node *n = json_get(root, "start_ns");

	if (n == NULL || n->kind == JSON_K_NULL)
		return OK;
	if (n->kind != JSON_K_NUMBER || json_i64(n->text, &s->start_ns) < 0 || s->start_ns < 0)
		return err_set(e, E_FORMAT, "\"start_ns\" must be nanoseconds since 1970, a whole number");
	s->has_start = true;
	return OK;
}

static int labels_member(const struct json_node *root, struct arena *a, struct sidecar *s, struct err *e)
{
	const struct json_node *n = json_get(root, "labels");

	if (n == NULL || n->kind == JSON_K_NULL)
		return OK;
	if (n->kind != JSON_K_OBJECT)
		return err_set(e, E_FORMAT, "\"labels\" must be an object of strings");
	s->labels = arena_get_array(a, n->n, sizeof(*s->labels));
	if (s->labels == NULL)
		return err_set(e, E_LIMIT, "\"labels\" is too large");
	for (size_t i = 0; i < n->n; i++) {
		if (n->items[i].kind != JSON_K_STRING)
			return err_set(e, E_FORMAT, "\"labels\": \"%.*s\" must be a string", STR_ARG(n->items[i].key));
		s->labels[i] = (struct label){ n->items[i].key, n->items[i].text };
	}
	s->n_labels = n->n;
	return OK;
}

int sidecar_parse(struct arena *a, struct str text, struct sidecar *s, struct err *e)
{
	const struct json_node *root = NULL;
	int rc = json_parse(a, text, &root, e);

	if (rc == OK && root->kind != JSON_K_OBJECT)
		rc = err_set(e, E_FORMAT, "must be an object");
	if (rc == OK)
		rc = text_member(root, "service", &s->service, e);
	if (rc == OK)
		rc = text_member(root, "deploy", &s->deploy, e);
	if (rc == OK)
		rc = text_member(root, "host", &s->host, e);
	if (rc == OK)
		rc = text_member(root, "worker", &s->worker, e);
	if (rc == OK)
		rc = start_member(root, s, e);
	if (rc == OK)
		rc = labels_member(root, a, s, e);
	return rc;
}

int sidecar_read(struct arena *a, const char *trace_path, struct sidecar *s, struct err *e)
{
	char path[PATH_TEXT_MAX];
	struct buf b;
	int rc;

	*s = (struct sidecar){ 0 };
	if (snprintf(path, sizeof(path), "%s" SIDECAR_SUFFIX, trace_path) >= (int)sizeof(path))
		return err_set(e, E_LIMIT, "%s: path longer than %d bytes", trace_path, PATH_TEXT_MAX);
	if (!file_exists(path))
		return OK;
	buf_init(&b, SIDECAR_BYTES_MAX);
	rc = file_read_regular(path, &b, e);
	if (rc == OK) {
		rc = sidecar_parse(a, buf_view(&b), s, e);
		if (rc < 0)
			err_add(e, "%s", path);
	}
	buf_fini(&b);
	return rc;
}

/* ---- two of them */

static bool has_label(const struct label *v, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i].key, key))
			return true;
	return false;
}

struct label *sidecar_labels(struct arena *a, const struct label *first, size_t n_first, const struct label *more, size_t n_more,
	size_t *n)
{
	struct label *both = arena_get_array(a, n_first + n_more, sizeof(*both));

	*n = 0;
	if (both == NULL)
		return NULL;
	for (size_t i = 0; i < n_first; i++)
		both[(*n)++] = first[i];
	for (size_t i = 0; i < n_more && *n < WINDOW_LABELS_MAX; i++)
		if (!has_label(both, *n, more[i].key))
			both[(*n)++] = more[i];
	return both;
}

static void fill_text(struct str *text, struct str more)
{
	if (str_empty(*text))
		*text = more;
}

int sidecar_fill(struct arena *a, struct sidecar *s, const struct sidecar *more, struct err *e)
{
	fill_text(&s->service, more->service);
	fill_text(&s->deploy, more->deploy);
	fill_text(&s->host, more->host);
	fill_text(&s->worker, more->worker);
	if (more->n_labels == 0)
		return OK;
	s->labels = sidecar_labels(a, s->labels, s->n_labels, more->labels, more->n_labels, &s->n_labels);
	return s->labels == NULL ? err_set(e, E_LIMIT, "no room for labels") : OK;
}
