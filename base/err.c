#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/str.h"

static const struct {
	int code;
	const char *name;
} names[] = {
	{ OK, "ok" },
	{ E_SYS, "system" },
	{ E_NOMEM, "no-memory" },
	{ E_LIMIT, "limit" },
	{ E_FORMAT, "format" },
	{ E_USAGE, "usage" },
	{ E_NOT_FOUND, "not-found" },
	{ E_EXISTS, "exists" },
	{ E_FULL, "disk-full" },
	{ E_BUSY, "busy" },
	{ E_DENIED, "denied" },
	{ E_NET, "network" },
	{ E_CORRUPT, "corrupt" },
	{ E_UNSUPPORTED, "unsupported" },
	{ E_STOPPED, "stopped" },
};

const char *code_name(int code)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (names[i].code == code)
			return names[i].name;
	return "unknown";
}

/* A sentence is one line, whatever file names and texts from outside are in it. */
static void tame(struct err *e)
{
	e->text[str_tame(e->text, strlen(e->text), e->text)] = '\0';
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	must(code < 0);
	if (e == NULL)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	tame(e);
	return code;
}

int err_add(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->text)];
	va_list ap;
	int n;

	if (e == NULL)
		return E_SYS;
	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->text)) {
		struct str rest = str_of(old);

		n += snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": ");
		if ((size_t)n < sizeof(e->text))
			str_copy_to(rest, e->text + n, sizeof(e->text) - (size_t)n); /* cut where it does not fit */
	}
	tame(e);
	return e->code;
}

static int code_of_errno(int sys)
{
	switch (sys) {
	case ENOSPC:
	case EDQUOT: return E_FULL;
	case ENOENT: return E_NOT_FOUND;
	case EACCES:
	case EPERM: return E_DENIED;
	default: return E_SYS;
	}
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int sys = errno, code = code_of_errno(sys);
	va_list ap;
	int n;

	if (e == NULL)
		return code;
	e->code = code;
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - (size_t)n, ": %s", strerror(sys));
	tame(e);
	errno = sys;
	return code;
}

void err_clear(struct err *e)
{
	if (e == NULL)
		return;
	e->code = OK;
	e->text[0] = '\0';
}
