#include "net/token.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static char *dup_trimmed(struct str s)
{
	struct str t = str_trim(s);
	char *out = mem_get(t.n + 1);

	str_copy_to(t, out, t.n + 1);
	return out;
}

int token_load(const char *file, char **out, struct err *e)
{
	const char *variable = getenv("TRAINSPOTTER_TOKEN");
	struct buf b;
	int rc;

	*out = NULL;
	if (file == NULL || file[0] == '\0') {
		if (variable != NULL && variable[0] != '\0')
			*out = dup_trimmed(str_of(variable));
		return OK;
	}
	buf_init(&b, TOKEN_MAX);
	rc = file_read_all(file, &b, e);
	if (rc == OK && str_empty(str_trim(buf_view(&b))))
		rc = err_set(e, E_USAGE, "%s: is empty, want a token", file);
	if (rc == OK)
		*out = dup_trimmed(buf_view(&b));
	buf_fini(&b);
	return rc < 0 ? rc : OK;
}
