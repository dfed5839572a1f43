/* scan.h — the inner loops of the JSON reader: all bytes go through these, so all speed is here.
 * One table of functions for each kind of processor; every table gives the same answers (the reader's tests run them
 * all). They look at no byte outside p[0…n). Pure functions. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct json_scan {
	const char *name;
	/* How many bytes of plain string text p starts with: up to the first '"', back-slash or control character
	 * (below 0x20), or n. *high becomes true where one of them is 0x80 or more, else it stays. */
	size_t (*string)(const char *p, size_t n, bool *high);
	/* How many bytes come before the first of  " { } [ ]  or n: what a skipped value is made of. */
	size_t (*structure)(const char *p, size_t n);
	/* How many line feeds are among the n bytes. */
	size_t (*lines)(const char *p, size_t n);
};

extern const struct json_scan json_scan_scalar;
#if defined(__x86_64__)
extern const struct json_scan json_scan_avx2;
#endif

/* The fastest that this processor can run. */
const struct json_scan *json_scan_best(void);

#endif
