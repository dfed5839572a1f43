/* schema.h — the objects of the API, member by member, for /api/v1/openapi.yaml; the tests hold answers against it.
 *
 * A type is written as
 *
 *	string integer number boolean object	of JSON; object is any
 *	Name					an object of the table
 *	[T]  {T}				a list of T; an object whose members are T
 *	T?					or null
 *
 * A member that is "optional" may be missing. Inside api/ only. */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

struct schema_member {
	const char *name, *type;
	const char *help; /* NULL where the name says it */
	bool optional;
};

struct schema {
	const char *name, *help;
	const char *base; /* has all members of that one too; NULL */
	const struct schema_member *members;
	size_t n;
};

extern const struct schema schemas[];
extern const size_t n_schemas;

const struct schema *schema_find(const char *name); /* NULL where there is none */

#endif
