/* name_rules.h — users' own rules for the names that ops have as series, on top of the table of trace/normalise.h.
 *
 *	rules:
 *	  - glob: 'request-*'			# a whole name becomes the pattern itself: one series for all requests
 *	  - glob: 'tenant_?_*'
 *	    with: 'tenant'			# or this
 *	  - regex: '_shard[0-9]+$'		# each part that matches becomes "*"
 *	  - regex: '^(load|save)_[0-9]+_rows'
 *	    with: '\1_*_rows'			# \0 is what matched, \1 to \9 its groups, \\ a back-slash
 *
 * glob: '*' any run of bytes, '?' one byte. regex: POSIX extended regular expression, bytewise. Rules apply in order, each to
 * what the one before left; they see names as the built-in table leaves them. Ops of one kind whose names become one are
 * merged: counts, sums, extremes, histogram. A result that is no UTF-8, has a NUL or is empty is not taken.
 *
 * Bounded: NAME_RULES_MAX rules, NAME_RULE_BYTES_MAX a text; no back-references in a pattern, no repetitions that blow it up,
 * none that matches the empty text; NAME_RULES_CPU_NS of CPU time for the names of one window.
 * Runs on: any thread, once made; one at a time. */
#ifndef TRACE_NAME_RULES_H
#define TRACE_NAME_RULES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profile/window.h"

enum { NAME_RULES_MAX = 256, NAME_RULE_BYTES_MAX = 512 };
#define NAME_RULES_CPU_NS (INT64_C(60) * 1000000000)

struct name_rules;

/* E_USAGE (E_NOT_FOUND, E_SYS where it cannot be read) with file and line: "rules.yaml: line 3: …". name stands for the text in
 * messages. */
int name_rules_load(struct name_rules **out, const char *path, struct err *e) MUST_USE;
int name_rules_parse(struct name_rules **out, struct str text, const char *name, struct err *e) MUST_USE;
void name_rules_free(struct name_rules *r); /* NULL is fine */

/* name itself where no rule applies, else what stands in scratch. */
struct str name_rules_name(const struct name_rules *r, struct str name, struct buf *scratch);

/* Renames the window's ops and merges those that have become one; new names live in the arena. E_LIMIT past NAME_RULES_CPU_NS or
 * when the arena is full: some ops have their new name then, and the window is still sound. */
int name_rules_apply(const struct name_rules *r, struct arena *a, struct window *w, struct err *e) MUST_USE;

#endif
