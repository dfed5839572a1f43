/* tables.h — what the API looks things up in, read from the files that the configuration names: at the start, at a reload, and
 * by --check. All of it is read before any of it is given away, so that one wrong file changes nothing. */
#ifndef DAEMON_TABLES_H
#define DAEMON_TABLES_H

#include "api/api.h"
#include "daemon/options.h"

struct tables {
	struct fusion_table *fusion;
	struct auth *auth; /* NULL where no tokens are configured */
};

/* The caller calls tables_fini, whatever comes back. E_USAGE and E_NOT_FOUND name the file. */
int tables_load(struct tables *t, const struct daemon_conf *c, struct err *e) MUST_USE;
void tables_fini(struct tables *t);

/* In force from the next request on. */
int tables_give(struct tables *t, struct api *api, struct err *e) MUST_USE;

#endif
