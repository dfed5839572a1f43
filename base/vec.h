/* vec.h — a typed array that grows up to a ceiling.
 *
 *	VEC(rows, struct row);			 declares struct rows { struct row *v; size_t n, room, cap; }
 *	struct rows r = VEC_INIT(1000);		 at most 1000 items
 *	struct row *p = vec_push(&r);		 a zeroed new last item, or NULL at the ceiling
 *	vec_each(row, &r) ...			 row points at each item in turn
 *	vec_fini(&r);
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define VEC(name, type)                                                                                             \
	struct name {                                                                                               \
		type *v;                                                                                            \
		size_t n, room, cap;                                                                                \
	}

#define VEC_INIT(limit) { .cap = (limit) }

#define vec_push(vec)                                                                                               \
	((__typeof__((vec)->v))vec_push_bytes((void **)&(vec)->v, &(vec)->n, &(vec)->room, (vec)->cap,              \
		sizeof(*(vec)->v)))

/* An empty one may have no memory at all: nothing is added to NULL then. */
#define vec_each(item, vec)                                                                                         \
	for (__typeof__(*(vec)->v) *item = (vec)->v, *item##_end = (vec)->n ? item + (vec)->n : item;                \
		item != item##_end; item++)

#define vec_fini(vec)                                                                                               \
	do {                                                                                                        \
		mem_free((vec)->v);                                                                                 \
		(vec)->v = NULL;                                                                                    \
		(vec)->n = (vec)->room = 0;                                                                         \
	} while (0)

static inline void *vec_push_bytes(void **v, size_t *n, size_t *room, size_t cap, size_t each)
{
	void *item;

	if (*n >= cap)
		return NULL;
	if (*n == *room) {
		size_t more = *room ? *room * 2 : 8;
		void *p;

		if (more > cap)
			more = cap;
		p = mem_try_resize(*v, more * each);
		if (p == NULL)
			return NULL;
		*v = p;
		*room = more;
	}
	item = (char *)*v + *n * each;
	++*n;
	return memset(item, 0, each);
}

#endif
