/* The two texts made from an option table: --help for a terminal, mdoc(7) for the manual. */
#include "base/opt.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mdoc.h"

enum { WIDTH = 80, HELP_MARGIN = 2, LEFT_MAX = 26 };

/* ---- splitting the texts of the tables */

/* "command    what it does" at the first run of three blanks; a line without gives an empty right side. */
static void split_pair(struct str line, struct str *left, struct str *right)
{
	size_t at = str_find(line, STR("   "));

	*left = str_trim(str_upto(line, at));
	*right = str_trim(str_from(line, at));
}

static bool is_verbatim(struct str line)
{
	return line.n > 0 && line.p[0] == ' ';
}

/* ---- --help */

struct fill { /* words set into lines of WIDTH characters */
	struct buf *out;
	size_t indent, column;
};

static void fill_word(struct fill *f, struct str word)
{
	size_t n = str_chars(word);

	if (f->column > f->indent && f->column + 1 + n > WIDTH) {
		buf_byte(f->out, '\n');
		f->column = 0;
	}
	if (f->column < f->indent) {
		buf_fill(f->out, ' ', f->indent - f->column);
		f->column = f->indent;
	} else if (f->column > f->indent) {
		buf_byte(f->out, ' ');
		f->column++;
	}
	buf_str(f->out, word);
	f->column += n;
}

static void fill_text(struct fill *f, struct str text)
{
	while (text.p != NULL) {
		struct str word = str_split(&text, ' ');

		if (word.n > 0)
			fill_word(f, word);
	}
}

static void end_line(struct fill *f)
{
	if (f->column > 0)
		buf_byte(f->out, '\n');
	f->column = 0;
}

/* Paragraphs with blank lines between them; verbatim lines end the paragraph before them. */
static void help_paragraphs(const char *text, struct buf *out)
{
	struct fill f = { out, 0, 0 };
	struct str rest = str_of(text);

	buf_byte(out, '\n');
	while (rest.p != NULL) {
		struct str line = str_split(&rest, '\n');

		if (line.n > 0 && !is_verbatim(line)) {
			fill_text(&f, line);
			continue;
		}
		end_line(&f);
		if (line.n > 0 || rest.p != NULL) {
			buf_str(out, line);
			buf_byte(out, '\n');
		}
	}
	end_line(&f);
}

/* "  left    right side, filled": the right side on a line of its own where the left is too wide. */
static void help_row(const char *left, size_t wide, struct str right, struct buf *out)
{
	struct fill f = { out, HELP_MARGIN + wide + 2, 0 };
	size_t n = str_chars(str_of(left));

	buf_fill(out, ' ', HELP_MARGIN);
	buf_text(out, left);
	f.column = HELP_MARGIN + n;
	if (n > wide)
		end_line(&f);
	fill_text(&f, right);
	end_line(&f);
}

static void option_words(const struct opt *o, char *out, size_t cap)
{
	const char *value = o->value == NULL ? "VALUE" : o->value;

	snprintf(out, cap, "%c%c%s--%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
		o->letter ? ", " : "  ", o->name, o->type == OPT_FLAG ? "" : " ", o->type == OPT_FLAG ? "" : value);
}

static void help_options(const struct opt_command *c, struct buf *out)
{
	char left[160];
	size_t wide = strlen("    --version");

	for (size_t i = 0; i < c->n_opts; i++) {
		size_t n;

		option_words(&c->opts[i], left, sizeof(left));
		n = str_chars(str_of(left));
		if (n > wide && n <= LEFT_MAX)
			wide = n;
	}
	buf_text(out, "\nOptions:\n");
	for (size_t i = 0; i < c->n_opts; i++) {
		option_words(&c->opts[i], left, sizeof(left));
		help_row(left, wide, str_of(c->opts[i].help), out);
	}
	help_row("    --help", wide, STR("Print this and exit."), out);
	help_row("    --version", wide, STR("Print the version and exit."), out);
}

static void help_examples(const char *text, struct buf *out)
{
	struct str rest = str_of(text);

	buf_text(out, "\nExamples:\n");
	while (rest.p != NULL) {
		struct str left, right, line = str_split(&rest, '\n');

		split_pair(line, &left, &right);
		if (left.n > 0)
			buf_fmt(out, "  %.*s\n", STR_ARG(left));
		if (right.n > 0)
			buf_fmt(out, "      %.*s\n", STR_ARG(right));
	}
}

