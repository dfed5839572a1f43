/* map.h — text → uint32_t, open addressing, bounded; and its common use, names ⇄ small dense ids.
 * Keys are borrowed: they must outlive the map (put them in the arena that lives as long). Hashes are seeded once a
 * process, so that a peer cannot choose keys that collide. Runs on: one thread at a time. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct map_slot {
	struct str key;
	uint32_t hash, value; /* hash 0 means a free slot */
};

struct map {
	struct map_slot *slots;
	size_t n, room, cap;
};

void map_init(struct map *m, size_t cap_keys);
void map_fini(struct map *m);

/* The value's place, or NULL. Valid until the next map_put. */
uint32_t *map_get(const struct map *m, struct str key);
/* The value's place, new ones hold fresh and *is_new is true (is_new may be NULL). NULL at the ceiling. */
uint32_t *map_put(struct map *m, struct str key, uint32_t fresh, bool *is_new);

/* Names to ids 0, 1, 2 … in order of first sight; names are copied into the arena given. */
struct intern {
	struct map map;
	struct arena *arena;
	struct str *names;
	size_t room;
};

enum { INTERN_NONE = UINT32_MAX };

void intern_init(struct intern *in, struct arena *a, size_t cap_names);
void intern_fini(struct intern *in);
uint32_t intern_id(struct intern *in, struct str name);		 /* INTERN_NONE at the ceiling */
uint32_t intern_find(const struct intern *in, struct str name);	 /* INTERN_NONE where it is not */
struct str intern_name(const struct intern *in, uint32_t id);
static inline size_t intern_count(const struct intern *in)
{
	return in->map.n;
}

#endif
