#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/enc.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"

enum { SEGMENT_HEAD = 16, RECORD_HEAD = 12, POSITION_BYTES = 28, SEGMENTS_MAX = 1 << 20, SEARCH_BLOCK = 1 << 16 };

static const char segment_magic[] = "TSSPOOL1", record_magic[] = "TSr1", position_magic[] = "TSSPOS_1";

struct segment {
	uint64_t number;
	uint64_t size; /* of what is good in it: appends go here */
	bool closed;   /* nothing more is written to it: a write that failed could not be undone, or it cannot be read */
};

VEC(segments, struct segment);

struct spool {
	char *dir;
	int lock_fd, write_fd, position_fd;
	struct spool_settings settings;
	struct segments segments; /* oldest first; the last is written to while write_fd >= 0 */
	uint64_t next_number;
	struct spool_place first; /* the first record that waits, or the end */
	struct spool_place told;  /* damage before it is counted */
	struct spool_state state;
};

/* ---- places and paths */

static bool place_before(struct spool_place a, struct spool_place b)
{
	return a.segment != b.segment ? a.segment < b.segment : a.offset < b.offset;
}

static void segment_path(const struct spool *sp, uint64_t number, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%016" PRIx64 ".seg", sp->dir, number);
}

/* The segment a place is in, or the first one behind it; NULL past the last. */
static struct segment *segment_at(struct spool *sp, uint64_t number)
{
	vec_each(seg, &sp->segments)
		if (seg->number >= number)
			return seg;
	return NULL;
}

static struct segment *last_segment(struct spool *sp)
{
	return sp->segments.n == 0 ? NULL : &sp->segments.v[sp->segments.n - 1];
}

static struct spool_place end_of(const struct spool *sp)
{
	const struct segment *seg = sp->segments.n == 0 ? NULL : &sp->segments.v[sp->segments.n - 1];

	return seg == NULL ? (struct spool_place){ sp->next_number, SEGMENT_HEAD }
			   : (struct spool_place){ seg->number, seg->size };
}

/* Of the file itself: no later try opens it, as one may where descriptors, memory or rights are missing. */
static bool is_damage(int sys)
{
	return sys == EIO || sys == EUCLEAN || sys == ELOOP || sys == EISDIR || sys == ENXIO;
}

/* E_CORRUPT where it will never open. */
static int open_segment(const struct spool *sp, uint64_t number, int flags, struct err *e)
{
	char path[PATH_MAX];
	int fd;

	segment_path(sp, number, path);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (is_damage(errno))
		return err_set(e, E_CORRUPT, "%s: %s", path, strerror(errno));
	return err_sys(e, "%s", path);
}

/* ---- records */

/* One segment as it is read. What the disk does not give is damage like any other, but nothing is ever cut off for it; without
 * memory nothing is known at all. */
struct reader {
	int fd;
	uint64_t size;
	struct buf *body;
	uint64_t damaged;
	bool broken, no_memory;
};

static bool read_bytes(struct reader *r, void *p, size_t n, uint64_t offset)
{
	int rc = file_pread_all(r->fd, p, n, (off_t)offset, "segment", NULL);

	r->broken |= rc == E_SYS;
	return rc == OK;
}

/* The whole record at offset into the body: its length with the head, 0 where there is no good one. */
static uint64_t read_record(struct reader *r, uint64_t offset)
{
	uint8_t head[RECORD_HEAD];
	uint32_t n, crc;
	void *room;

	if (offset > r->size || r->size - offset < RECORD_HEAD || !read_bytes(r, head, sizeof(head), offset))
		return 0;
	n = enc_get32(head + 4);
	if (memcmp(head, record_magic, 4) != 0 || n > SPOOL_RECORD_MAX || n > r->size - offset - RECORD_HEAD)
		return 0;
	buf_reset(r->body);
	room = buf_room(r->body, n);
	r->no_memory |= room == NULL;
	if (room == NULL || !read_bytes(r, room, n, offset + RECORD_HEAD))
		return 0;
	buf_used(r->body, n);
	crc = enc_crc32c(enc_crc32c(0, head + 4, 4), room, n);
	return crc == enc_get32(head + 8) ? RECORD_HEAD + (uint64_t)n : 0;
}

