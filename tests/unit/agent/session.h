/* session.h — folders as a Neuron profiler leaves them, and a decoder that is a script (tests/support/neuron-explorer). */
#ifndef TESTS_UNIT_AGENT_SESSION_H
#define TESTS_UNIT_AGENT_SESSION_H

#include <stdbool.h>

#include "agent/decode.h"

/* In the test's folder: bin/neuron-explorer with the JSON that it writes, and PATH leads there alone besides sh's programs. */
void decoder_make(void);
void decoder_behaves(const char *words); /* see the script; "" for well */
bool decoder_was_told(const char *part); /* some call's arguments have this in them */
unsigned decoder_views(void);		 /* how often it was asked to decode */

extern const char session_system[], session_summary[], session_device[]; /* the JSON */

/* What a session may hold. */
enum { HOLDS_INFO = 1, HOLDS_SYSTEM = 2, HOLDS_DEVICE = 4, HOLDS_TRACE = 8, HOLDS_EMPTY_DEVICE = 16 };
/* dir is relative to the test's folder and made, with all above it. */
void session_make(const char *dir, unsigned holds);

#endif
