/* scan.h — the inner loops of the token reader (json/pull.c): all bytes that it reads go through these.
 * One table of functions for each kind of processor, all with the same answers (tests/unit/json/kernels_main.c runs every
 * one that the machine can run). They look at no byte outside p[0…n). Pure functions; any thread. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct json_scan {
	const char *name;
	bool (*runs_here)(void);
	/* How many bytes of plain string text p starts with: up to the first '"', back-slash or control character
	 * (below 0x20), or n. *high becomes true where one of them is 0x80 or more, else it stays. */
	size_t (*string)(const char *p, size_t n, bool *high);
	/* How many bytes come before the first of  " { } [ ]  or n: what a skipped value is made of. */
	size_t (*structure)(const char *p, size_t n);
	/* How many line feeds are among the n bytes. */
	size_t (*lines)(const char *p, size_t n);
};

/* All that were built for this kind of processor, the slowest (scalar) first; NULL at the end. */
extern const struct json_scan *const json_scan_kernels[];

/* The fastest that runs here. */
const struct json_scan *json_scan_best(void);

#endif
