#include "agent/quarantine.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "agent/keep.h"
#include "base/file.h"

int quarantine_put(const char *dir, int64_t now_wall_ns, struct str batch, struct str reason, size_t max_batches,
	struct err *e)
{
	char path[PATH_MAX];
	int rc = file_make_dirs(dir, 0700, e);

	/* The name sorts by time; two in one nanosecond do not happen on one thread. */
	if (rc == OK && snprintf(path, sizeof(path), "%s/%020" PRId64 ".txt", dir, now_wall_ns) >= (int)sizeof(path))
		rc = err_set(e, E_LIMIT, "%s: path too long", dir);
	if (rc == OK)
		rc = file_replace(path, reason, 0600, e);
	if (rc == OK)
		snprintf(path, sizeof(path), "%s/%020" PRId64 ".batch", dir, now_wall_ns);
	if (rc == OK)
		rc = file_replace(path, batch, 0600, e);
	if (rc == OK)
		keep_trim(dir, 2 * max_batches);
	return rc < 0 ? err_add(e, "quarantine") : OK;
}
