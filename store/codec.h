/* codec.h — the blobs of the database: op summaries with their histograms, and what else a window has.
 * Numbers are varints as protobuf has them (base/enc.h), signed ones zigzag. "delta" is the difference from the one
 * before, the first from 0. Inside store/ only; pure functions.
 *
 * ops (columns window.ops and rollup.ops), in the order of op_summary_cmp:
 *
 *	u8	1, the version of this layout
 *	varint	n, how many
 *	n times	zigzag op id (table op), delta; varint length of its record
 *	n times a record:
 *		varint	calls
 *		zigzag	device_total, device_self, cpu_total, cpu_self
 *		varint	orphan_calls; zigzag orphan_ns
 *		u8	basis: 0 none, 1 device, 2 cpu; the record ends here for 0
 *		zigzag	min; varint max - min
 *		varint	zero, the count of values <= 0
 *		varint	k, how many buckets have a count
 *		k times	zigzag index, delta; varint count
 *
 * So one op is found among many by going over ids and lengths only.
 *
 * rest (column window.rest): labels, versions, gauges; deploy.labels is one list of labels after the version
 *
 *	u8	1, the version of this layout
 *	varint	n; n times text key, text value			labels
 *	varint	n; n times text key, text value			versions
 *	varint	n; n times text name, text unit, 8 bytes of the double (little-endian), labels as above
 *
 *	or, where that is more than 1 KiB (a report may have thousands of gauges, a twentieth when compressed):
 *	u8	2; varint its length; a zstd frame of all of the above
 *
 *	text: varint length, bytes
 *
 * hosts (column alert.hosts): u8 1; varint n; n texts */
#ifndef STORE_CODEC_H
#define STORE_CODEC_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "profile/window.h"

/* ids[i] is the op id of ops[i]. scratch is emptied. Errors are sticky in out. */
void codec_put_ops(
	struct buf *out, struct buf *scratch, const struct op_summary *ops, const uint32_t *ids, size_t n);

/* Goes over the ops of a blob. */
struct codec_ops {
	const uint8_t *at, *record, *end; /* in the list of ids; of the next op; of the blob */
	uint32_t left;
	uint64_t id;
};
int codec_ops_open(struct codec_ops *c, struct str blob, struct err *e) MUST_USE;
/* 1: *id and *record are of the next op; 0: no more; E_CORRUPT. */
int codec_ops_next(struct codec_ops *c, uint32_t *id, struct str *record, struct err *e) MUST_USE;
/* All but kind and name, which stay. out->hist must be initialised and is emptied first. */
int codec_get_op(struct str record, struct op_summary *out, struct err *e) MUST_USE;

void codec_put_rest(struct buf *out, const struct window *w);
int codec_get_rest(struct str blob, struct arena *a, struct window *w, struct err *e) MUST_USE;
void codec_put_labels(struct buf *out, const struct label *labels, size_t n);
int codec_get_labels(
	struct str blob, struct arena *a, struct label **labels, size_t *n, struct err *e) MUST_USE;
void codec_put_texts(struct buf *out, const struct str *texts, size_t n);
int codec_get_texts(struct str blob, struct arena *a, struct str **texts, size_t *n, struct err *e) MUST_USE;

#endif