/* Where in the block, which stands at offset, the next good record starts; n where there is none. */
static size_t find_in_block(struct reader *r, const char *block, size_t n, uint64_t offset)
{
	for (size_t at = 0; at < n; at++) {
		at += str_find(str_make(block + at, n - at), str_make(record_magic, 4));
		if (at < n && (read_record(r, offset + at) > 0 || r->no_memory))
			return at;
	}
	return n;
}

/* Where the next good record starts, from offset on; the segment's size when there is none. */
static uint64_t find_record(struct reader *r, uint64_t offset)
{
	char *block = mem_get(SEARCH_BLOCK);

	while (offset < r->size) {
		size_t n = r->size - offset < SEARCH_BLOCK ? (size_t)(r->size - offset) : SEARCH_BLOCK;
		size_t at = read_bytes(r, block, n, offset) ? find_in_block(r, block, n, offset) : n;

		if (at < n) {
			offset += at;
			break;
		}
		offset += n > 3 && offset + n < r->size ? n - 3 : n; /* a magic may lie across two blocks */
	}
	mem_free(block);
	return offset;
}

/* The record at *offset or, past damage that is counted, the next good one, whose place *offset becomes. */
static uint64_t next_record(struct reader *r, uint64_t *offset)
{
	uint64_t n = read_record(r, *offset);

	if (n > 0 || *offset >= r->size || r->no_memory)
		return n;
	r->damaged++;
	*offset = find_record(r, *offset + 1);
	return *offset == r->size ? 0 : read_record(r, *offset);
}

static int no_memory(struct err *e)
{
	return err_set(e, E_NOMEM, "no memory to read a record");
}

/* ---- opening */

