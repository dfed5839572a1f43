/* rollup.h — the windows of an hour merged, kept true in the transaction that adds the windows.
 * Every window counts in two rows: its own service, deploy, host and worker, and all hosts of its service and deploy
 * (host and worker NAMES_NONE). What a transaction adds is merged in memory first and written at its end.
 * Inside store/ only. Runs on: the writer. */
#ifndef STORE_ROLLUP_H
#define STORE_ROLLUP_H

#include "base/metric.h"
#include "store/names.h"
#include "profile/window.h"

/* Whose windows: ids of names. */
struct who {
	uint32_t service, deploy, host, worker;
};

struct rollups;

/* Borrows all. dropped counts ops that found no room in an hour with very many; may be NULL. */
struct rollups *rollups_new(struct db *db, struct names *names, struct metric *dropped);
void rollups_free(struct rollups *r);
int rollups_add(struct rollups *r, const struct window *w, const struct who *who, struct err *e) MUST_USE;
int rollups_flush(
	struct rollups *r, struct err *e) MUST_USE; /* writes what was added; nothing is left then */
void rollups_drop(struct rollups *r);		    /* forgets what was added and not written */

#endif
