/* mem.h — the heap.
 * Small allocations of a size we chose cannot fail for the caller: the program dies with a message (mem_get and kin).
 * Sizes that come from outside go through mem_try, which returns NULL for the caller to turn into E_NOMEM.
 * Everything is freed with mem_free. Runs on: any thread. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_get(size_t bytes);		     /* zeroed; never NULL */
void *mem_get_array(size_t n, size_t each);  /* zeroed; checked product; never NULL */
void *mem_resize(void *p, size_t bytes);     /* new bytes are not zeroed; never NULL */
void *mem_dup(const void *p, size_t bytes);  /* never NULL */
char *mem_dup_text(const char *s);	     /* never NULL; NULL in gives NULL out */
void *mem_try(size_t bytes);		     /* not zeroed; NULL when there is none */
void *mem_try_resize(void *p, size_t bytes); /* NULL when there is none, p stays valid */
void mem_free(void *p);			     /* NULL is fine */

/* Tests of failure: the n-th mem_try from now returns NULL, once; 0 switches it off. */
void mem_fail_at(unsigned n);

#endif
