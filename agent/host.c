#include "agent/host.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/enc.h"
#include "base/file.h"
#include "base/rand.h"

enum { ID_BYTES = 16 };

static int make_id(const char *path, char out[HOST_ID_TEXT], struct err *e)
{
	uint8_t id[ID_BYTES];
	char line[HOST_ID_TEXT + 1];

	rand_os_bytes(id, sizeof(id));
	enc_hex(id, sizeof(id), out);
	snprintf(line, sizeof(line), "%s\n", out);
	return file_replace(path, str_of(line), 0600, e);
}

int host_agent_id(const char *state_dir, char out[HOST_ID_TEXT], struct err *e)
{
	uint8_t id[ID_BYTES];
	char path[PATH_MAX];
	struct buf b;
	int rc;

	if (snprintf(path, sizeof(path), "%s/agent-id", state_dir) >= (int)sizeof(path))
		return err_set(e, E_LIMIT, "%s: path too long", state_dir);
	buf_init(&b, 256);
	rc = file_read_all(path, &b, e);
	if (rc == E_NOT_FOUND)
		rc = make_id(path, out, e);
	else if (rc == OK && enc_unhex(str_trim(buf_view(&b)), id, sizeof(id)) < 0)
		rc = err_set(e, E_CORRUPT, "%s: is no agent id (32 hex digits)", path);
	else if (rc == OK)
		enc_hex(id, sizeof(id), out);
	buf_fini(&b);
	return rc;
}
