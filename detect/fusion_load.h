/* fusion_load.h — reads a file like etc/fusion.yaml: checked whole before anything of it is used. Texts and arrays of
 * fused ops live in the arena given; the lists are heap memory until fusion_additions_fini. */
#ifndef DETECT_FUSION_LOAD_H
#define DETECT_FUSION_LOAD_H

#include "base/arena.h"
#include "base/vec.h"
#include "base/yaml.h"
#include "detect/fusion_table.h"

enum { FUSION_NAMES_MAX = 20000 }; /* in one list, patterns and entries included */

VEC(fusion_strs, struct str);
VEC(fused_ops, struct fused_op);

struct fusion_additions {
	struct fusion_strs lists[NAME_LISTS];
	struct fusion_strs patterns[NAME_PATTERNS];
	struct fusion_strs anchors;
	struct fusion_strs same_from, same_to; /* of equal length */
	struct fused_ops ops;
};

void fusion_additions_init(struct fusion_additions *add);
void fusion_additions_fini(struct fusion_additions *add);

/* E_USAGE with "NAME: line N: what is wrong and what would be right", E_LIMIT. */
int fusion_load(struct arena *a, const struct yaml_node *root, const char *name, struct fusion_additions *out,
	struct err *e) MUST_USE;

#endif
