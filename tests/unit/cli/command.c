#include "tests/unit/cli/command.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/cli/fake_http.h"

struct buf command_out;

void command_up(void)
{
	fake_http = (struct fake_http){ .status = 200, .bodies = { "{\"items\":[],\"next\":null}" } };
	buf_init(&command_out, 1 << 20);
	unsetenv("TRAINSPOTTER_SERVER");
	unsetenv("TRAINSPOTTER_TOKEN");
	setenv("NO_COLOR", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("COLUMNS", "60", 1);
}

void command_down(void)
{
	ck_assert_uint_eq(fake_http.open, 0);
	buf_fini(&command_out);
}

int command_run(const struct opt_command *c, const char *line)
{
	char text[1000], path[] = "/tmp/test-cli-XXXXXX", *words[32];
	int fd = mkstemp(path), saved_out = dup(1), saved_err = dup(2), status, n = 0;
	struct err e = { 0 };

	snprintf(text, sizeof(text), "%s", line);
	for (char *p = text, *word; *line != '\0' && (word = strsep(&p, " ")) != NULL;) {
		words[n++] = word;
		for (char *q = word; *q != '\0'; q++)
			if (*q == '~')
				*q = ' ';
	}
	fflush(stdout);
	dup2(fd, 1);
	dup2(fd, 2);
	status = c->run(n, words);
	fflush(stdout);
	dup2(saved_out, 1);
	dup2(saved_err, 2);
	close(fd);
	close(saved_out);
	close(saved_err);
	buf_reset(&command_out);
	ck_assert_int_eq(file_read_all(path, &command_out, &e), OK);
	unlink(path);
	return status;
}

void command_says(const char *part)
{
	ck_assert_msg(strstr(buf_view(&command_out).p, part) != NULL, "no \"%s\" in:\n%s", part, buf_view(&command_out).p);
}
