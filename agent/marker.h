/* marker.h — a note in the watched folder that a trace is going, so that a kill between the trace and its sidecar leaves no
 * sidecar behind that a later trace of the same name would take for its own.
 *
 *	DIR/.NAME.trainspotter    empty; there while DIR/NAME and then DIR/NAME.meta.json go
 *
 * What a kill left is told by times of change: the marker is younger than the trace and the sidecar that it was made for,
 * and older than what a job puts there afterwards. A favour: where no marker can be made (a full disk, a name too long), an
 * early end costs what it always did. Runs on: the agent's main thread. */
#ifndef AGENT_MARKER_H
#define AGENT_MARKER_H

#include <stdbool.h>

#include "base/str.h"

bool marker_is(struct str name);

/* Before the trace goes; nothing where it has no sidecar. suffix: the sidecar's. */
void marker_put(const char *trace, const char *suffix);
/* After both are gone, or neither could go. */
void marker_drop(const char *trace);

/* Finishes what a kill left in the folder under the marker's name: true when a sidecar went. */
bool marker_settle(const char *dir, const char *name, const char *suffix);

#endif