static int by_number(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int list_segments(struct spool *sp, struct err *e)
{
	DIR *d = opendir(sp->dir);
	int rc = OK;

	if (d == NULL)
		return err_sys(e, "%s", sp->dir);
	for (struct dirent *ent; (ent = readdir(d)) != NULL && rc == OK;) {
		struct str name = str_of(ent->d_name);
		struct segment *seg;
		uint8_t number[8];

		if (!str_drop_suffix(&name, STR(".seg")) || enc_unhex(name, number, sizeof(number)) < 0)
			continue;
		seg = vec_push(&sp->segments);
		if (seg == NULL)
			rc = err_set(e, E_LIMIT, "%s: more than %d segments", sp->dir, SEGMENTS_MAX);
		for (size_t i = 0; seg != NULL && i < sizeof(number); i++)
			seg->number = seg->number << 8 | number[i];
	}
	closedir(d);
	if (sp->segments.n > 0)
		qsort(sp->segments.v, sp->segments.n, sizeof(*sp->segments.v), by_number);
	return rc;
}

static int open_position(struct spool *sp, struct err *e)
{
	uint8_t p[POSITION_BYTES];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/position", sp->dir);
	sp->position_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (sp->position_fd < 0)
		return err_sys(e, "%s", path);
	if (file_pread_all(sp->position_fd, p, sizeof(p), 0, path, NULL) < 0 || memcmp(p, position_magic, 8) != 0 ||
		enc_crc32c(0, p, 24) != enc_get32(p + 24))
		return OK; /* a new spool, or lost: from the oldest record on */
	sp->first = (struct spool_place){ enc_get64(p + 8), enc_get64(p + 16) };
	return OK;
}

/* Not synced: an older position after a power cut means batches sent twice, nothing worse. */
static void write_position(struct spool *sp)
{
	uint8_t p[POSITION_BYTES];

	memcpy(p, position_magic, 8);
	enc_put64(p + 8, sp->first.segment);
	enc_put64(p + 16, sp->first.offset);
	enc_put32(p + 24, enc_crc32c(0, p, 24));
	(void)!pwrite(sp->position_fd, p, sizeof(p), 0);
}

/* Counts what waits behind offset in it; where the good part ends. */
static uint64_t count_records(struct spool *sp, struct reader *r, uint64_t offset)
{
	uint64_t good = offset, n;

	while ((n = next_record(r, &offset)) > 0) {
		sp->state.records++;
		sp->state.bytes += n;
		offset += n;
		good = offset;
	}
	return good;
}

/* The last segment ends in a record that was cut in two. */
static int cut_segment(struct spool *sp, struct segment *seg, int fd, uint64_t good, struct err *e)
{
	sp->state.torn = seg->size - good;
	seg->size = good;
	return ftruncate(fd, (off_t)good) < 0 ? err_sys(e, "segment %016" PRIx64 ": cut", seg->number) : OK;
}

/* Nothing is known of what is in it; its number stays taken. */
static int give_up_segment(struct spool *sp, struct segment *seg)
{
	sp->state.damaged++;
	seg->size = SEGMENT_HEAD;
	seg->closed = true;
	return OK;
}

/* Counts what waits in a segment and finds its good end. Records vouch for themselves, so a damaged head costs nothing.
 * The last segment's torn end is cut off, unless it is the disk that does not give it: then nothing comes to stand behind it. */
static int take_segment(struct spool *sp, struct segment *seg, bool last, struct buf *body, struct err *e)
{
	uint64_t from = SEGMENT_HEAD, good;
	int rc = OK, fd = open_segment(sp, seg->number, O_RDWR, e);
	struct reader r = { .fd = fd, .body = body };
	struct stat st;

	if (fd < 0)
		return fd == E_CORRUPT ? give_up_segment(sp, seg) : fd;
	if (fstat(fd, &st) < 0)
		rc = err_sys(e, "segment %016" PRIx64, seg->number);
	seg->size = r.size = rc < 0 ? 0 : (uint64_t)st.st_size;
	if (sp->first.segment == seg->number && sp->first.offset <= seg->size && sp->first.offset > from)
		from = sp->first.offset;
	good = count_records(sp, &r, from);
	if (rc == OK && r.no_memory)
		rc = no_memory(e);
	seg->closed = r.broken;
	if (rc == OK && last && !r.broken && good < seg->size)
		rc = cut_segment(sp, seg, fd, good, e);
	close(fd);
	return rc;
}

static void drop_segment(struct spool *sp)
{
	char path[PATH_MAX];

	segment_path(sp, sp->segments.v[0].number, path);
	unlink(path);
	sp->segments.n--;
	memmove(sp->segments.v, sp->segments.v + 1, sp->segments.n * sizeof(*sp->segments.v));
	if (sp->segments.n == 0 && sp->write_fd >= 0) {
		close(sp->write_fd);
		sp->write_fd = -1;
	}
	crash_point("spool.unlinked");
}

static int take_segments(struct spool *sp, struct err *e)
{
	struct buf body;
	int rc = OK;

	while (sp->segments.n > 0 && sp->segments.v[0].number < sp->first.segment)
		drop_segment(sp); /* killed between writing the position and unlinking */
	buf_init(&body, SPOOL_RECORD_MAX);
	for (size_t i = 0; i < sp->segments.n && rc == OK; i++)
		rc = take_segment(sp, &sp->segments.v[i], i + 1 == sp->segments.n, &body, e);
	buf_fini(&body);
	sp->next_number = sp->segments.n == 0 ? sp->first.segment + 1 : last_segment(sp)->number + 1;
	if (sp->segments.n == 0)
		sp->first = end_of(sp);
	else if (sp->first.segment != sp->segments.v[0].number || sp->first.offset < SEGMENT_HEAD ||
		 sp->first.offset > sp->segments.v[0].size)
		sp->first = (struct spool_place){ sp->segments.v[0].number, SEGMENT_HEAD };
	return rc;
}

int spool_open(struct spool **out, const char *dir, const struct spool_settings *s, struct err *e)
{
	struct spool *sp = mem_get(sizeof(*sp));
	char path[PATH_MAX];
	int rc;

	*sp = (struct spool){ .dir = mem_dup_text(dir), .lock_fd = -1, .write_fd = -1, .position_fd = -1,
		.settings = *s };
	sp->segments.cap = SEGMENTS_MAX;
	rc = file_make_dirs(dir, 0700, e);
	if (rc == OK && snprintf(path, sizeof(path), "%s/lock", dir) >= (int)sizeof(path) - 32)
		rc = err_set(e, E_LIMIT, "%s: path too long", dir);
	if (rc == OK)
		rc = file_lock(path, &sp->lock_fd, e);
	if (rc == OK)
		rc = open_position(sp, e);
	if (rc == OK)
		rc = list_segments(sp, e);
	if (rc == OK)
		rc = take_segments(sp, e);
	if (rc < 0) {
		spool_close(sp);
		return err_add(e, "spool");
	}
	write_position(sp); /* so that it has its block before the disk is full */
	*out = sp;
	return OK;
}

void spool_close(struct spool *sp)
{
	if (sp == NULL)
		return;
	if (sp->write_fd >= 0)
		close(sp->write_fd);
	if (sp->position_fd >= 0)
		close(sp->position_fd);
	if (sp->lock_fd >= 0)
		close(sp->lock_fd);
	vec_fini(&sp->segments);
	mem_free(sp->dir);
	mem_free(sp);
}

/* ---- reading */

struct spool_place spool_first(const struct spool *sp)
{
	return sp->first;
}

/* The next good record of one segment. E_NOT_FOUND: none any more; one that somebody removed, or that never opens, is damage, too. */
static int read_segment(struct spool *sp, const struct segment *seg, struct spool_place *at, struct buf *body, uint64_t *damaged,
	struct err *e)
{
	struct reader r = { .fd = open_segment(sp, seg->number, O_RDONLY, e), .size = seg->size, .body = body };
	bool gone = r.fd == E_NOT_FOUND || r.fd == E_CORRUPT;
	uint64_t n;

	if (r.fd < 0) {
		*damaged += gone && at->offset < seg->size;
		return gone ? E_NOT_FOUND : r.fd;
	}
	n = next_record(&r, &at->offset);
	close(r.fd);
	*damaged += r.damaged;
	at->offset += n;
	if (r.no_memory)
		return no_memory(e);
	return n > 0 ? OK : E_NOT_FOUND;
}

static int read_at(struct spool *sp, struct spool_place *at, struct buf *body, uint64_t *damaged, struct err *e)
{
	for (struct segment *seg; (seg = segment_at(sp, at->segment)) != NULL;) {
		int rc;

		if (seg->number > at->segment)
			*at = (struct spool_place){ seg->number, SEGMENT_HEAD };
		rc = read_segment(sp, seg, at, body, damaged, e);
		if (rc != E_NOT_FOUND)
			return rc;
		if (seg == last_segment(sp))
			break;
		*at = (struct spool_place){ seg->number + 1, SEGMENT_HEAD };
	}
	return err_set(e, E_NOT_FOUND, "spool: empty");
}

struct spool_place spool_end(const struct spool *sp)
{
	return end_of(sp);
}

int spool_read(struct spool *sp, struct spool_place *at, struct buf *body, struct err *e)
{
	uint64_t damaged = 0;
	int rc = read_at(sp, at, body, &damaged, e);

	if (damaged > 0 && place_before(sp->told, *at)) { /* what is sent once more is read once more */
		sp->state.damaged += damaged;
		sp->told = *at;
	}
	return rc;
}

/* ---- forgetting */

/* Segments that nothing waits in go; of the last one only when it is long enough to be worth it. */
static void unlink_forgotten(struct spool *sp)
{
	while (sp->segments.n > 0 && sp->segments.v[0].number < sp->first.segment)
		drop_segment(sp);
	if (sp->segments.n == 1 && sp->first.offset >= sp->segments.v[0].size &&
		sp->segments.v[0].size >= sp->settings.segment_bytes) {
		sp->first = (struct spool_place){ sp->next_number, SEGMENT_HEAD };
		write_position(sp);
		drop_segment(sp);
	}
}

static void move_first(struct spool *sp, struct spool_place to, uint64_t records, uint64_t bytes)
{
	sp->first = to;
	sp->state.records -= records < sp->state.records ? records : sp->state.records;
	sp->state.bytes -= bytes < sp->state.bytes ? bytes : sp->state.bytes;
	if (!place_before(to, end_of(sp)))
		sp->state.records = sp->state.bytes = 0; /* whatever damage made of the counts */
	write_position(sp);
	crash_point("spool.forgot");
	unlink_forgotten(sp);
}

/* Where it cannot be read now, nothing is forgotten: it is sent once more. */
void spool_forget(struct spool *sp, struct spool_place upto)
{
	struct spool_place at = sp->first;
	uint64_t records = 0, bytes = 0, damaged = 0;
	struct buf body;
	int rc = OK;

	if (!place_before(sp->first, upto))
		return;
	buf_init(&body, SPOOL_RECORD_MAX);
	while (rc == OK && place_before(at, upto)) {
		rc = read_at(sp, &at, &body, &damaged, NULL);
		if (rc < 0 || place_before(upto, at))
			break;
		records++;
		bytes += RECORD_HEAD + body.n;
	}
	buf_fini(&body);
	if (rc == OK || rc == E_NOT_FOUND)
		move_first(sp, upto, records, bytes);
}

/* ---- appending */

/* Gives up the oldest record. E_NOT_FOUND when nothing waits; else it cannot be read now, and stays. */
static int drop_oldest(struct spool *sp, struct buf *scratch, struct err *e)
{
	struct spool_place at = sp->first;
	int rc = spool_read(sp, &at, scratch, e);

	if (rc == E_NOT_FOUND)
		move_first(sp, end_of(sp), 0, 0); /* what was left is damaged */
	if (rc < 0)
		return rc;
	sp->state.dropped++;
	move_first(sp, at, 1, RECORD_HEAD + scratch->n);
	return OK;
}

/* The disk is full: frees space by dropping the oldest segment. The one that is written to goes only when nothing waits in it: all
 * of them for a single new record would be a bad exchange. False when there was nothing to free. */
static bool free_space(struct spool *sp, struct buf *scratch)
{
	size_t before = sp->segments.n;
	uint64_t emptied;
	int rc = OK;

	while (before > 1 && sp->segments.n == before && rc == OK)
		rc = drop_oldest(sp, scratch, NULL);
	if (sp->segments.n < before)
		return true;
	if (before != 1 || place_before(sp->first, end_of(sp)))
		return false;
	emptied = sp->segments.v[0].size;
	sp->first = (struct spool_place){ sp->next_number, SEGMENT_HEAD };
	write_position(sp);
	drop_segment(sp);
	return emptied > SEGMENT_HEAD;
}

static int start_segment(struct spool *sp, struct err *e)
{
	uint8_t head[SEGMENT_HEAD];
	struct segment *seg;
	int rc, fd = open_segment(sp, sp->next_number, O_RDWR | O_CREAT | O_TRUNC, e);

	if (fd < 0)
		return fd;
	memcpy(head, segment_magic, 8);
	enc_put64(head + 8, sp->next_number);
	rc = file_pwrite_all(fd, head, sizeof(head), 0, "segment", e);
	crash_point("spool.segment-made");
	if (rc == OK)
		rc = file_sync_dir(sp->dir, e);
	seg = rc < 0 ? NULL : vec_push(&sp->segments);
	if (rc == OK && seg == NULL)
		rc = err_set(e, E_LIMIT, "more than %d segments", SEGMENTS_MAX);
	if (rc < 0) {
		char path[PATH_MAX];

		segment_path(sp, sp->next_number, path);
		unlink(path);
		close(fd);
		return rc;
	}
	if (sp->write_fd >= 0)
		close(sp->write_fd);
	sp->write_fd = fd;
	*seg = (struct segment){ .number = sp->next_number++, .size = SEGMENT_HEAD };
	return OK;
}

/* The segment that takes the next record, open for writing. */
static int ready_segment(struct spool *sp, struct segment **out, struct err *e)
{
	struct segment *seg = last_segment(sp);
	int rc = OK;

	if (seg == NULL || seg->closed || seg->size >= sp->settings.segment_bytes || seg->size < SEGMENT_HEAD) {
		rc = start_segment(sp, e);
		seg = last_segment(sp);
	} else if (sp->write_fd < 0) {
		sp->write_fd = open_segment(sp, seg->number, O_RDWR, e);
		rc = sp->write_fd < 0 ? sp->write_fd : OK;
	}
	if (rc < 0)
		return rc;
	must(seg != NULL);
	*out = seg;
	return OK;
}

/* What a failed write left behind is cut off, or the segment is given up: nothing may come to stand behind rubbish. */
static void undo_append(struct spool *sp, struct segment *seg)
{
	if (ftruncate(sp->write_fd, (off_t)seg->size) == 0)
		return;
	close(sp->write_fd);
	sp->write_fd = -1;
	seg->closed = true;
}

static int append_once(struct spool *sp, struct str body, struct err *e)
{
	uint8_t head[RECORD_HEAD];
	struct segment *seg;
	int rc = ready_segment(sp, &seg, e);

	if (rc < 0)
		return rc;
	memcpy(head, record_magic, 4);
	enc_put32(head + 4, (uint32_t)body.n);
	enc_put32(head + 8, enc_crc32c(enc_crc32c(0, head + 4, 4), body.p, body.n));
	rc = file_pwrite_all(sp->write_fd, head, sizeof(head), (off_t)seg->size, "segment", e);
	crash_point("spool.head-written");
	if (rc == OK)
		rc = file_pwrite_all(sp->write_fd, body.p, body.n, (off_t)seg->size + RECORD_HEAD, "segment", e);
	crash_point("spool.written");
	if (rc == OK && fsync(sp->write_fd) < 0)
		rc = err_sys(e, "segment: fsync");
	if (rc < 0) {
		undo_append(sp, seg);
		return rc;
	}
	seg->size += RECORD_HEAD + body.n;
	sp->state.records++;
	sp->state.bytes += RECORD_HEAD + body.n;
	crash_point("spool.synced");
	return OK;
}

/* Down to the ceiling, with room for so many bytes more. */
static int make_room(struct spool *sp, uint64_t bytes, struct buf *scratch, struct err *e)
{
	int rc = OK;

	while (rc == OK && sp->state.bytes + bytes > sp->settings.cap_bytes)
		rc = drop_oldest(sp, scratch, e);
	return rc == E_NOT_FOUND ? OK : rc;
}

int spool_append(struct spool *sp, struct str body, struct err *e)
{
	struct buf scratch;
	int rc;

	if (body.n > SPOOL_RECORD_MAX || body.n + RECORD_HEAD > sp->settings.cap_bytes)
		return err_set(e, E_LIMIT, "spool: a batch of %zu bytes, the spool holds %" PRIu64, body.n,
			sp->settings.cap_bytes);
	buf_init(&scratch, SPOOL_RECORD_MAX);
	rc = make_room(sp, RECORD_HEAD + body.n, &scratch, e);
	if (rc == OK)
		do
			rc = append_once(sp, body, e);
		while (rc == E_FULL && free_space(sp, &scratch));
	buf_fini(&scratch);
	return rc < 0 ? err_add(e, "spool") : OK;
}

bool spool_can_hold(const struct spool *sp, size_t records, uint64_t bytes)
{
	return bytes + records * RECORD_HEAD <= sp->settings.cap_bytes;
}

const struct spool_state *spool_state(const struct spool *sp)
{
	return &sp->state;
}
