/* Runs a fuzz target over its committed inputs, each one a TAP test: fuzz_json takes tests/fuzz/corpus/json. Files and
 * folders to take instead may be named on the command line. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

enum { PATH_ROOM = 4096 };

static unsigned number;

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf bytes;
	struct err e = { 0 };
	uint8_t *copy;

	buf_init(&bytes, 64 << 20);
	number++;
	if (file_read_all(path, &bytes, &e) != OK) {
		printf("not ok %u - %s\n", number, e.text);
	} else {
		/* exactly as large as the input: a byte too far is seen by sanitizers */
		copy = mem_dup(bytes.p, bytes.n);
		LLVMFuzzerTestOneInput(copy, bytes.n);
		mem_free(copy);
		printf("ok %u - %s\n", number, slash == NULL ? path : slash + 1);
	}
	fflush(stdout);
	buf_fini(&bytes);
}

static void replay(const char *path)
{
	struct dirent **entries;
	char file[PATH_ROOM];
	int n = scandir(path, &entries, not_hidden, alphasort);

	if (n < 0) {
		replay_file(path);
		return;
	}
	for (int i = 0; i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		replay_file(file);
		free(entries[i]);
	}
	free(entries);
}

static void replay_corpus(const char *program)
{
	const char *name = strstr(program, "fuzz_"), *top = getenv("srcdir"), *next;
	char folder[PATH_ROOM];

	while (name != NULL && (next = strstr(name + 1, "fuzz_")) != NULL)
		name = next;
	snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", top == NULL ? "." : top,
		name == NULL ? "" : name + strlen("fuzz_"));
	replay(folder);
}

int main(int argc, char **argv)
{
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	printf("ok %u - nothing\n", ++number);
	if (argc < 2)
		replay_corpus(argv[0]);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("1..%u\n", number);
	return 0;
}
