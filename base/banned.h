/* banned.h — C library functions that this project does not use, turned into compile errors.
 * Force-included before everything else (see AM_CPPFLAGS), so the system headers come first and the ban after. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* Unbounded copies: use struct str, struct buf, snprintf. (clang's fortified sprintf is a macro.) */
#undef sprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets stpcpy
/* Hidden state shared between threads. */
#pragma GCC poison strtok gmtime localtime ctime asctime strerror_l
/* No error, no range: use str_to_i64 and kin. */
#pragma GCC poison atoi atol atoll atof
/* A shell between us and the program we meant; the stack as a heap; guessable names. */
#undef alloca
#pragma GCC poison system popen alloca tmpnam tempnam mktemp

#endif
