/* watch.h — finds finished trace files in folders: the source "watch".
 *
 * inotify tells at once; a slow rescan finds what inotify cannot see (NFS, an overflown queue, files of before the
 * start).
 * A file is finished when it was moved into the folder (IN_MOVED_TO), or when its size and mtime have not changed for a
 * while. Passed over: *.meta.json (the sidecar of another file), *.steps (the step counter of a job, python/trainspotter.py), *.tmp,
 * hidden files, folders, links, devices.
 *
 * Each finished file is handed out once by watch_next and given back by one of watch_done, watch_bad, watch_again and
 * watch_leave.
 * Times are monotonic nanoseconds of the caller's. Runs on: the agent's main thread. */
#ifndef AGENT_WATCH_H
#define AGENT_WATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define WATCH_STEPS ".steps"
#define WATCH_PAUSED ".paused-by-daemon"

struct watch_folder {
	const char *dir;
	const char *done_dir; /* where done files go; NULL: they are removed */
	const char *bad_dir;  /* where unreadable ones go */
	size_t keep_files;    /* in done_dir and in bad_dir */
	int64_t stable_ns;    /* unchanged for so long: finished */
};

struct stat;

struct watch_file {
	char path[PATH_MAX];
	size_t folder;
	dev_t dev;
	ino_t ino;
	off_t size;
	int64_t mtime_ns;
	unsigned tries; /* how often it was given back with watch_again */
};

struct watch;

enum { WATCH_FILES_MAX = 20000 }; /* known at once; the rest waits for the next rescan */

/* folders: borrowed, with all their texts. A folder that does not exist is waited for. */
int watch_open(struct watch **out, const struct watch_folder *folders, size_t n, int64_t rescan_ns, struct err *e)
	MUST_USE;
void watch_close(struct watch *w);

int watch_fd(const struct watch *w); /* readable: call watch_look */
/* Takes in what inotify has to say, rescans when it is time, and looks at the files that wait to be stable. */
void watch_look(struct watch *w, int64_t now_ns);
/* While capture is switched off, .paused-by-daemon lies in each folder: jobs that profile themselves by python/trainspotter.py take no
 * window then. A favour: where it cannot be made, they are not stopped. To be called before each watch_look. */
void watch_pause(struct watch *w, bool paused);
/* When to look again at the latest; busy: nobody takes finished files now, so they are no reason to wake. */
int64_t watch_wake_ns(const struct watch *w, bool busy);

bool watch_next(struct watch *w, int64_t now_ns, struct watch_file *out); /* false: none is finished now */
bool watch_idle(const struct watch *w); /* a rescan was done and no file waits or is out */

/* The file at path as a source hands it out; false where there is no regular file (a link is none) or the path is too long. */
bool watch_stat(struct watch_file *out, const char *path, unsigned tries);
/* The same of a stat that the caller made. */
void watch_take_stat(struct watch_file *out, const struct stat *st);
/* Is the file still the one that was handed out: same inode, size and mtime? */
bool watch_same(const struct watch_file *f);

/* It is durable elsewhere: removes it and its sidecar, or moves both, the trace before the sidecar. A file that was
 * replaced meanwhile is left alone and comes again. */
int watch_done(struct watch *w, const struct watch_file *f, int64_t now_ns, struct err *e) MUST_USE;
/* It will never be read: moves it and its sidecar to bad_dir. */
int watch_bad(struct watch *w, const struct watch_file *f, int64_t now_ns, struct err *e) MUST_USE;
/* Not now: comes again when it is stable and delay_ns have gone by. */
void watch_again(struct watch *w, const struct watch_file *f, int64_t now_ns, int64_t delay_ns);
/* It stays where it is, also after watch_done or watch_bad failed; a later rescan may find it again. */
void watch_leave(struct watch *w, const struct watch_file *f);

#endif
