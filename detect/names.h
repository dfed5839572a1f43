/* names.h — what a row's name says: is it work, a view, book-keeping, compiled code; under which name does it go when
 * two sides are compared; and which ops are inside a kernel that a compiler made. The steps: head of etc/fusion.yaml.
 * Pure functions over a fusion table. */
#ifndef DETECT_NAMES_H
#define DETECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "detect/fusion_table.h"

enum name_class {
	NAME_WORK,	      /* a call is a launch */
	NAME_QUIET,	      /* a view, an allocation, a wrapper: launches nothing itself */
	NAME_BOOKKEEPING,     /* neither work nor launches, whatever its time */
	NAME_REGION_OUTER,    /* three levels of compiled code that nest */
	NAME_REGION_FUNCTION,
	NAME_REGION_INNER,
	NAME_MODULE,	      /* compiled code known by name: a NEFF, a graph */
	NAME_CLASSES
};

struct name {
	struct str key; /* canonical: "mul"; of the three region levels "" */
	enum name_class class;
	bool aten;
	bool kernel;	/* of inductor; its members are what it does, views left out */
	bool fusible;	/* a compiler could take it up: listed, or a kernel of inductor */
	bool is_fused;	/* an entry of the table has its name */
	bool transfer;	/* between host and device */
	bool has_rows;	/* a module of XLA: its ops have rows of their own, and launch for themselves */
	bool opaque;	/* in no list: no aten::, no kernel of inductor, no word that is known */
	struct str *members; /* canonical, bytewise ascending, distinct */
	size_t n_members;
};

/* Texts and members live in the arena (when it is full the name is incomplete: arena_full). */
void name_read(const struct fusion_table *t, struct str raw, struct arena *a, struct name *out);

bool name_has_member(const struct name *n, struct str member);
size_t name_shared_members(const struct name *a, const struct name *b);

/* Is it this fused op? By its key; a kernel with one member stands for that member, too. */
bool name_is_fused(const struct name *n, const struct fused_op *f);
/* Is it this constituent? By its key or a member; a part that is another entry's key stands for all of its names. */
bool name_is_part(const struct fusion_table *t, const struct name *n, const struct fused_part *part);

/* The frame of a region row: "3" of "Torch-Compiled Region: 3/1"; empty where the name does not say. */
struct str name_frame(struct str raw);

#endif
