/* proc_find.h — which processes have a command line like this.
 * Kernel threads and zombies have none. Runs on: any thread; reads a file for each process of the host. */
#ifndef AGENT_PROC_FIND_H
#define AGENT_PROC_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* pattern: of base/str.h's str_glob, over the words with a blank between, the first 4096 bytes of them. proc: "/proc", or a test's.
 * Neither this process nor its children count: a command may have the pattern among its words. Returns how many, max at most. */
size_t proc_find(const char *proc, const char *pattern, pid_t *out, size_t max);
/* Would it be found now? A pid may have become another process's since. */
bool proc_find_is(const char *proc, const char *pattern, pid_t pid);

#endif
