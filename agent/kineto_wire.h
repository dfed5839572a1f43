/* kineto_wire.h — the datagrams that libkineto in a PyTorch process and a profiling daemon exchange (libkineto's
 * IpcFabricConfigClient). All numbers are little-endian; a datagram is a header and its payload, no more and no less.
 *
 *	header      0  8  size of the payload
 *	            8 32  type, a word with NULs behind it
 *	           40     the payload
 *
 *	"req" from a process: is there something to do?
 *	            0  4  what it could do now, a bit mask: 0 nothing, its profiler is busy; 1 events (no longer used);
 *	                  2 activities, that is, it is idle
 *	            4  4  n, number of pids; 1 to KINETO_PIDS_MAX
 *	            8  8  the job: SLURM_JOB_ID, else 0
 *	           16 4n  pids as the process sees them, its own first, then its ancestors'
 *	"req" to a process: text of a configuration (agent/kineto_config.h), empty where there is nothing to do
 *
 *	"ctxt" from a process, once, by libkineto of before 2026-08: I am here
 *	            0  4  device
 *	            4  4  pid
 *	            8  8  the job
 *	"ctxt" to a process
 *	            0  4  how many processes of the job are known
 *
 * The client believes whatever the header of an answer says, so answers are made here and nowhere else. Pure functions. */
#ifndef AGENT_KINETO_WIRE_H
#define AGENT_KINETO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
	KINETO_HEADER = 40,
	KINETO_TYPE = 32,
	KINETO_PIDS_MAX = 64,
	KINETO_DATAGRAM_MAX = KINETO_HEADER + 16 + 4 * KINETO_PIDS_MAX,
	KINETO_CAN_TRACE = 2,	/* in kineto_message.can */
};

enum kineto_kind { KINETO_POLL, KINETO_HELLO, KINETO_KINDS };

struct kineto_message {
	enum kineto_kind kind;
	uint32_t can;
	int64_t job;
	int32_t pids[KINETO_PIDS_MAX];
	size_t n_pids;
};

/* E_FORMAT for what is no such datagram, E_LIMIT for more pids than there can be, E_UNSUPPORTED for another type. */
int kineto_wire_parse(struct str datagram, struct kineto_message *out, struct err *e) MUST_USE;

/* The whole datagram of an answer, appended. */
void kineto_wire_put_config(struct buf *out, struct str text);
void kineto_wire_put_count(struct buf *out, int32_t processes);

#endif
