/* op.h — what is timed: an op, by kind and name, and its summary over one window.
 * The kinds are those of DESIGN's table of words and appear under these names on the wire, in the API and on the page. */
#ifndef PROFILE_OP_H
#define PROFILE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"
#include "base/str.h"
#include "stat/hist.h"

enum op_kind {
	OP_STEP,	/* one iteration: ProfilerStep#N, or one model execution */
	OP_CPU_OP,	/* aten::mul */
	OP_ANNOTATION,	/* record_function ranges, Optimizer.step#… */
	OP_REGION,	/* Torch-Compiled Region, CompiledFxGraph, NEFF: what a compiler made into one */
	OP_RUNTIME,	/* nrta_execute_schedule, cudaLaunchKernel: calls into the runtime or driver */
	OP_OVERHEAD,	/* the profiler's own */
	OP_KERNEL,	/* device work */
	OP_MEMCPY,
	OP_MEMSET,
	OP_COLLECTIVE,	/* all-reduce and kin, on device or host */
	OP_HLO,		/* an XLA op */
	OP_ENGINE,	/* Tensor, Vector, Scalar, GpSimd, Sync, DMA of a NeuronCore */
	OP_GAP,		/* "device": time between the union of executions inside steps */
	OP_KINDS
};

const char *op_kind_name(enum op_kind kind); /* "cpu_op" */
int op_kind_parse(struct str word, enum op_kind *out) MUST_USE; /* E_FORMAT */

/* Kinds that are always device events themselves; their time stands in the rows of the ops that launched them, too.
 * Collectives are of either side: op_is_device. */
bool op_kind_on_device(enum op_kind kind);

/* Which time min, max and hist are of. */
enum op_basis { OP_BASIS_NONE, OP_BASIS_DEVICE, OP_BASIS_CPU, OP_BASES };

struct op_summary {
	enum op_kind kind;
	struct str name;	   /* normalised: hashes, step numbers, addresses are "*" */
	uint64_t calls;
	int64_t device_total_ns, device_self_ns;
	int64_t cpu_total_ns, cpu_self_ns;
	/* Device events that no op launched (graph replay): the part of calls and device_self_ns that no op's row holds
	 * as well. Summing device_self_ns of host kinds and orphan_ns of device kinds counts each event once. */
	uint64_t orphan_calls;
	int64_t orphan_ns;
	enum op_basis basis;	   /* OP_BASIS_NONE: no single times are known, min, max and hist are empty */
	int64_t min_ns, max_ns;
	struct hist hist;	   /* one value a call */
};

/* Adds from's calls, sums, extremes and histogram to into (same kind and name). Where the bases differ, times per call
 * of two sorts would mix: into keeps its own basis and hist, sums are added. An empty into (calls 0) takes from's basis. */
void op_summary_merge(struct op_summary *into, const struct op_summary *from);
void op_summary_fini(struct op_summary *s); /* frees the histogram */

/* Whether it is of device events: of a kind that is, or a collective without time on the host. */
bool op_is_device(const struct op_summary *op);

/* By kind, then name bytewise. */
int op_summary_cmp(const struct op_summary *a, const struct op_summary *b);

#endif
