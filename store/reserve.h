/* reserve.h — a file of nothing that keeps space on the disk. Dropping old rows needs room in SQLite's log before it gives
 * any back; on a full disk the reserve is let go of for that. Inside store/ only. */
#ifndef STORE_RESERVE_H
#define STORE_RESERVE_H

#include <stdbool.h>

/* Makes it where it is missing and the disk has plenty. It is a favour: what goes wrong is no error. */
void reserve_make(const char *dir);
bool reserve_release(const char *dir); /* all of it; false where there was none */
bool reserve_shrink(const char *dir);  /* by 1 MiB; false where there is not as much */

#endif
