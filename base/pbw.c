#include "base/pbw.h"

#include "base/enc.h"

enum { TYPE_VARINT = 0, TYPE_BYTES = 2 };

void pbw_varint(struct buf *b, uint64_t v)
{
	uint8_t bytes[ENC_VARINT_MAX];

	buf_add(b, bytes, enc_put_varint(bytes, v));
}

void pbw_number(struct buf *b, unsigned field, uint64_t v)
{
	if (v == 0)
		return;
	pbw_varint(b, (uint64_t)field << 3 | TYPE_VARINT);
	pbw_varint(b, v);
}

void pbw_bytes(struct buf *b, unsigned field, struct str bytes)
{
	pbw_varint(b, (uint64_t)field << 3 | TYPE_BYTES);
	pbw_varint(b, bytes.n);
	buf_str(b, bytes);
}
