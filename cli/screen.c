#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/code.h"
#include "base/str.h"

static bool is_set(const char *value)
{
	return value != NULL && *value != '\0';
}

bool cli_terminal(FILE *out)
{
	const char *term = getenv("TERM");

	return isatty(fileno(out)) == 1 && is_set(term) && strcmp(term, "dumb") != 0;
}

bool cli_colour(FILE *out)
{
	return cli_terminal(out) && !is_set(getenv("NO_COLOR"));
}

size_t cli_columns(FILE *out)
{
	struct winsize size = { 0 };

	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool cli_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL, *codeset;

	for (size_t i = 0; i < COUNT(names) && !is_set(locale); i++)
		locale = getenv(names[i]);
	codeset = locale == NULL ? NULL : strchr(locale, '.');
	return codeset != NULL && (strncasecmp(codeset, ".UTF-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
}

const char *cli_cut_sign(void)
{
	return cli_utf8() ? "…" : "~";
}

static const struct {
	struct str sign, plain;
} signs[] = {
	{ STR("µ"), STR("u") },	  { STR("→"), STR("->") }, { STR("…"), STR("...") },
	{ STR("–"), STR("-") },	  { STR("×"), STR("x") },
};

size_t cli_signs(const char *p, size_t n, char *out)
{
	struct str rest = { p, n };
	size_t made = 0;

	if (cli_utf8()) {
		memmove(out, p, n);
		return n;
	}
	while (rest.n > 0) {
		struct str put = str_upto(rest, 1);
		size_t taken = 1;

		for (size_t i = 0; i < COUNT(signs); i++)
			if (str_has_prefix(rest, signs[i].sign)) {
				put = signs[i].plain;
				taken = signs[i].sign.n;
			}
		memmove(out + made, put.p, put.n);
		made += put.n;
		rest = str_from(rest, taken);
	}
	return made;
}
