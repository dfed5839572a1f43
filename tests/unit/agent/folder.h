/* folder.h — a temporary folder for one test, and small deeds in it. */
#ifndef TESTS_UNIT_AGENT_FOLDER_H
#define TESTS_UNIT_AGENT_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

extern char folder[PATH_MAX - 512];

void folder_make(void);
void folder_remove(void);

/* Paths are relative to the folder. */
const char *folder_path(const char *name); /* lives until folder_remove */
void folder_write(const char *name, struct str text);
void folder_read(const char *name, struct buf *out);
bool folder_has(const char *name);
size_t folder_count(const char *dir, const char *suffix);
/* The first file in dir with the suffix; its path in a static buffer. */
const char *folder_first(const char *dir, const char *suffix);

#endif
