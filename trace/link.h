/* link.h — which op a device event or a host call belongs to: steps 3 to 5 of key_averages() over a trace.
 *
 * An "External id" names the op. Some releases of Kineto (2021-11 to 2024-10) wrote a device event's own correlation id
 * there; where External id equals correlation it is no link, and the op is found by correlation → runtime call → the
 * deepest cpu_op open at that call. Afterwards link is set in device events, device_ns in all others, and host calls
 * are on the thread of their op. Runs on: one thread at a time. */
#ifndef TRACE_LINK_H
#define TRACE_LINK_H

#include "base/err.h"
#include "trace/event.h"

int link_events(struct trace *t, struct err *e) MUST_USE; /* once a trace */

#endif
