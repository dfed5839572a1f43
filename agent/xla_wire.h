/* xla_wire.h — what is said to the profiler server inside a JAX or PyTorch/XLA process, and what it says: the messages of
 * tensorflow.ProfilerService/Profile (tsl/profiler/protobuf/profiler_service.proto), by field numbers.
 *
 *	ProfileRequest		4 opts { 2 host_tracer_level	3 device_tracer_level	5 version	9 duration_ms }
 *				5 repository_root	6 session_id	7 host_name
 *	ProfileResponse		7 empty_trace; all else is passed over
 *
 * Field 1 of the request, a duration too, is read by nobody any more: without 4.9 the window has no length. The job writes
 * ROOT/SESSION/HOST.xplane.pb, with ROOT as the job sees it, before it answers. Pure functions. */
#ifndef AGENT_XLA_WIRE_H
#define AGENT_XLA_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define XLA_METHOD "/tensorflow.ProfilerService/Profile"
#define XLA_FILE ".xplane.pb"
#define XLA_SAYS_BUSY "Another profiling session active" /* grpc-message with status 13 */

enum { XLA_REQUEST_MAX = 4096, XLA_RESPONSE_MAX = 64 * 1024, XLA_HOST_LEVEL_MAX = 3 };

struct xla_request {
	struct str root; /* an absolute path */
	struct str session, host; /* names of files */
	int64_t duration_ns;
	uint64_t host_level; /* 1: what the user and XLA mark; 2: more of the runtime; 3: all of it */
};

struct xla_response {
	bool empty; /* nothing was recorded and nothing written */
};

/* E_USAGE names what cannot be said: a text that is no UTF-8 or no name, no time at all. */
int xla_wire_put_request(const struct xla_request *rq, struct buf *out, struct err *e) MUST_USE;
int xla_wire_parse_response(struct str message, struct xla_response *out, struct err *e) MUST_USE; /* E_FORMAT */

/* Any text as a name of a file: what is no letter, digit, '.', '-' or '_' becomes '_', and so does a dot in front. */
void xla_wire_name(struct str text, char *out, size_t cap);

#endif
