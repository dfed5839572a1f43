#include "base/opt.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/must.h"
#include "base/near.h"
#include "base/quantity.h"

enum { EXIT_USAGE = 2, PAGE_BYTES = 1 << 20, WORDS_BYTES = 400 };

struct parse { /* one command line being read */
	const struct opt_command *c;
	const char *program;
	char **argv;
	int argc, at; /* at: the next word to be read */
	void *answers;
	struct err *e;
};

/* What was printed has to have arrived: with a full disk behind it, success would be a lie. */
static int after_printing(const char *program, int status)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status == EXIT_USAGE)
		return status;
	fprintf(stderr, "%s: standard output: not all of it could be written\n", program);
	return EXIT_USAGE;
}

static void print_page(const struct buf *page)
{
	must(page->rc == OK);
	fwrite(page->p, 1, page->n, stdout);
	fflush(stdout);
}

static void print_version(const char *program)
{
	printf("%s %s\n", program, PACKAGE_VERSION);
	fflush(stdout);
}

static void print_help(const struct opt_command *c, const char *program)
{
	struct buf page;

	buf_init(&page, PAGE_BYTES);
	opt_help(c, program, &page);
	print_page(&page);
	buf_fini(&page);
}

static void print_mdoc(const struct opt_program *p, int section)
{
	struct buf page;

	buf_init(&page, PAGE_BYTES);
	opt_mdoc(p, section, &page);
	print_page(&page);
	buf_fini(&page);
}

/* The words every program knows. They end the program, so that no caller needs a case for them. */
static void obey_common_words(const struct parse *ps, struct str word, bool letter_h_taken)
{
	const struct opt_program alone = { ps->program, ps->c->summary, &ps->c, 1, NULL };

	if (str_eq(word, STR("--help=mdoc")))
		print_mdoc(&alone, 8);
	else if (str_eq(word, STR("--help")) || (str_eq(word, STR("-h")) && !letter_h_taken))
		print_help(ps->c, ps->program);
	else if (str_eq(word, STR("--version")))
		print_version(ps->program);
	else
		return;
	exit(after_printing(ps->program, 0));
}

static const struct opt *find_name(const struct opt_command *c, struct str name)
{
	for (size_t i = 0; i < c->n_opts; i++)
		if (str_eq(name, str_of(c->opts[i].name)))
			return &c->opts[i];
	return NULL;
}

static const struct opt *find_letter(const struct opt_command *c, char letter)
{
	for (size_t i = 0; i < c->n_opts; i++)
		if (c->opts[i].letter == letter)
			return &c->opts[i];
	return NULL;
}

static int wrong_value(const struct opt *o, struct str value, const struct buf *right, struct err *e)
{
	return err_set(e, E_USAGE, "--%s: \"%.*s\" is not %s", o->name, STR_ARG(value), buf_view(right).p);
}

static int take_quantity(const struct opt *o, enum quantity q, struct str value, int64_t *out, struct err *e)
{
	struct buf right;
	int rc = quantity_parse(q, value, o->min, o->max, out);

	if (rc == OK)
		return OK;
	buf_init(&right, WORDS_BYTES);
	quantity_words(q, o->min, o->max, &right);
	rc = wrong_value(o, value, &right, e);
	buf_fini(&right);
	return rc;
}

static int take_choice(const struct opt *o, struct str value, int64_t *out, struct err *e)
{
	struct near_word n;
	struct buf right;
	int rc = choice_parse(o->choices, value, out);

	if (rc == OK)
		return OK;
	buf_init(&right, WORDS_BYTES);
	choice_words(o->choices, &right);
	near_init(&n, value);
	for (size_t i = 0; o->choices[i] != NULL; i++)
		near_try(&n, o->choices[i]);
	if (near_best(&n) != NULL)
		buf_fmt(&right, "; did you mean %s?", near_best(&n));
	rc = wrong_value(o, value, &right, e);
	buf_fini(&right);
	return rc;
}

static int take_text(const struct opt *o, const char *value, struct opt_texts *out, struct err *e)
{
	if (out->n == COUNT(out->v))
		return err_set(e, E_USAGE, "--%s may be given %zu times at most", o->name, COUNT(out->v));
	out->v[out->n++] = value;
	return OK;
}

static int take_value(const struct parse *ps, const struct opt *o, const char *value)
{
	void *place = (char *)ps->answers + o->offset;

	switch (o->type) {
	case OPT_FLAG: *(bool *)place = true; return OK;
	case OPT_TEXT: *(const char **)place = value; return OK;
	case OPT_INT: return take_quantity(o, QUANTITY_NUMBER, str_of(value), place, ps->e);
	case OPT_DURATION: return take_quantity(o, QUANTITY_DURATION, str_of(value), place, ps->e);
	case OPT_SIZE: return take_quantity(o, QUANTITY_SIZE, str_of(value), place, ps->e);
	case OPT_CHOICE: return take_choice(o, str_of(value), place, ps->e);
	case OPT_TEXTS: return take_text(o, value, place, ps->e);
	case OPT_TYPES: break;
	}
	must_fail(__FILE__, __LINE__, "an option's type");
}

/* value: what stood with the option in its own word, or NULL. */
static int take_option(struct parse *ps, const struct opt *o, const char *value)
{
	if (o->type == OPT_FLAG && value != NULL)
		return err_set(ps->e, E_USAGE, "--%s takes no value, but \"%s\" was given", o->name, value);
	if (o->type != OPT_FLAG && value == NULL) {
		if (ps->at == ps->argc)
			return err_set(ps->e, E_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
				o->value == NULL ? "VALUE" : o->value);
		value = ps->argv[ps->at++];
	}
	return take_value(ps, o, value);
}

