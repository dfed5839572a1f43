#include "agent/exec_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/guard.h"
#include "agent/keep.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/tree.h"

enum { WORDS_BYTES = 16 << 20, SAID_MAX = 64 << 10, ENV_MAX = 4096 };

static const int64_t watch_every_ns = 250 * NS_PER_MS;

static const struct {
	const char *word, *cure; /* NULL: nothing is wrong */
} ends[] = {
	[EXEC_TAKEN] = { "taken", NULL },
	[EXEC_EMPTY] = { "empty", "no ops in the window: was there work; raise capture.duration" },
	[EXEC_BAD] = { "bad", "its trace cannot be read; decode.keep keeps such folders to be looked at" },
	[EXEC_NOTHING] = { "nothing", "the command left no trace in {dir} (TRAINSPOTTER_OUTPUT_DIR): does it write elsewhere" },
	[EXEC_UNDECODED] = { "undecoded", NULL }, /* the decoder's own cure stands in its place */
	[EXEC_FAILED] = { "failed", "run the command by hand; it runs as the agent's user, with an empty input" },
	[EXEC_TIMEOUT] = { "timeout", "raise the command's limit, or lower capture.duration" },
	[EXEC_TOO_LARGE] = { "too_large", "raise the command's max_output, lower capture.duration, or make room on the disk" },
	[EXEC_NO_PROGRAM] = { "no_program", "write the program's whole path, and see that it may be run" },
	[EXEC_NO_FOLDER] = { "no_folder", "state_dir must be there, writable, and not full" },
	[EXEC_LOST] = { "lost", "the agent was ended while the command ran; its folder was removed, the next slot comes" },
	[EXEC_CUT] = { "cut", NULL },
};
_Static_assert(COUNT(ends) == EXEC_ENDS, "name every end");

const char *exec_end_word(enum exec_end end)
{
	return ends[end].word;
}

const char *exec_end_cure(enum exec_end end)
{
	return ends[end].cure;
}

