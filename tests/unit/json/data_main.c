/* Real traces and damaged ones, cut at every byte: the whole file byte by byte, its first 2,500 bytes at each offset.
 * They are found in $TRAINSPOTTER_TEST_DATA/kineto; without it everything here is skipped. Prints TAP. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "tests/unit/json/cuts.h"

enum { STRETCH = 2500 };

static const char *const real_files[] = {
	"cases/01-unescaped-quote-and-newline.json",
	"cases/08-ts-as-string-19-digits.json",
	"cases/16-empty-object-event.json",
	"cases/17-top-level-array-no-bracket.json",
	"malformed/trailing_comma.json",
	"malformed/unterminated_array.json",
	"malformed/bad_backslash.json",
	"malformed/control_char.json",
	"malformed/invalid_utf8.json",
	"malformed/unescaped_quote_newline.json",
	"made_here/libkineto_ondemand_iter_24646.pt.trace.json",
};

static bool file_alike(const char *path, struct buf *why)
{
	struct buf text;
	struct err e = { 0 };
	bool good = false;

	buf_init(&text, 1 << 20);
	if (file_read_all(path, &text, &e) == OK)
		good = cuts_alike(buf_view(&text), 0, 0, why) &&
			cuts_alike(str_upto(buf_view(&text), STRETCH), 0, text.n < STRETCH ? text.n : STRETCH,
				why);
	else
		buf_text(why, e.text);
	buf_fini(&text);
	return good;
}

static bool check_file(unsigned number, const char *folder, const char *name)
{
	char path[4096];
	struct buf why;
	bool good;

	buf_init(&why, 1 << 20);
	snprintf(path, sizeof(path), "%s/kineto/%s", folder, name);
	good = file_alike(path, &why);
	printf("%s %u - %s gives the same tokens however it is cut\n", good ? "ok" : "not ok", number, name);
	for (struct str rest = buf_view(&why); !good && rest.p != NULL;) {
		struct str line = str_split(&rest, '\n');

		printf("# %.*s\n", STR_ARG(line));
	}
	fflush(stdout);
	buf_fini(&why);
	return good;
}

int main(void)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");
	unsigned failed = 0;

	if (data == NULL || data[0] == '\0') {
		printf("1..0 # SKIP TRAINSPOTTER_TEST_DATA is not set: real traces are not at hand\n");
		return 0;
	}
	printf("1..%zu\n", COUNT(real_files));
	for (size_t i = 0; i < COUNT(real_files); i++)
		failed += !check_file((unsigned)i + 1, data, real_files[i]);
	return failed == 0 ? 0 : 1;
}
