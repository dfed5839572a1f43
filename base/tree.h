/* tree.h — whole folders: how large, and away with them. Links are never followed and mounted file systems not entered; a
 * folder deeper than 32 levels or with more than a million entries is E_LIMIT. Runs on: any thread that may wait. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* Like rm -rf; OK where there is nothing. */
int tree_remove(const char *path, struct err *e) MUST_USE;

/* For what is below top in folders that others may change: they could put a link where a folder on the way was. held is another
 * path to the same, by a descriptor of the folder that path is in, which no link led to; it is good until that is closed. path
 * begins with top. */
int tree_hold(const char *top, const char *path, char held[PATH_MAX], struct err *e) MUST_USE; /* the descriptor */
int tree_remove_below(const char *top, const char *path, struct err *e) MUST_USE; /* as tree_remove */

/* Bytes on disk of everything below path; what goes away meanwhile does not count. 0 where there is nothing. */
int tree_bytes(const char *path, uint64_t *bytes, struct err *e) MUST_USE;

/* The names in folder dir that wanted says yes to (by d_name), sorted bytewise, whatever the locale. At most max of them, those that
 * the folder gives first: one that others write to may hold any number. False where it cannot be read; the names are none then. */
VEC(tree_names, char *);
bool tree_list(const char *dir, bool (*wanted)(const char *name), size_t max, struct tree_names *out);
void tree_names_fini(struct tree_names *names);

#endif
