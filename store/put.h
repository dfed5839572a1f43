/* put.h — windows into rows. Inside store/ only. */
#ifndef STORE_PUT_H
#define STORE_PUT_H

#include "store/store.h"
#include "store/writer.h"

struct put_batch {
	const struct window *windows;
	size_t n;
	struct put_result result;
};

writer_work put_batch; /* arg: struct put_batch */

#endif
