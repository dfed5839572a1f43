/* decode.h — a session of a Neuron profiler (trace/session.h) becomes JSON that trace/ reads, by the Neuron tools' own decoder.
 *
 *	neuron-explorer view -d DIR --output-format json --ignore-device-profile --output-file system.json
 *	neuron-explorer view -d DIR --output-format summary-json --ignore-system-profile --output-file summary.json
 *	neuron-explorer view -d DIR --output-format json --ignore-system-profile --output-file device.json
 *
 * each with --display-name and --data-path, which neuron-profile, the older program, does not get. The decoder runs in a folder of
 * ours that is also its HOME and TMPDIR, with an environment of its own (no token of ours), niced, io idle, with ceilings of
 * memory, time and bytes; one at a time on this host.
 *
 * A session's system profile counts all that happened, its device profile often one execution of each model: put into one
 * window their calls per step would be wrong. So every JSON is a window, and those of the device have a service of
 * their own, SERVICE/device: a judge who takes medians over windows compares like with like. device has all that summary has.
 *
 * Not verified on hardware: what the decoder names its outputs. So whatever JSON is in the folder afterwards is taken, by content.
 * Runs on: a thread that may wait (agent/errand.h). */
#ifndef AGENT_DECODE_H
#define AGENT_DECODE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/thread.h"
#include "trace/session.h"

struct decode_settings {
	const char *program; /* "": neuron-explorer, else neuron-profile, in PATH or /opt/aws/neuron/bin */
	bool want_system, want_summary, want_device; /* what is made of a session, where it holds that */
	uint64_t input_max_bytes, output_max_bytes, memory_bytes;
	int64_t limit_ns; /* for all its runs together */
	const char *lock; /* path: who holds it decodes, the others wait for it; NULL: nobody else does */
};

struct decode_conf;
/* What the configuration says; its texts are borrowed. */
struct decode_settings decode_settings_of(const struct decode_conf *cf, const char *lock);

enum decode_end {
	DECODE_TAKEN,
	DECODE_NOTHING,	   /* nothing was captured that is wanted */
	DECODE_INCOMPLETE, /* no trace_info.pb */
	DECODE_NO_PROGRAM,
	DECODE_FAILED,	  /* exit status, signal */
	DECODE_TIMEOUT,
	DECODE_TOO_LARGE, /* what goes in, or what comes out */
	DECODE_UNWRITTEN, /* it ended well and left no JSON */
	DECODE_STOPPED,	  /* the agent ends */
	DECODE_ENDS
};
const char *decode_end_word(enum decode_end end);
const char *decode_end_cure(enum decode_end end); /* NULL: nothing is wrong */

enum { DECODE_VERSION_TEXT = 200 };

struct decode_result {
	enum decode_end end;	   /* TAKEN where any JSON came of it; why then tells what did not work, if anything */
	char why[480];		   /* a sentence; empty where all is well */
	char program[64];	   /* "neuron-explorer" */
	char version[DECODE_VERSION_TEXT]; /* as it says of itself */
	unsigned files;
};

/* Decodes s into out_dir, which must not exist: it is there, whole, when the end is TAKEN, and not at all else. Each JSON file in it
 * has a sidecar with start_ns where it has no wall clock of its own; names tell which kind (decode_is_device). Beside them are the
 * names of the session's models, and a note: the decoder's version, then "with-system" where there is a system profile. */
#define DECODE_NOTE ".decoded"
void decode_session(const struct decode_settings *set, const struct session *s, const char *out_dir, struct thread *t,
	struct decode_result *out);
bool decode_is_device(const char *file_name);

#endif