static void help_environment(const char *text, struct buf *out)
{
	struct str rest = str_of(text);
	char name[80];

	buf_text(out, "\nEnvironment:\n");
	while (rest.p != NULL) {
		struct str left, right, line = str_split(&rest, '\n');

		split_pair(line, &left, &right);
		if (left.n > 0) {
			snprintf(name, sizeof(name), "%.*s", STR_ARG(left));
			help_row(name, 20, right, out);
		}
	}
}

static void help_exits(const struct opt_command *c, struct buf *out)
{
	char status[16];

	buf_text(out, "\nExit status:\n");
	for (size_t i = 0; i < c->n_exits; i++) {
		snprintf(status, sizeof(status), "%d", c->exits[i].status);
		help_row(status, 2, str_of(c->exits[i].when), out);
	}
}

/* A summary as a sentence: with a capital letter, and a period where it has no mark of its own. */
static void put_sentence(const char *summary, void (*put)(struct str, struct buf *), struct buf *out)
{
	char first = summary[0];
	struct str rest = str_of(summary + (first != '\0'));

	buf_byte(out, first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first);
	put(rest, out);
	buf_text(out, str_has_suffix(rest, STR("?")) ? "\n" : ".\n");
}

static void fill_sentence(struct str rest, struct buf *out)
{
	struct fill f = { out, 0, 1 };
	struct str word = str_split(&rest, ' '); /* goes on with the letter that is there */

	buf_str(out, word);
	f.column += str_chars(word);
	fill_text(&f, rest.p == NULL ? STR("") : rest);
}

static bool stands_alone(const struct opt_command *c, const char *program)
{
	return strcmp(c->name, program) == 0;
}

void opt_help(const struct opt_command *c, const char *program, struct buf *out)
{
	bool alone = stands_alone(c, program);

	buf_fmt(out, "Usage: %s%s%s [OPTION]...%s%s\n\n", program, alone ? "" : " ", alone ? "" : c->name,
		c->operands[0] != '\0' ? " " : "", c->operands);
	put_sentence(c->summary, fill_sentence, out);
	if (c->detail != NULL)
		help_paragraphs(c->detail, out);
	help_options(c, out);
	if (c->examples != NULL)
		help_examples(c->examples, out);
	if (c->environment != NULL)
		help_environment(c->environment, out);
	if (c->n_exits > 0)
		help_exits(c, out);
}

/* ---- mdoc(7) */

/* Each sentence on a line of its own, as mdoc wants it, so that the formatter can space them. */
static void man_sentences(struct str text, struct buf *out)
{
	size_t start = 0;

	for (size_t i = 1; i + 2 < text.n; i++) {
		bool ends = (text.p[i] == '.' || text.p[i] == '?') && text.p[i + 1] == ' ' && text.p[i - 1] != '.';

		if (!ends || text.p[i + 2] < 'A' || text.p[i + 2] > 'Z')
			continue;
		mdoc_line(str_make(text.p + start, i + 1 - start), out);
		start = i + 2;
	}
	mdoc_line(str_from(text, start), out);
}

static void man_paragraphs(const char *text, struct buf *out)
{
	struct str rest = str_of(text);
	bool verbatim = false;

	while (rest.p != NULL) {
		struct str line = str_split(&rest, '\n');

		if (is_verbatim(line) != verbatim) {
			buf_text(out, verbatim ? ".Ed\n" : ".Bd -literal\n");
			verbatim = !verbatim;
		}
		if (line.n > 0 && verbatim)
			mdoc_line(line, out);
		else if (line.n > 0)
			man_sentences(line, out);
		else if (rest.p != NULL)
			buf_text(out, ".Pp\n");
	}
	if (verbatim)
		buf_text(out, ".Ed\n");
}

static void man_option(const struct opt *o, struct buf *out)
{
	buf_text(out, ".It");
	if (o->letter)
		buf_fmt(out, " Fl %c ,", o->letter);
	buf_text(out, " Fl \\-");
	mdoc_text(str_of(o->name), out);
	if (o->type != OPT_FLAG) {
		buf_text(out, " Ar ");
		mdoc_text(str_of(o->value == NULL ? "VALUE" : o->value), out);
	}
	buf_byte(out, '\n');
	mdoc_line(str_of(o->help), out);
}

static void man_options(const struct opt_command *c, struct buf *out)
{
	buf_text(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < c->n_opts; i++)
		man_option(&c->opts[i], out);
	buf_text(out, ".It Fl \\-help\nPrint a summary and exit.\n.It Fl \\-version\nPrint the version and exit.\n.El\n");
}

static void man_exits(const struct opt_command *c, struct buf *out)
{
	if (c->n_exits == 0)
		return;
	buf_text(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < c->n_exits; i++) {
		buf_fmt(out, ".It %d\n", c->exits[i].status);
		mdoc_line(str_of(c->exits[i].when), out);
	}
	buf_text(out, ".El\n");
}

