/* session.h — a folder as a Neuron profiler leaves it: what it holds, and which command makes JSON of it. Only names, sizes and times
 * are looked at: the formats are AWS's own.
 *
 *	…/<instance>_pid_<pid>/[<timestamp>/]
 *	    trace_info.pb			without it the decoder takes nothing: still being written, or given up
 *	    ntrace.pb				what runtime and framework did: the system profile
 *	    neff_*.neff  profile_nc_*.ntff	compiled models, and what a core did: the device profile
 *	    cpu_util.pb  host_mem.pb		may be empty
 *	    trace.json				the framework's own trace: JSON as it is
 *
 * Links are not followed. Runs on: any thread that may wait. */
#ifndef TRACE_SESSION_H
#define TRACE_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"

struct session {
	char dir[PATH_MAX];
	pid_t pid; /* of "_pid_<pid>" in its path; 0: not said */
	bool has_info, has_system, has_trace_json; /* trace_info.pb; ntrace.pb with something in it; trace.json */
	size_t n_neff, n_ntff;			   /* with something in them */
	uint64_t bytes, device_bytes; /* all; of them .neff and .ntff */
	int64_t first_ns, last_ns; /* wall: when its oldest (but .neff) and its newest file was last written */
	uint64_t print;		   /* another one when any file's name, size or time is */
};
enum { SESSIONS_MAX = 256 };
VEC(sessions, struct session);

bool session_read(const char *dir, struct session *out); /* false: not one, or not readable */
/* All below root (itself, and three levels down), by path. Without memory for all or past SESSIONS_MAX: the first ones. */
void sessions_find(const char *root, struct sessions *out);

/* A folder: E_FORMAT where there is a session in it, with a sentence that says which command decodes it, else E_UNSUPPORTED, with one
 * that says what would be right. OK where path is no folder. */
int session_refuse(const char *path, struct err *e) MUST_USE;

#endif
