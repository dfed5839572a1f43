/* file.h — files the durable way: short reads and writes retried, replacement atomic, folders synced.
 * Runs on: any thread but the event loop (everything here can block). */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct stat;

/* The whole file into b (which has the ceiling); E_LIMIT names the file when it is larger. */
int file_read_all(const char *path, struct buf *b, struct err *e) MUST_USE;

/* For names that others may choose what stands under: a FIFO, a device or a folder is E_UNSUPPORTED, and never waited
 * for. The first returns the fd. */
int file_open_regular(const char *path, struct err *e) MUST_USE;
int file_read_regular(const char *path, struct buf *b, struct err *e) MUST_USE;
/* The same for a path as a process sees it whose root is another one ("/proc/PID/root"): no link in it leads out of root, so what
 * others put there does not choose which file is read. E_UNSUPPORTED before Linux 5.6. */
int file_read_inside(const char *root, const char *path, struct buf *b, struct err *e) MUST_USE;

/* The fd of folder root/below, reached without following a link below root, and never by "..": whoever may write there does not choose
 * which folder it is. E_NOT_FOUND, or E_SYS where a part of the way is no folder. */
int file_open_below(const char *root, struct str below, struct err *e) MUST_USE;

/* All n bytes, retried on EINTR and short writes. */
int file_write_all(int fd, const void *p, size_t n, const char *path, struct err *e) MUST_USE;
int file_pwrite_all(int fd, const void *p, size_t n, off_t at, const char *path, struct err *e) MUST_USE;
/* Exactly n bytes, or E_CORRUPT where the file ends before. */
int file_pread_all(int fd, void *p, size_t n, off_t at, const char *path, struct err *e) MUST_USE;

/* Writes "path.tmp", fsyncs it, renames it over path, fsyncs the folder: after a crash the old or the new, never a
 * part. mode is that of the new file. */
int file_replace(const char *path, struct str content, mode_t mode, struct err *e) MUST_USE;

int file_sync_dir(const char *dir, struct err *e) MUST_USE;	      /* makes renames and unlinks in it durable */
int file_make_dirs(const char *dir, mode_t mode, struct err *e) MUST_USE; /* like mkdir -p */
int file_free_bytes(const char *dir, uint64_t *bytes, struct err *e) MUST_USE;

/* An exclusive lock on path (made when missing) that lives as long as the fd; E_BUSY when another process has it. */
int file_lock(const char *path, int *fd, struct err *e) MUST_USE;

bool file_exists(const char *path);
int64_t file_mtime_ns(const struct stat *st); /* wall */

#endif