static void run_ends(struct exec_run *r, enum exec_end end, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void run_ends(struct exec_run *r, enum exec_end end, const char *fmt, ...)
{
	va_list args;

	r->end = end;
	va_start(args, fmt);
	vsnprintf(r->why, sizeof(r->why), fmt, args);
	va_end(args);
}

/* ---- what it is started with */

static struct str number(struct arena *a, int64_t n)
{
	return arena_fmt(a, "%" PRId64, n);
}

struct str exec_word(struct arena *a, const struct exec_run *r, const char *out_dir, struct str word)
{
	const struct {
		struct str name, value;
	} places[] = {
		{ STR("{dir}"), str_of(out_dir) },
		{ STR("{duration_ms}"), number(a, r->duration_ns / NS_PER_MS) },
		{ STR("{iterations}"), number(a, r->iterations) },
		{ STR("{pid}"), number(a, r->pid) },
	};
	struct buf b;
	struct str made;

	buf_init(&b, WORDS_BYTES);
	while (!str_empty(word)) {
		size_t i = 0;

		while (i < COUNT(places) && !str_drop_prefix(&word, places[i].name))
			i++;
		if (i < COUNT(places)) {
			buf_str(&b, places[i].value);
		} else {
			buf_byte(&b, word.p[0]);
			word = str_from(word, 1);
		}
	}
	made = arena_str(a, buf_view(&b));
	buf_fini(&b);
	return made;
}

static const char *const *make_argv(struct arena *a, const struct exec_run *r, const char *out_dir)
{
	const struct conf_texts *words = &r->command->command;
	const char **argv = arena_get_array(a, words->n + 1, sizeof(*argv));

	for (size_t i = 0; argv != NULL && i < words->n; i++)
		argv[i] = exec_word(a, r, out_dir, str_of(words->v[i])).p;
	return argv;
}

/* Ours goes along but for what is between us and systemd or the daemon. */
static bool is_private(const char *variable)
{
	static const char *const names[] = { "TRAINSPOTTER_", "NOTIFY_SOCKET=", "WATCHDOG_", "JOURNAL_STREAM=", "INVOCATION_ID=" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_has_prefix(str_of(variable), str_of(names[i])))
			return true;
	return false;
}

static const char *const *make_env(struct arena *a, const struct exec_run *r, const char *out_dir)
{
	extern char **environ;
	const char **env = arena_get_array(a, ENV_MAX + 8, sizeof(*env));
	size_t n = 0;

	if (env == NULL)
		return NULL;
	for (char **v = environ; *v != NULL && n < ENV_MAX; v++)
		if (!is_private(*v))
			env[n++] = *v;
	env[n++] = arena_fmt(a, "TRAINSPOTTER_OUTPUT_DIR=%s", out_dir).p;
	env[n++] = arena_fmt(a, "TRAINSPOTTER_DURATION_MS=%" PRId64, r->duration_ns / NS_PER_MS).p;
	env[n++] = arena_fmt(a, "TRAINSPOTTER_ITERATIONS=%" PRId64, r->iterations).p;
	if (r->pid > 0)
		env[n++] = arena_fmt(a, "TRAINSPOTTER_PID=%d", (int)r->pid).p;
	return env;
}

/* ---- the command */

static bool path_in(const struct exec_run *r, const char *name, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/%s", r->dir, name) < PATH_MAX;
}

static void judge(struct exec_run *r, const struct child_end *end, struct guard *g, const struct buf *said, const struct buf *out)
{
	char line[200];
	struct str last = str_upto(str_last_line(buf_view(said->n > 0 ? said : out)), sizeof(line));

	last = str_make(line, str_tame(last.p, last.n, line));
	guard_holds(g); /* also where the ceiling of a file stopped it first */
	if (end->stopped)
		run_ends(r, EXEC_CUT, "the agent ends");
	else if (g->low)
		run_ends(r, EXEC_TOO_LARGE, "the disk of %s is nearly full", g->dir);
	else if (g->over)
		run_ends(r, EXEC_TOO_LARGE, "it wrote %" PRIu64 " bytes or more", g->max_bytes);
	else if (end->timed_out)
		run_ends(r, EXEC_TIMEOUT, "it did not end in time: %.*s", STR_ARG(last));
	else if (!end->exited)
		run_ends(r, EXEC_FAILED, "ended by signal %d: %.*s", end->signal, STR_ARG(last));
	else if (end->status != 0)
		run_ends(r, EXEC_FAILED, "ended with status %d: %.*s", end->status, STR_ARG(last));
	else
		run_ends(r, EXEC_TAKEN, "%s", "");
}

static void run_in(struct exec_run *r, struct thread *t, struct arena *a, const char *out_dir)
{
	struct guard g = { .dir = out_dir, .max_bytes = (uint64_t)r->command->max_output };
	const struct child_settings s = {
		.argv = make_argv(a, r, out_dir),
		.env = make_env(a, r, out_dir),
		.dir = out_dir,
		.nice = (int)r->command->nice,
		.io_idle = true,
		.memory_bytes = (uint64_t)r->command->memory,
		.file_bytes = g.max_bytes,
		.go_on = guard_holds,
		.go_on_arg = &g,
		.go_on_ns = watch_every_ns,
	};
	struct buf out, said;
	struct child_end end;
	struct err e = { 0 };

	if (arena_full(a) || s.argv == NULL || s.env == NULL) {
		run_ends(r, EXEC_NO_PROGRAM, "its words do not fit into %d bytes", WORDS_BYTES);
		return;
	}
	buf_init(&out, SAID_MAX);
	buf_init(&said, SAID_MAX);
	if (child_run(&s, r->duration_ns + r->command->limit_ns, t, &out, &said, &end, &e) < 0)
		run_ends(r, EXEC_NO_PROGRAM, "%s", e.text);
	else
		judge(r, &end, &g, &said, &out);
	buf_fini(&out);
	buf_fini(&said);
}

/* Whose windows these are, for the next agent; a name has no line feed in it (worker_is_name). */
static int put_ended(const struct exec_run *r, struct err *e)
{
	char path[PATH_MAX], text[3 * WORKER_TEXT + 4];

	if (!path_in(r, "ended", path))
		return err_set(e, E_LIMIT, "%s: path too long", r->dir);
	snprintf(text, sizeof(text), "%s\n%s\n%s\n", r->service, r->deploy, r->worker);
	return file_replace(path, str_of(text), 0600, e);
}

static void run_command(struct exec_run *r, struct thread *t)
{
	char out_dir[PATH_MAX];
	struct err e = { 0 };
	struct arena a;

	if (!path_in(r, "out", out_dir) || file_make_dirs(out_dir, 0700, &e) < 0) {
		run_ends(r, EXEC_NO_FOLDER, "%s", e.text);
		return;
	}
	arena_init(&a, WORDS_BYTES);
	run_in(r, t, &a, out_dir);
	arena_fini(&a);
	crash_point("exec.ran");
	if (r->end == EXEC_TAKEN && put_ended(r, &e) < 0)
		run_ends(r, EXEC_NO_FOLDER, "%s", e.text);
	crash_point("exec.ended");
}

/* ---- what it left */

static size_t make_labels(const struct exec_run *r, struct label labels[EXEC_LABELS_MAX], char pid[16])
{
	size_t n = identity_labels(&r->identity, labels);

	labels[n++] = (struct label){ STR("command"), str_of(r->command->name) };
	if (r->pid > 0) {
		snprintf(pid, 16, "%d", (int)r->pid);
		labels[n++] = (struct label){ STR("pid"), str_of(pid) };
	}
	return n;
}

static void harvest(struct exec_run *r, struct thread *t)
{
	struct label labels[EXEC_LABELS_MAX];
	char out_dir[PATH_MAX], pid[16];
	const struct harvest_settings s = {
		.decode = r->command->decode ? &r->shared->decode : NULL,
		.service = r->service,
		.deploy = r->deploy,
		.worker = r->worker,
		.labels = labels,
		.n_labels = make_labels(r, labels, pid),
	};
	struct err e = { 0 };
	int rc = path_in(r, "out", out_dir) ? harvest_make(&r->harvest, &s, out_dir, r->dir, t, &e) : E_LIMIT;

	if (rc == E_STOPPED)
		run_ends(r, EXEC_CUT, "%s", e.text);
	else if (rc < 0)
		run_ends(r, EXEC_NO_FOLDER, "%s", e.text);
}

/* ---- its folder's end */

static int keep(const struct exec_run *r, struct err *e)
{
	char dir[PATH_MAX];
	int rc;

	if (snprintf(dir, sizeof(dir), "%s/kept", r->shared->dir) >= PATH_MAX)
		return err_set(e, E_LIMIT, "%s: path too long", r->dir);
	rc = keep_move(r->dir, dir, "", e);
	if (rc == OK)
		keep_trim_folders(dir, r->shared->keep, NULL);
	return rc;
}

static void clean(struct exec_run *r)
{
	struct err e = { 0 };
	bool kept = r->shared->keep > 0 && r->end != EXEC_LOST && keep(r, &e) == OK;

	if (!kept && tree_remove(r->dir, &e) < 0)
		log_error("exec.stuck", "dir=\"%s\" err=\"%s\"", r->dir, e.text);
	crash_point("exec.cleaned");
}

/* ---- as an errand */

static void run_phase(struct errand *er, struct thread *t)
{
	struct exec_run *r = (struct exec_run *)er;

	switch (r->phase) {
	case EXEC_COMMAND: run_command(r, t); break;
	case EXEC_HARVEST: harvest(r, t); break;
	case EXEC_CLEANING: clean(r); break;
	case EXEC_READING: must(false && "nothing to wait for while traces are read");
	}
}

static void free_phase(struct errand *er)
{
	exec_run_free((struct exec_run *)er);
}

struct exec_run *exec_run_new(const struct exec_shared *shared, const struct exec_command_conf *command, uint64_t id)
{
	struct exec_run *r = mem_get(sizeof(*r));

	r->errand = (struct errand){ run_phase, free_phase };
	r->shared = shared;
	r->command = command;
	r->id = id;
	return r;
}

void exec_run_free(struct exec_run *r)
{
	if (r == NULL)
		return;
	harvest_free(r->harvest);
	mem_free(r);
}

bool exec_run_adopt(struct exec_run *r, const char *dir)
{
	char path[PATH_MAX];
	struct str rest;
	struct buf b;
	bool good;

	buf_init(&b, 4 * WORKER_TEXT);
	good = str_copy_to(str_of(dir), r->dir, sizeof(r->dir)) && path_in(r, "ended", path) &&
	       file_read_regular(path, &b, NULL) == OK;
	rest = buf_view(&b);
	good = good && str_copy_to(str_split(&rest, '\n'), r->service, sizeof(r->service)) &&
	       str_copy_to(str_split(&rest, '\n'), r->deploy, sizeof(r->deploy)) &&
	       str_copy_to(str_split(&rest, '\n'), r->worker, sizeof(r->worker));
	buf_fini(&b);
	r->adopted = true;
	r->phase = good ? EXEC_HARVEST : EXEC_CLEANING;
	r->end = good ? EXEC_TAKEN : EXEC_LOST;
	return good;
}
