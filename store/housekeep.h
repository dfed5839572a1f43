/* housekeep.h — dropping what is past its retention or over the size cap, in slices between which others can write.
 * Inside store/ only. */
#ifndef STORE_HOUSEKEEP_H
#define STORE_HOUSEKEEP_H

#include "base/metric.h"
#include "store/writer.h"

struct housekeep {
	int64_t raw_before_ns;	  /* windows that start earlier go */
	int64_t report_before_ns; /* windows without ops; before the others, too, where the cap is reached */
	int64_t rollup_before_ns; /* and the rollups of hours that end earlier, and what only they needed */
	int64_t max_bytes;	  /* 0: no cap */
	struct metric *dropped;	  /* windows */
	int64_t bytes;		  /* out: the size in the end */
};

/* Runs on: any thread but the writer. */
int housekeep_run(struct writer *w, struct housekeep *h, struct err *e) MUST_USE;

#endif
