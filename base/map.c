#include "base/map.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"

static uint64_t process_seed(void)
{
	static _Atomic uint64_t seed;
	uint64_t s = atomic_load_explicit(&seed, memory_order_relaxed), zero = 0;

	if (s != 0)
		return s;
	if (getrandom(&s, sizeof(s), GRND_NONBLOCK) != sizeof(s))
		s = (uint64_t)(uintptr_t)&seed * UINT64_C(0x9e3779b97f4a7c15);
	s |= 1;
	return atomic_compare_exchange_strong(&seed, &zero, s) ? s : zero;
}

static uint32_t hash_of(struct str key)
{
	uint32_t h = (uint32_t)(hash64(key.p, key.n, process_seed()) >> 32);

	return h ? h : 1;
}

void map_init(struct map *m, size_t cap_keys)
{
	*m = (struct map){ .cap = cap_keys };
}

void map_fini(struct map *m)
{
	if (m == NULL)
		return;
	mem_free(m->slots);
	*m = (struct map){ .cap = m->cap };
}

/* The key's slot, or the free one where it would go. There is always a free one: the table is at most 3/4 full. */
static struct map_slot *slot_of(const struct map *m, struct str key, uint32_t hash)
{
	size_t mask = m->room - 1, i = hash & mask;

	while (m->slots[i].hash != 0 && (m->slots[i].hash != hash || !str_eq(m->slots[i].key, key)))
		i = (i + 1) & mask;
	return &m->slots[i];
}

static bool grow(struct map *m)
{
	struct map bigger = { .n = m->n, .room = m->room ? m->room * 2 : 16, .cap = m->cap };

	bigger.slots = mem_try(bigger.room * sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return false;
	memset(bigger.slots, 0, bigger.room * sizeof(*bigger.slots));
	for (size_t i = 0; i < m->room; i++)
		if (m->slots[i].hash != 0)
			*slot_of(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
	mem_free(m->slots);
	*m = bigger;
	return true;
}

uint32_t *map_get(const struct map *m, struct str key)
{
	struct map_slot *s;

	if (m->n == 0)
		return NULL;
	s = slot_of(m, key, hash_of(key));
	return s->hash == 0 ? NULL : &s->value;
}

uint32_t *map_put(struct map *m, struct str key, uint32_t fresh, bool *is_new)
{
	uint32_t hash = hash_of(key);
	struct map_slot *s = m->room ? slot_of(m, key, hash) : NULL;

	if (is_new != NULL)
		*is_new = s == NULL || s->hash == 0;
	if (s != NULL && s->hash != 0)
		return &s->value;
	if (m->n >= m->cap)
		return NULL;
	if (m->n + 1 > m->room / 4 * 3) {
		if (!grow(m))
			return NULL;
		s = slot_of(m, key, hash);
	}
	must(s != NULL);
	*s = (struct map_slot){ .key = key, .hash = hash, .value = fresh };
	m->n++;
	return &s->value;
}

void intern_init(struct intern *in, struct arena *a, size_t cap_names)
{
	must(cap_names < INTERN_NONE);
	*in = (struct intern){ .arena = a };
	map_init(&in->map, cap_names);
}

void intern_fini(struct intern *in)
{
	if (in == NULL)
		return;
	map_fini(&in->map);
	mem_free(in->names);
	in->names = NULL;
	in->room = 0;
}

uint32_t intern_find(const struct intern *in, struct str name)
{
	const uint32_t *id = map_get(&in->map, name);

	return id == NULL ? INTERN_NONE : *id;
}

uint32_t intern_id(struct intern *in, struct str name)
{
	uint32_t id = intern_find(in, name);
	struct str copy;

	if (id != INTERN_NONE)
		return id;
	if (in->map.n == in->room) {
		size_t room = in->room ? in->room * 2 : 64;
		struct str *names = mem_try_resize(in->names, room * sizeof(*names));

		if (names == NULL)
			return INTERN_NONE;
		in->names = names;
		in->room = room;
	}
	copy = arena_str(in->arena, name);
	if (arena_full(in->arena))
		return INTERN_NONE;
	id = (uint32_t)in->map.n;
	if (map_put(&in->map, copy, id, NULL) == NULL)
		return INTERN_NONE;
	in->names[id] = copy;
	return id;
}

struct str intern_name(const struct intern *in, uint32_t id)
{
	must(id < in->map.n);
	return in->names[id];
}
