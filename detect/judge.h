/* judge.h — two sides of windows in, a verdict out. Pure: no clock, no files, no database.
 * Lost fusion and its kin by structure and cost, slower ones by rank tests (the rules, in order: detect/judge.c).
 *
 * A side is any number of windows of the same code: those of one deploy, those in one folder, one op table as a window.
 * Medians are taken over its windows. */
#ifndef DETECT_JUDGE_H
#define DETECT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/yaml.h"
#include "profile/verdict.h"
#include "profile/window.h"

/* ---- the fusion table and the lists (etc/fusion.yaml is the compiled-in default, printed by trainspotter) */
struct fusion_table;
int fusion_table_new(struct fusion_table **out, struct err *e) MUST_USE; /* the compiled-in one */
void fusion_table_free(struct fusion_table *t);
struct str fusion_table_text(void); /* of the compiled-in one: etc/fusion.yaml */
/* Adds a user's entries and list members to it; what is named anew replaces. E_USAGE with file and line. */
int fusion_table_add(struct fusion_table *t, const char *path, struct err *e) MUST_USE;

/* ---- sides */
struct side;
struct side *side_new(const struct fusion_table *t);
void side_free(struct side *s);
/* Copies what it needs. Windows without ops are counted and otherwise ignored. E_LIMIT. */
int side_add(struct side *s, const struct window *w, struct err *e) MUST_USE;
size_t side_windows(const struct side *s);
uint64_t side_steps(const struct side *s);

/* ---- the verdict */
enum judge_where {
	JUDGE_DIFF,    /* two sets of files: what they hold is all there is */
	JUDGE_SERVICE, /* two deploys in a service, the second just out: graph breaks need a slower step; its first windows
			  compile and fill caches, so slower ops wait */
	JUDGE_SETTLED, /* the same once it has run for a while: slower ops count, too. A step that is slower as a whole is
			  left to a test over time: machines and inputs change */
};
/* The verdict's texts and arrays live in the arena. E_LIMIT when it is full. */
int judge(const struct side *before, const struct side *after, enum judge_where where, struct arena *a,
	struct verdict *out, struct err *e) MUST_USE;

/* The ops whose time per step changed most, largest change first, limit of them at most; for a table beside the verdict.
 * Book-keeping rows and ops that did not change are left out. E_LIMIT when the arena is full. */
int judge_changes(const struct side *before, const struct side *after, size_t limit, struct arena *a,
	struct op_change **out, size_t *n, struct err *e) MUST_USE;

/* Does a verdict fail a pipeline? By the kind, and for graph_breaks by whether the step slowed. */
bool verdict_is_regression(const struct verdict *v);

#endif
