/* conf.h — configuration: a YAML file read against a schema table into a struct.
 * One row a key: name, type, place, range, default, help. From the same table come --print-config, the manual page's
 * list and the checks; every mistake names file, line and key, and says what would be right.
 *
 *	static const struct conf_key keys[] = {
 *		{ "listen.port", CONF_INT, offsetof(struct conf, port), 1, 65535, "8940", "TCP port of the API", NULL },
 *	};
 *
 * Dots in names are nested mappings in the file. Runs on: one thread. */
#ifndef BASE_CONF_H
#define BASE_CONF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum conf_type {
	CONF_INT,      /* int64_t */
	CONF_BOOL,     /* bool: true false yes no on off */
	CONF_TEXT,     /* char *, "" is allowed where min is 0; min and max are lengths (max 0: none) */
	CONF_PATH,     /* char *, must be absolute, or empty where the default is empty */
	CONF_DURATION, /* int64_t ns, "5m" (base/clock.h); min and max in ns */
	CONF_SIZE,     /* int64_t bytes: 64KiB 10MiB 2GiB 1TiB, kB MB GB for powers of ten, bare for bytes */
	CONF_CHOICE,   /* int64_t: index into more (const char *const *, NULL-ended) */
	CONF_TEXTS,    /* struct conf_texts: a list of texts, min and max as for CONF_TEXT; default is empty */
	CONF_SECTIONS, /* struct conf_sections: a list of mappings; more is a const struct conf_schema */
	CONF_TYPES
};

struct conf_key {
	const char *name;
	enum conf_type type;
	size_t offset;
	int64_t min, max;
	const char *def; /* as it would stand in the file; NULL: must be given (only inside CONF_SECTIONS) */
	const char *help;
	const void *more;
};

struct conf_schema {
	const struct conf_key *keys;
	size_t n;
	size_t struct_size;
};

struct conf_texts {
	char **v;
	size_t n;
};

struct conf_sections {
	void *v; /* n structs of the sub-schema's struct_size */
	size_t n;
};

void conf_init(const struct conf_schema *s, void *conf); /* all defaults */
void conf_fini(const struct conf_schema *s, void *conf); /* frees what texts and lists own; NULL is fine */

/* Defaults, then the file. E_USAGE with "PATH: line 7: listen.port: …" for what is wrong, E_NOT_FOUND without a file.
 * conf is the caller's, not initialised before; after an error it holds the defaults. Always conf_fini it. */
int conf_load(const struct conf_schema *s, const char *path, void *conf, struct err *e) MUST_USE;
int conf_parse(const struct conf_schema *s, struct str text, const char *name, void *conf, struct err *e) MUST_USE;
/* One key from the command line, "listen.port", "8941" (texts with commas between); says "--set listen.port: …" when
 * wrong. */
int conf_set(const struct conf_schema *s, void *conf, struct str name, struct str value, struct err *e) MUST_USE;
/* Each word of a command line, "KEY=VALUE", over what is there. */
int conf_set_words(const struct conf_schema *s, void *conf, const char *const *words, size_t n, struct err *e) MUST_USE;

/* The configuration in force as YAML with each key's help as a comment; conf_parse reads it back. */
void conf_print(const struct conf_schema *s, const void *conf, struct buf *out);
/* The table as a list of mdoc(7) items for a manual page. */
void conf_mdoc(const struct conf_schema *s, struct buf *out);

#endif
