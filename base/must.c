#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

static void (*fail_hook)(void);

void must_on_fail(void (*hook)(void))
{
	fail_hook = hook;
}

void must_fail(const char *file, int line, const char *cond)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, cond);
	if (fail_hook != NULL)
		fail_hook();
	abort();
}
