/* probe.h — what is this file? Told by its first bytes (decompressed), and by its name only where bytes cannot tell
 * one protobuf from another. Pure.
 *
 *	JSON	 the keys of its first two levels decide: "traceEvents" is a trace, "instruction" and "layer_summary" are
 *		 lists of a device profile, and so on (probe.c has the table)
 *	.ntff	 byte 0 is the format's version (1 to 6), then u64 LE the length of a protobuf block that starts at 128,
 *		 u64 LE the length of a second block
 *	.neff	 u64 LE package version, u64 LE header size (1024), u64 LE data size, u64 LE format version
 *	.pb	 a protobuf message; XSpace (xplane) has field 1 = XPlane { 1 id, 2 name "/host:…" or "/device:…" } */
#ifndef TRACE_PROBE_H
#define TRACE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum probe_kind {
	PROBE_UNKNOWN,
	PROBE_EMPTY,
	PROBE_TRACE,	      /* Kineto or Chrome trace JSON, also without its header */
	PROBE_XLA_TRACE,      /* JAX and XLA trace JSON */
	PROBE_XPLANE,	      /* XSpace protobuf of JAX, XLA, PyTorch/XLA */
	PROBE_NEURON_SUMMARY, /* neuron-explorer view --output-format summary-json */
	PROBE_NEURON_DEVICE,  /* neuron-explorer view --output-format json, device profile */
	PROBE_NEURON_SYSTEM,  /* the same, system profile */
	PROBE_NEURON_MONITOR, /* reports of neuron-monitor, one JSON object a line */
	PROBE_NEURON_LS,      /* neuron-ls -j */
	PROBE_NTFF,	      /* a device profile as captured */
	PROBE_NEFF,	      /* a compiled model */
	PROBE_NEURON_PB,      /* ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb */
	PROBE_PROTOBUF,	      /* some other protobuf */
	PROBE_OP_TABLE,	      /* {"steps":N,"ops":[…]} */
	PROBE_ARCHIVE,	      /* of files (trace/tar.h) */
	PROBE_JSON,	      /* other JSON */
	PROBE_KINDS
};

/* How many bytes are looked at. Fewer are fine. */
enum { PROBE_BYTES = 64 * 1024 };

/* head: the start of the file's content; name: its path, or empty. */
enum probe_kind probe_kind(struct str head, struct str name);

/* The same for an input that nobody has read from yet, and nothing is taken from it. What is known not to be read here
 * is E_FORMAT, with a sentence that says which command decodes it; so is an archive, which is for trace/archive.h. */
struct input;
int probe_input(struct input *in, const char *name, enum probe_kind *kind, struct err *e) MUST_USE;

const char *probe_word(enum probe_kind kind);	 /* "neuron_device" */
const char *probe_sentence(enum probe_kind kind); /* what it is, and for what is not read here: which command decodes it */
bool probe_is_neuron(enum probe_kind kind);	 /* trace/neuron.h reads it */

#endif