/* Pairs as a tagged list: of examples (literal) or of the environment (Ev). */
static void man_pairs(const char *text, const char *macro, struct buf *out)
{
	struct str rest = str_of(text);

	buf_text(out, ".Bl -tag -width Ds\n");
	while (rest.p != NULL) {
		struct str left, right, line = str_split(&rest, '\n');

		split_pair(line, &left, &right);
		if (left.n > 0) {
			buf_fmt(out, ".It %s ", macro);
			mdoc_line(left, out);
		}
		if (right.n > 0)
			mdoc_line(right, out);
	}
	buf_text(out, ".El\n");
}

static void man_synopsis(const struct opt_command *c, bool alone, struct buf *out)
{
	buf_text(out, ".Nm\n");
	if (!alone)
		buf_fmt(out, ".Cm %s\n", c->name);
	buf_text(out, ".Op Ar option ...\n");
	if (c->operands[0] != '\0') {
		buf_text(out, ".Ar ");
		mdoc_line(str_of(c->operands), out);
	}
}

static void man_command(const struct opt_command *c, struct buf *out)
{
	buf_fmt(out, ".Ss %s\n", c->name);
	man_synopsis(c, false, out);
	buf_text(out, ".Pp\n");
	put_sentence(c->summary, mdoc_text, out);
	if (c->detail != NULL) {
		buf_text(out, ".Pp\n");
		man_paragraphs(c->detail, out);
	}
	man_options(c, out);
	if (c->examples != NULL) {
		buf_text(out, ".Pp\nExamples:\n");
		man_pairs(c->examples, "Li", out);
	}
	if (c->n_exits > 0) {
		buf_text(out, ".Pp\nExit status:\n");
		man_exits(c, out);
	}
}

/* The date of a page is that of its source where the build says so (SOURCE_DATE_EPOCH), else of its making. */
static void man_head(const struct opt_program *p, int section, struct buf *out)
{
	static const char *const months[] = { "January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December" };
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	int64_t now = clock_wall_ns(), at = now;
	time_t sec;
	struct tm tm;

	if (epoch == NULL || clock_parse(str_of(epoch), now, &at) < 0)
		at = now;
	sec = (time_t)(at / NS_PER_S);
	gmtime_r(&sec, &tm);
	buf_fmt(out, ".Dd %s %d, %d\n.Dt ", months[tm.tm_mon], tm.tm_mday, tm.tm_year + 1900);
	for (const char *c = p->name; *c != '\0'; c++)
		buf_byte(out, *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	buf_fmt(out, " %d\n.Os %s %s\n.Sh NAME\n.Nm %s\n.Nd ", section, PACKAGE_NAME, PACKAGE_VERSION, p->name);
	mdoc_line(str_of(p->summary), out);
}

static void man_alone(const struct opt_command *c, struct buf *out)
{
	buf_text(out, ".Sh DESCRIPTION\n");
	man_paragraphs(c->detail == NULL ? c->summary : c->detail, out);
	buf_text(out, ".Pp\nThe options are:\n");
	man_options(c, out);
	if (c->conf != NULL) {
		buf_text(out, ".Sh CONFIGURATION\n"
			      "The file is YAML.\nA period in a key stands for a mapping in a mapping.\n");
		conf_mdoc(c->conf, out);
	}
	if (c->environment != NULL) {
		buf_text(out, ".Sh ENVIRONMENT\n");
		man_pairs(c->environment, "Ev", out);
	}
	if (c->n_exits > 0) {
		buf_text(out, ".Sh EXIT STATUS\n");
		man_exits(c, out);
	}
	if (c->examples != NULL) {
		buf_text(out, ".Sh EXAMPLES\n");
		man_pairs(c->examples, "Li", out);
	}
}

void opt_mdoc(const struct opt_program *p, int section, struct buf *out)
{
	bool alone = p->n_commands == 1 && stands_alone(p->commands[0], p->name);

	man_head(p, section, out);
	buf_text(out, ".Sh SYNOPSIS\n");
	if (alone) {
		man_synopsis(p->commands[0], true, out);
		man_alone(p->commands[0], out);
		return;
	}
	buf_text(out, ".Nm\n.Ar command\n.Op Ar option ...\n.Op Ar operand ...\n.Sh DESCRIPTION\nThe commands are:\n");
	for (size_t i = 0; i < p->n_commands; i++)
		man_command(p->commands[i], out);
	if (p->environment != NULL) {
		buf_text(out, ".Sh ENVIRONMENT\n");
		man_pairs(p->environment, "Ev", out);
	}
}
