/* xla_folder.h — the folder in which a job leaves one window, made for it and taken away again:
 *
 *	DIR/trainspotter-xla.RANDOM/	ours, 0711: nobody else can list it or put anything there
 *	    RANDOM/			the session: the job's own, 0700, where we may give it away; else 0777, and its name a secret
 *	        HOST.xplane.pb		written by the job
 *	    HOST.xplane.pb		moved there by us, when the job is through: nothing else can take its place any more
 *
 * DIR is a path as the job sees it: below /proc/PID/root where the job is in another mount namespace. No link in it is followed
 * there, and all else goes by descriptors of folders, so that whoever owns that namespace cannot lead us out of it; through
 * them the trace stays readable and removable, too, when the process and its namespace are gone.
 * A folder that has an owner is locked (flock). One without, left by an agent that was killed, is removed by a sweep.
 * Runs on: one thread at a time. */
#ifndef AGENT_XLA_FOLDER_H
#define AGENT_XLA_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/watch.h"
#include "base/err.h"
#include "base/str.h"

#define XLA_FOLDER_STEM "trainspotter-xla."

#define XLA_ANYBODY ((uid_t)-1) /* the job's user is not known */

enum { XLA_FOLDER_NAME = 40, XLA_FOLDER_RANDOM = 17 };

struct xla_folder {
	int parent_fd, fd; /* -1: not there */
	char name[XLA_FOLDER_NAME], session[XLA_FOLDER_RANDOM];
	char path[PATH_MAX]; /* as the job sees it */
};

extern const struct xla_folder XLA_FOLDER_NONE;

/* root: before the job's own paths, "" where it sees the files that we do. uid: the job's user. */
int xla_folder_make(struct xla_folder *out, const char *root, const char *dir, uid_t uid, struct err *e) MUST_USE;

/* The job is through: its file, at a path that nobody else can change. E_NOT_FOUND: there is none; E_LIMIT: larger than
 * max_bytes; E_DENIED: no file of its own. */
int xla_folder_take(struct xla_folder *f, const char *name, uid_t uid, int64_t max_bytes, struct watch_file *out, struct err *e)
	MUST_USE;

/* With all that is in it. E_SYS and others where something stays, to be swept later; it is let go of in any case. */
int xla_folder_remove(struct xla_folder *f, struct err *e) MUST_USE;
/* It stays, since the job may still write into it; to be swept later. */
void xla_folder_leave(struct xla_folder *f);

/* Removes folders of ours that nobody holds and that are older than that; how many went. */
size_t xla_folder_sweep(const char *root, const char *dir, int64_t older_than_ns, int64_t now_wall_ns);

#endif
