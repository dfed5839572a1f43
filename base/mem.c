#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint fail_in;

static void *or_die(void *p, size_t bytes)
{
	if (p == NULL) {
		fprintf(stderr, "out of memory: %zu bytes could not be had\n", bytes);
		abort();
	}
	return p;
}

static int told_to_fail(void)
{
	if (atomic_load_explicit(&fail_in, memory_order_relaxed) == 0)
		return 0;
	return atomic_fetch_sub(&fail_in, 1) == 1;
}

void *mem_get(size_t bytes)
{
	return or_die(calloc(1, bytes ? bytes : 1), bytes);
}

void *mem_get_array(size_t n, size_t each)
{
	return or_die(calloc(n ? n : 1, each ? each : 1), n);
}

void *mem_resize(void *p, size_t bytes)
{
	return or_die(realloc(p, bytes ? bytes : 1), bytes);
}

void *mem_dup(const void *p, size_t bytes)
{
	void *q = or_die(malloc(bytes ? bytes : 1), bytes);

	if (bytes)
		memcpy(q, p, bytes);
	return q;
}

char *mem_dup_text(const char *s)
{
	return s == NULL ? NULL : mem_dup(s, strlen(s) + 1);
}

void *mem_try(size_t bytes)
{
	return told_to_fail() ? NULL : malloc(bytes ? bytes : 1);
}

void *mem_try_resize(void *p, size_t bytes)
{
	return told_to_fail() ? NULL : realloc(p, bytes ? bytes : 1);
}

void mem_free(void *p)
{
	free(p);
}

void mem_fail_at(unsigned n)
{
	atomic_store(&fail_in, n);
}
