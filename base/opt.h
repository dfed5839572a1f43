/* opt.h — command lines from tables: options, help that teaches, subcommands.
 * GNU style: -x, -x VALUE, --long, --long=VALUE, "--" ends options, options and operands in any order.
 * --help and --version are added to every program. Runs on: the main thread. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/err.h"

enum opt_type {
	OPT_FLAG,     /* bool */
	OPT_TEXT,     /* const char *, borrowed from argv */
	OPT_INT,      /* int64_t between min and max */
	OPT_DURATION, /* int64_t ns */
	OPT_SIZE,     /* int64_t bytes */
	OPT_CHOICE,   /* int64_t: index into choices */
	OPT_TEXTS,    /* struct opt_texts: may be given several times */
	OPT_TYPES
};

struct opt_texts {
	const char *v[32];
	size_t n;
};

struct opt {
	const char *name;  /* long name without dashes */
	char letter;	   /* 0 for none */
	enum opt_type type;
	size_t offset;	   /* into the struct of answers */
	int64_t min, max;  /* OPT_INT, OPT_DURATION, OPT_SIZE; 0, 0 for any */
	const char *value; /* what stands for the value in the help: "FILE"; NULL for a flag */
	const char *help;  /* one sentence */
	const char *const *choices; /* NULL-ended, OPT_CHOICE */
};

struct opt_exit {
	int status;
	const char *when; /* "all files were read" */
};

struct opt_command {
	const char *name;     /* "summarize"; the program's own name for programs without subcommands */
	const char *operands; /* "FILE…", or "" */
	const char *summary;  /* one line without a period */
	const char *detail;   /* paragraphs for --help and the manual page, filled anew; lines that start with a blank
			       * stay as they are; NULL for none */
	const char *examples; /* lines "command    what it does"; NULL for none */
	const struct opt *opts;
	size_t n_opts;
	const struct opt_exit *exits;
	size_t n_exits;
	int (*run)(int argc, char **argv); /* gets what stands after the subcommand's name; returns the exit status */
	const char *environment;	   /* lines "NAME    what it does"; NULL for none */
	const struct conf_schema *conf;	   /* keys of the configuration file, for the manual page; NULL for none */
};

struct opt_program {
	const char *name; /* "trainspotter" */
	const char *summary;
	const struct opt_command *const *commands;
	size_t n_commands;
	const char *environment; /* that all commands share, as above; NULL for none */
};

/* Reads argv (arguments only: without the program's and the subcommand's name) into answers (preset by the caller with
 * defaults). Operands are moved to the front of argv and counted in *n_operands. E_USAGE says which word was wrong and
 * what would be right. --help and --version print to standard output and exit 0 by themselves, and so does
 * --help=mdoc, which prints the manual page of a program without subcommands (section 8). */
int opt_parse(const struct opt_command *c, const char *program, int argc, char **argv, void *answers, int *n_operands,
	struct err *e) MUST_USE;

/* main() of a program with subcommands: finds it, runs it, says what is there when it is not; the exit status, 2 where
 * it was used wrongly. Knows --help, --version, "help COMMAND" and --help=mdoc (section 1). */
int opt_main(const struct opt_program *p, int argc, char **argv);

/* Prints "PROGRAM COMMAND: sentence" on standard error. */
void opt_complain(const struct opt_command *c, const char *program, const struct err *e);

void opt_help(const struct opt_command *c, const char *program, struct buf *out);
/* A whole mdoc(7) page. section: 1 or 8. */
void opt_mdoc(const struct opt_program *p, int section, struct buf *out);

#endif
