#include "base/crash.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/str.h"

bool crash_armed;
static struct str crash_name;
static _Atomic uint64_t crash_left;

void crash_arm(const char *value)
{
	struct str rest = str_of(value);
	uint64_t n = 1;

	if (str_empty(rest))
		return;
	crash_name = str_split(&rest, ':');
	if (rest.p != NULL && (str_to_u64(rest, &n) < 0 || n == 0))
		return;
	crash_left = n;
	crash_armed = true;
}

/* Before any thread runs: getenv is not for threads. */
static void __attribute__((constructor)) crash_arm_from_environment(void)
{
	crash_arm(getenv("TRAINSPOTTER_CRASH_AT"));
}

void crash_pass(const char *name)
{
	if (str_eq(str_of(name), crash_name) && atomic_fetch_sub(&crash_left, 1) == 1)
		raise(SIGKILL);
}
