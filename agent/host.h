/* host.h — who this agent is: an id made once and kept, and the host's name. */
#ifndef AGENT_HOST_H
#define AGENT_HOST_H

#include "base/err.h"

enum { HOST_ID_TEXT = 33 };

/* The agent's id, 32 hex digits in STATE_DIR/agent-id; made and made durable at the first call. Windows' ids depend on
 * it, so an id that cannot be read is an error and is never replaced by a new one. */
int host_agent_id(const char *state_dir, char out[HOST_ID_TEXT], struct err *e) MUST_USE;

#endif
