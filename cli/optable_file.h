/* optable_file.h — an op table written by hand or by a script, as a window.
 *
 *	{"steps": 100, "step_us": 9100, "gap_us": 416,
 *	 "ops": [["aten::mm", 22400, 900000.0], ["aten::_convolution@cpu", 100, 420000.0], …]}
 *
 * ops: name, calls and device time in microseconds, totals over all steps; a name that ends in "@cpu" ran on the host
 * (names of the Memcpy and Memset kind, as device profilers write them, are copies and no launches).
 * steps: 1 unless given. step_us and gap_us, both optional: wall time of a step, and in it the time that the device
 * waits between launches.
 *
 * In the window, step_us is an op of kind "step" and gap_us the op "gap device", each with its total over all steps. No
 * single times are known of any op. */
#ifndef CLI_OPTABLE_FILE_H
#define CLI_OPTABLE_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"

/* Is it an op table? By its first members, reading no more than it takes to tell. E_NOT_FOUND, E_SYS, …; a file that is
 * no JSON is no op table. */
int optable_file_is(const char *path, bool *yes, struct err *e) MUST_USE;

/* Everything lives in the arena. E_FORMAT says what is wrong and where, E_LIMIT. */
int optable_file_read(struct arena *a, const char *path, struct window *out, struct err *e) MUST_USE;

#endif
