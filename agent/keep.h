/* keep.h — folders where things are put aside for people to look at, with a ceiling: the oldest files go first. */
#ifndef AGENT_KEEP_H
#define AGENT_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Moves from into folder dir (made when missing, same file system, no link) under its own name, or with ".1", ".2" … behind it
 * where that is taken. A side file that belongs to it may follow under the same name plus suffix ("": none). */
int keep_move(const char *from, const char *dir, const char *side_suffix, struct err *e) MUST_USE;

/* Gives the regular file from a second name in folder dir (made when missing), dir/name, or a copy of it where that is another file system;
 * its side file, too. What stands there under the name already stays. E_LIMIT: it has more than max_bytes. */
int keep_copy(const char *from, const char *dir, const char *name, const char *side_suffix, uint64_t max_bytes, struct err *e) MUST_USE;

/* Removes the oldest regular files of dir until at most max_files are left. Returns how many went. */
size_t keep_trim(const char *dir, size_t max_files);
/* The same until they also have at most max_bytes in all. Side files are not counted and go with theirs. */
size_t keep_trim_bytes(const char *dir, const char *side_suffix, size_t max_files, uint64_t max_bytes);
/* As keep_trim, of the folders in it, by when they were last changed, with all that is in them. is_one: only of those, since others may
 * keep theirs beside; NULL: of all. */
size_t keep_trim_folders(const char *dir, size_t max_folders, bool (*is_one)(const char *path));

#endif