static int unknown_option(const struct parse *ps, struct str name)
{
	struct near_word n;
	const char *best;

	near_init(&n, name);
	for (size_t i = 0; i < ps->c->n_opts; i++)
		near_try(&n, ps->c->opts[i].name);
	near_try(&n, "help");
	near_try(&n, "version");
	best = near_best(&n);
	if (best != NULL)
		return err_set(ps->e, E_USAGE, "unknown option --%.*s; did you mean --%s?", STR_ARG(name), best);
	return err_set(ps->e, E_USAGE, "unknown option --%.*s; --help lists those there are", STR_ARG(name));
}

/* "--name", "--name=value"; word is without its dashes. */
static int take_long(struct parse *ps, const char *word)
{
	struct str name = str_upto(str_of(word), str_find_byte(str_of(word), '='));
	const struct opt *o = find_name(ps->c, name);

	if (o == NULL)
		return unknown_option(ps, name);
	return take_option(ps, o, word[name.n] == '=' ? word + name.n + 1 : NULL);
}

/* "-x", "-xVALUE", "-xyz" of flags; word is without its dash. */
static int take_letters(struct parse *ps, const char *word)
{
	for (; *word != '\0'; word++) {
		const struct opt *o = find_letter(ps->c, *word);
		int rc;

		if (o == NULL)
			return err_set(ps->e, E_USAGE, "unknown option -%c; --help lists those there are", *word);
		if (o->type != OPT_FLAG)
			return take_option(ps, o, word[1] != '\0' ? word + 1 : NULL);
		rc = take_option(ps, o, NULL);
		if (rc < 0)
			return rc;
	}
	return OK;
}

int opt_parse(const struct opt_command *c, const char *program, int argc, char **argv, void *answers, int *n_operands,
	struct err *e)
{
	struct parse ps = { c, program, argv, argc, 0, answers, e };
	bool options_ended = false, h_taken = find_letter(c, 'h') != NULL;
	int rc = OK;

	*n_operands = 0;
	while (rc == OK && ps.at < argc) {
		char *word = argv[ps.at++];

		if (options_ended || word[0] != '-' || word[1] == '\0') {
			argv[(*n_operands)++] = word; /* never past where we read */
			continue;
		}
		obey_common_words(&ps, str_of(word), h_taken);
		if (word[1] != '-')
			rc = take_letters(&ps, word + 1);
		else if (word[2] == '\0')
			options_ended = true;
		else
			rc = take_long(&ps, word + 2);
	}
	return rc;
}

void opt_complain(const struct opt_command *c, const char *program, const struct err *e)
{
	bool alone = strcmp(c->name, program) == 0;

	fflush(stdout);
	fprintf(stderr, "%s%s%s: %s\n", program, alone ? "" : " ", alone ? "" : c->name, e->text);
}

static const struct opt_command *find_command(const struct opt_program *p, struct str name)
{
	for (size_t i = 0; i < p->n_commands; i++)
		if (str_eq(name, str_of(p->commands[i]->name)))
			return p->commands[i];
	return NULL;
}

static void put_overview(const struct opt_program *p, FILE *out)
{
	size_t wide = 0;

	for (size_t i = 0; i < p->n_commands; i++)
		if (strlen(p->commands[i]->name) > wide)
			wide = strlen(p->commands[i]->name);
	fprintf(out, "Usage: %s COMMAND [OPTION]...\n\n%s\n\nCommands:\n", p->name, p->summary);
	for (size_t i = 0; i < p->n_commands; i++)
		fprintf(out, "  %-*s  %s\n", (int)wide, p->commands[i]->name, p->commands[i]->summary);
	fprintf(out, "\n\"%s COMMAND --help\" tells all about one of them.\n", p->name);
	fflush(out);
}

static int unknown_command(const struct opt_program *p, const char *word)
{
	struct near_word n;
	const char *best;

	near_init(&n, str_of(word));
	for (size_t i = 0; i < p->n_commands; i++)
		near_try(&n, p->commands[i]->name);
	best = near_best(&n);
	if (best != NULL)
		fprintf(stderr, "%s: no command \"%s\"; did you mean \"%s\"?\n", p->name, word, best);
	else
		fprintf(stderr, "%s: no command \"%s\"; \"%s --help\" lists those there are\n", p->name, word,
			p->name);
	return EXIT_USAGE;
}

static int help_of(const struct opt_program *p, const char *word)
{
	const struct opt_command *c = word == NULL ? NULL : find_command(p, str_of(word));

	if (word != NULL && c == NULL)
		return unknown_command(p, word);
	if (c != NULL)
		print_help(c, p->name);
	else
		put_overview(p, stdout);
	return 0;
}

static int run_command(const struct opt_program *p, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct opt_command *c = find_command(p, str_of(word));

	if (c != NULL)
		return c->run(argc - 2, argv + 2);
	if (argc < 2) {
		put_overview(p, stderr);
		return EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return help_of(p, argc > 2 ? argv[2] : NULL);
	if (strcmp(word, "--version") == 0) {
		print_version(p->name);
		return 0;
	}
	if (strcmp(word, "--help=mdoc") == 0) {
		print_mdoc(p, 1);
		return 0;
	}
	return unknown_command(p, word);
}

int opt_main(const struct opt_program *p, int argc, char **argv)
{
	return after_printing(p->name, run_command(p, argc, argv));
}
