/* schema.h — the tables of a store's database, and how older ones become newer. Inside store/ only. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "store/db.h"

enum { SCHEMA_VERSION = 3, SCHEMA_APPLICATION = 0x54735374 /* "TsSt", in the database's header */ };

/* Brings the writer's database up to SCHEMA_VERSION, one transaction a step. E_UNSUPPORTED where it is newer than this
 * program, E_USAGE where it is somebody else's database. */
int schema_migrate(struct db *db, const char *path, struct err *e) MUST_USE;

#endif
