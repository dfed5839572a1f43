/* name.h — words of an enum, both ways, for this folder's own use. */
#ifndef PROFILE_NAME_H
#define PROFILE_NAME_H

#include <stddef.h>

#include "base/str.h"

/* The word's place in the table, or -1. */
static inline int name_find(const char *const *names, size_t n, struct str word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(word, str_of(names[i])))
			return (int)i;
	return -1;
}

#endif
