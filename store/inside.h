/* inside.h — the store object, for the files of this folder. */
#ifndef STORE_INSIDE_H
#define STORE_INSIDE_H

#include "store/reader.h"
#include "store/store.h"
#include "store/writer.h"

struct store {
	char *dir;
	int lock_fd;
	struct store_settings settings; /* dir is ours */
	struct writer *writer;
	struct readers readers;
	_Atomic int64_t probed_ns; /* mono, when room on the disk was last tried */
	struct metric *accepted, *duplicates, *queries, *bytes, *dropped;
};

/* For tests of a full disk: the database may not grow past this many pages; 0 lifts it. */
int store_limit_pages(struct store *st, unsigned pages, struct err *e) MUST_USE;

#endif
