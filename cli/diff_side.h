/* diff_side.h — BEFORE or AFTER of "trainspotter diff": a trace, a folder or an archive of traces, or an op table becomes a side. */
#ifndef CLI_DIFF_SIDE_H
#define CLI_DIFF_SIDE_H

#include "base/err.h"
#include "detect/judge.h"
#include "trace/name_rules.h"

/* A folder stands for the files in it whose names end in .json, .json.gz, .json.zst, .xplane.pb, .tar, .tar.gz,
 * .tgz or .tar.zst (no sidecars, no hidden ones, not those of folders inside), each one window, and an archive for the
 * traces in it. What cannot be read whole is an error: a verdict about half a trace would be a guess. rules: the
 * user's for names, or NULL. */
int diff_side_read(struct side *s, const char *path, const struct name_rules *rules, struct err *e) MUST_USE;

#endif
