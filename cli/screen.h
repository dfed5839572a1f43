/* screen.h — what the terminal can do, as far as it says.
 * A terminal is one with a name: without TERM, or with TERM=dumb, it is a printer, which knows neither colour nor a way
 * back. Whether it speaks UTF-8 is the locale's word (LC_ALL, LC_CTYPE, LANG; the first that is not empty). Only our own
 * signs follow it: what else is in names, and formats for programs, are UTF-8 always.
 * Runs on: the main thread. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool cli_terminal(FILE *out); /* one whose cursor can be moved */
bool cli_colour(FILE *out);   /* the same, and NO_COLOR is not set */
size_t cli_columns(FILE *out); /* how wide it is; 0 where it is none, or does not say */
bool cli_utf8(void);

const char *cli_cut_sign(void); /* "…", or "~": one column */

/* The signs of our own sentences and units, in ASCII where the terminal is not UTF-8: "µ" as "u", "→" as "->" and so on.
 * Everything else stays. Returns how many bytes out got, never more than n; out may be p. */
size_t cli_signs(const char *p, size_t n, char *out);

#endif
