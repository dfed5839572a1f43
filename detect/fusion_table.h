/* fusion_table.h — etc/fusion.yaml in memory: lists of names, patterns, and fused ops with what they fall apart into.
 * What each section means stands in etc/fusion.yaml. Made and freed by detect/judge.h; read only while in use.
 * Runs on: any thread, once it is made. */
#ifndef DETECT_FUSION_TABLE_H
#define DETECT_FUSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "detect/judge.h"

enum name_list { LIST_VIEWS, LIST_WRAPPERS, LIST_COPIES, LIST_FUSIBLE, LIST_WORDS, LIST_TRANSFERS, NAME_LISTS };

/* In the order in which they are tried. */
enum name_pattern {
	PATTERN_OUTER,
	PATTERN_FUNCTION,
	PATTERN_INNER,
	PATTERN_MODULE,
	PATTERN_BOOKKEEPING,
	NAME_PATTERNS
};

/* One constituent: any of these names, this many calls for each fused call. */
struct fused_part {
	struct str *names;
	size_t n_names;
	double calls;
};

/* One way to fall apart. */
struct fused_way {
	struct fused_part *parts;
	size_t n_parts;
	double calls; /* of all parts together */
};

struct fused_op {
	struct str key; /* the entry's own name: "rms_norm" */
	struct str *names;
	size_t n_names;
	struct fused_way *ways;
	size_t n_ways;
};

/* The compiled-in file's text (generated from etc/fusion.yaml). */
extern const char fusion_default_yaml[];

bool fusion_table_lists(const struct fusion_table *t, enum name_list list, struct str name);
bool fusion_table_listed(const struct fusion_table *t, struct str name); /* in any of the lists */
size_t fusion_table_longest(const struct fusion_table *t); /* bytes of the longest name in them */
struct str fusion_table_same(const struct fusion_table *t, struct str name); /* its one name; itself where it has no other */
bool fusion_table_matches(const struct fusion_table *t, enum name_pattern which, const char *whole_name);
const struct str *fusion_table_anchors(const struct fusion_table *t, size_t *n);

const struct fused_op *fusion_table_ops(const struct fusion_table *t, size_t *n);
const struct fused_op *fusion_table_op(const struct fusion_table *t, struct str key); /* or NULL */
bool fused_op_has_name(const struct fused_op *f, struct str name); /* whole, or by a pattern of its names */

#endif
