#include "trace/archive.h"

#include "base/buf.h"
#include "trace/sidecar.h"
#include "trace/tar.h"

enum { NAME_BYTES_MAX = 4 << 20 };

static bool is_hidden(struct str path)
{
	struct str part = path;

	while (path.p != NULL)
		part = str_split(&path, '/');
	return str_has_prefix(part, STR("."));
}

static int visit_file(struct tar *t, const struct tar_file *f, const char *archive, const struct trace_limits *limits,
	archive_visit *visit, void *arg, struct err *e)
{
	struct input *in = NULL;
	struct err why = { 0 };
	struct buf name;
	int rc;

	buf_init(&name, NAME_BYTES_MAX);
	buf_fmt(&name, "%s:", archive);
	buf_str(&name, f->name);
	rc = buf_finish(&name, "a name in the archive", e);
	if (rc == OK) {
		if (input_open_pull(&in, tar_read, t, f->size, name.p, limits, &why) < 0)
			in = NULL;
		rc = visit(arg, name.p, in, &why, e);
	}
	input_close(in);
	buf_fini(&name);
	return rc;
}

static int archive_error(const struct trace_report *report, const char *name, uint64_t files, struct err *e)
{
	const struct trace_skip *lost = report->n_skips > 0 ? &report->skips[0] : NULL;

	if (lost != NULL)
		return err_set(e, E_FORMAT,
			"%s: the archive is damaged (%s, first at byte %llu): what could be read of it is counted", name,
			lost->reason, (unsigned long long)lost->offset);
	return files > 0 ? OK : err_set(e, E_FORMAT, "%s: the archive holds no files", name);
}

int archive_each(struct input *in, const char *name, const struct trace_limits *limits, archive_visit *visit, archive_sidecar *sidecar,
	void *arg, struct trace_report *report, struct err *e)
{
	struct tar *t = tar_new(in);
	struct tar_file f;
	uint64_t files = 0;
	bool more = true, ended = false;
	int rc = OK;

	while (rc == OK && more) {
		rc = tar_next(t, &f, &more, e);
		if (rc < 0)
			err_add(e, "%s", name);
		if (rc < 0 || !more || is_hidden(f.name))
			continue;
		if (!str_has_suffix(f.name, STR(SIDECAR_SUFFIX))) {
			rc = visit_file(t, &f, name, limits, visit, arg, e);
			files++;
		} else if (sidecar != NULL) {
			rc = sidecar(arg, t, &f, e);
		}
		ended = rc < 0;
	}
	tar_report(t, report);
	if (rc == OK && !ended)
		rc = archive_error(report, name, files, e);
	tar_free(t);
	return rc;
}
