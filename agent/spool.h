/* spool.h — encoded batches that wait on disk until the daemon has them: a queue that survives kill -9 at any
 * instruction.
 *
 * A folder with a lock file, segments that are only ever appended to, and a position:
 *
 *	lock                       held by the one process that uses the spool
 *	0000000000000007.seg       segments, numbered upwards (16 hex digits); the last one is written to
 *	position                   up to where everything is forgotten
 *
 *	segment    0  8  magic "TSSPOOL1"
 *	           8  8  the segment's number
 *	          16     records, one behind the other
 *	record     0  4  magic "TSr1"
 *	           4  4  n, length of the body; at most SPOOL_RECORD_MAX
 *	           8  4  CRC-32C of bytes 4…7 and of the body
 *	          12  n  the body: one encoded WindowBatch
 *	position   0  8  magic "TSSPOS_1"
 *	           8  8  number of a segment
 *	          16  8  offset in it of the first record that is not forgotten
 *	          24  4  CRC-32C of bytes 0…23
 *
 * All numbers are little-endian. spool_append returns after fsync. A record that kill or power cut in two is the torn
 * end of the last segment and cut off by spool_open; damage elsewhere (a bad CRC) costs the records it touches, and is
 * counted. The position may be lost or old: then batches are sent twice, which the daemon sees by the windows' ids.
 * It is never ahead of what was forgotten.
 *
 * Full (the ceiling, or no space on the disk) means that the oldest records are dropped and counted, not the new one. On a full
 * disk they go by whole segments, and that which is written to only when nothing waits in it: else the new one is refused.
 * Runs on: the agent's main thread. */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum { SPOOL_RECORD_MAX = 64 << 20 };

struct spool;

struct spool_settings {
	uint64_t cap_bytes;	/* of all records that wait */
	uint64_t segment_bytes; /* a segment is closed when it is this long */
};

struct spool_place { /* where a record starts */
	uint64_t segment, offset;
};

struct spool_state {
	uint64_t records, bytes; /* waiting now */
	uint64_t dropped;	 /* since open: lost because the spool or the disk was full */
	uint64_t damaged;	 /* since open: times that reading met damage and went on behind it */
	uint64_t torn;		 /* at open: bytes cut off the last segment */
};

/* Makes the folder. E_BUSY when another process has the spool. */
int spool_open(struct spool **out, const char *dir, const struct spool_settings *s, struct err *e) MUST_USE;
void spool_close(struct spool *sp);

/* Durable when it returns OK. E_LIMIT for a body that never fits, E_FULL when the disk has no room for it
 * and no old segment can go, else what keeps the oldest records from being read and dropped now. */
int spool_append(struct spool *sp, struct str body, struct err *e) MUST_USE;

/* Would so many records, with so many bytes in their bodies together, fit if nothing else waited? */
bool spool_can_hold(const struct spool *sp, size_t records, uint64_t bytes);

struct spool_place spool_first(const struct spool *sp); /* of what waits */
struct spool_place spool_end(const struct spool *sp);	/* behind all of it */
/* The record at *at, or the next good one behind it, replaces body's content; *at moves behind it. E_NOT_FOUND when
 * there is none; E_SYS, E_DENIED, E_NOMEM when it cannot be told now (no descriptor left, no right, no memory). A segment
 * that no later try opens either is damage as any other. */
int spool_read(struct spool *sp, struct spool_place *at, struct buf *body, struct err *e) MUST_USE;

/* Everything before the place, which spool_read gave, is done with. A place that is behind the first one already
 * (what was there has been dropped meanwhile) changes nothing. */
void spool_forget(struct spool *sp, struct spool_place upto);

const struct spool_state *spool_state(const struct spool *sp);

#endif
