#include "agent/decode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/guard.h"
#include "agent/options.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/must.h"
#include "base/tree.h"
#include "trace/probe.h"
#include "trace/sidecar.h"

#define NEURON_DIR "/opt/aws/neuron/bin"

enum { SESSION_FILES_MAX = 10000, NAMES_MAX = 1000, SAID_MAX = 256 << 10, ARGS_MAX = 24, DECODE_NICE = 19 };

static const int64_t version_limit_ns = 20 * NS_PER_S, watch_every_ns = 300 * NS_PER_MS, lock_wait_ns = NS_PER_HOUR;
static const struct {
	const char *word, *cure; /* NULL: nothing is wrong */
} ends[] = {
	[DECODE_TAKEN] = { "taken", NULL },
	[DECODE_NOTHING] = { "nothing", "nothing was captured that is wanted: was there work in the window; decode.system, "
		"decode.summary and decode.device say what is wanted" },
	[DECODE_INCOMPLETE] = { "incomplete", "no trace_info.pb: the profiler did not finish writing; did the job end, is its "
		"disk full" },
	[DECODE_NO_PROGRAM] = { "no_program", "install aws-neuronx-tools, or say with decode.program where neuron-explorer is" },
	[DECODE_FAILED] = { "failed", "run the command by hand on the session's folder; a decoder older than the runtime "
		"refuses its files; decode.memory may be too small" },
	[DECODE_TIMEOUT] = { "timeout", "take shorter windows, fewer cores, or raise decode.limit" },
	[DECODE_TOO_LARGE] = { "too_large", "take shorter windows, fewer cores, or raise decode.max_input or "
		"decode.max_output" },
	[DECODE_UNWRITTEN] = { "unwritten", "the decoder left no JSON that is known here: is it a newer version; see "
		"doc/capture.md" },
	[DECODE_STOPPED] = { "stopped", NULL },
};
_Static_assert(COUNT(ends) == DECODE_ENDS, "name every end");

const char *decode_end_word(enum decode_end end)
{
	return ends[end].word;
}

const char *decode_end_cure(enum decode_end end)
{
	return ends[end].cure;
}

struct decode_settings decode_settings_of(const struct decode_conf *cf, const char *lock)
{
	return (struct decode_settings){
		.program = cf->program,
		.want_system = cf->want_system,
		.want_summary = cf->want_summary,
		.want_device = cf->want_device,
		.input_max_bytes = (uint64_t)cf->max_input,
		.output_max_bytes = (uint64_t)cf->max_output,
		.memory_bytes = (uint64_t)cf->memory,
		.limit_ns = cf->limit_ns,
		.lock = lock,
	};
}

/* ---- the decoder */

struct work {
	const struct decode_settings *set;
	const struct session *session;
	struct thread *thread;
	struct decode_result *result;
	int64_t deadline_ns; /* mono */
	char dir[PATH_MAX];  /* of ours, and the decoder's home */
	char out[PATH_MAX];  /* where JSON is gathered until all is there */
	char program[PATH_MAX];
	bool is_old; /* neuron-profile: knows neither --data-path nor --display-name here */
	bool has_system;
	struct guard guard; /* of dir */
};

static enum decode_end ended(struct work *w, enum decode_end end, const char *fmt, ...) PRINTF_LIKE(3, 4);
static enum decode_end ended(struct work *w, enum decode_end end, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->result->why, sizeof(w->result->why), fmt, args);
	va_end(args);
	return end;
}

static struct str last_words(const struct buf *b, char out[200])
{
	struct str last = str_upto(str_last_line(buf_view(b)), 200);

	return str_make(out, str_tame(last.p, last.n, out));
}

static struct str first_line(const struct buf *b)
{
	struct str rest = str_trim(buf_view(b));

	return str_trim(str_split(&rest, '\n'));
}

/* Nothing of our own environment goes along, which may hold a token. GOMAXPROCS: its messages are those of a Go program, and those
 * take every core that they see. */
struct decoder_env {
	char home[PATH_MAX + 8], tmp[PATH_MAX + 8], path[PATH_MAX + 8];
	const char *v[8];
};

static void make_env(const struct work *w, struct decoder_env *env)
{
	const char *path = getenv("PATH");

	snprintf(env->home, sizeof(env->home), "HOME=%s", w->dir);
	snprintf(env->tmp, sizeof(env->tmp), "TMPDIR=%s", w->dir);
	snprintf(env->path, sizeof(env->path), "PATH=%.*s:" NEURON_DIR, PATH_MAX - 64, path == NULL ? "/usr/bin:/bin" : path);
	memcpy(env->v, (const char *[]){ env->home, env->tmp, env->path, "LANG=C.UTF-8", "GOMAXPROCS=2", NULL },
		6 * sizeof(env->v[0]));
}

static int run(struct work *w, const char *const *argv, const char *dir, int64_t limit_ns, struct buf *out, struct buf *said,
	struct child_end *end, struct err *e)
{
	struct decoder_env env;
	const struct child_settings s = {
		.argv = argv,
		.env = env.v,
		.dir = dir,
		.nice = DECODE_NICE,
		.io_idle = true,
		.memory_bytes = w->set->memory_bytes,
		.file_bytes = w->set->output_max_bytes,
		.go_on = guard_holds,
		.go_on_arg = &w->guard,
		.go_on_ns = watch_every_ns,
	};

	make_env(w, &env);
	return child_run(&s, limit_ns, w->thread, out, said, end, e);
}

/* ---- which program */

static const char *const programs[] = { "neuron-explorer", NEURON_DIR "/neuron-explorer", "neuron-profile",
	NEURON_DIR "/neuron-profile" };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* Asked each time: it may have been upgraded meanwhile, and decoding takes so much longer. */
static int try_program(struct work *w, const char *program, struct err *e)
{
	const char *const argv[] = { program, "--version", NULL };
	struct buf out, said;
	struct child_end end;
	int rc;

	buf_init(&out, SAID_MAX);
	buf_init(&said, SAID_MAX);
	rc = run(w, argv, w->dir, version_limit_ns, &out, &said, &end, e);
	if (rc == OK) {
		struct str v = first_line(out.n > 0 ? &out : &said);
		size_t n = str_tame(v.p, v.n < DECODE_VERSION_TEXT - 1 ? v.n : DECODE_VERSION_TEXT - 1, w->result->version);

		w->result->version[end.exited && end.status == 0 ? n : 0] = '\0';
		snprintf(w->result->program, sizeof(w->result->program), "%.63s", base_name(program));
		snprintf(w->program, sizeof(w->program), "%s", program);
		w->is_old = strstr(base_name(program), "neuron-profile") != NULL;
	}
	buf_fini(&out);
	buf_fini(&said);
	return rc;
}

static enum decode_end find_program(struct work *w)
{
	struct err e = { 0 };
	int rc = E_NOT_FOUND;

	if (w->set->program != NULL && w->set->program[0] != '\0')
		rc = try_program(w, w->set->program, &e);
	else
		for (size_t i = 0; rc == E_NOT_FOUND && i < COUNT(programs); i++)
			rc = try_program(w, programs[i], &e);
	if (rc == E_NOT_FOUND && (w->set->program == NULL || w->set->program[0] == '\0'))
		return ended(w, DECODE_NO_PROGRAM, "neither neuron-explorer nor neuron-profile in PATH or " NEURON_DIR);
	return rc == OK ? DECODE_TAKEN : ended(w, DECODE_NO_PROGRAM, "%s", e.text);
}

/* ---- one run of it: one kind of output */

enum step { STEP_SYSTEM, STEP_SUMMARY, STEP_DEVICE, STEPS };

static const struct {
	const char *name, *format, *leave_out;
} steps[] = {
	[STEP_SYSTEM] = { "system", "json", "--ignore-device-profile" },
	[STEP_SUMMARY] = { "summary", "summary-json", "--ignore-system-profile" },
	[STEP_DEVICE] = { "device", "json", "--ignore-system-profile" },
};
_Static_assert(COUNT(steps) == STEPS, "describe every run");

bool decode_is_device(const char *file_name)
{
	return !str_has_prefix(str_of(file_name), STR("system-"));
}

/* device has all that summary has. */
static bool is_wanted(const struct work *w, enum step step)
{
	const struct session *s = w->session;
	bool has_device = s->n_ntff > 0 && s->n_neff > 0;

	switch (step) {
	case STEP_SYSTEM: return w->set->want_system && s->has_system;
	case STEP_SUMMARY: return w->set->want_summary && !w->set->want_device && has_device;
	case STEP_DEVICE: return w->set->want_device && has_device;
	case STEPS: break;
	}
	return false;
}

/* A summary and a device profile have no wall clock: they are of when the session's files were written. */
static int put_sidecar(const char *json, const struct session *s, struct err *e)
{
	char path[PATH_MAX], text[64];

	if (snprintf(path, sizeof(path), "%s" SIDECAR_SUFFIX, json) >= PATH_MAX)
		return err_set(e, E_LIMIT, "%s: path too long", json);
	snprintf(text, sizeof(text), "{\"start_ns\":%" PRId64 "}\n", s->first_ns);
	return file_replace(path, str_of(text), 0600, e);
}

static bool is_profile(const char *path)
{
	char head[PROBE_BYTES];
	int fd = file_open_regular(path, NULL);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (fd >= 0)
		close(fd);
	return n > 0 && probe_is_neuron(probe_kind(str_make(head, (size_t)n), str_of(path)));
}

static bool is_json(const char *name)
{
	return name[0] != '.' && str_has_suffix(str_of(name), STR(".json"));
}

static int gather_one(struct work *w, enum step step, const char *from, struct err *e)
{
	char to[PATH_MAX];
	int rc = OK;

	if (!is_profile(from))
		return OK;
	if (snprintf(to, sizeof(to), "%s/%s-%u.json", w->out, steps[step].name, w->result->files) >= PATH_MAX)
		return err_set(e, E_LIMIT, "%s: path too long", w->out);
	if (step != STEP_SYSTEM)
		rc = put_sidecar(to, w->session, e);
	if (rc == OK && rename(from, to) < 0)
		rc = err_sys(e, "%s: rename", from);
	w->result->files += rc == OK;
	w->has_system = w->has_system || (rc == OK && step == STEP_SYSTEM);
	return rc;
}

/* Whatever it is called: profiles of models get names with a number of their own. */
static enum decode_end gather(struct work *w, enum step step, const char *dir)
{
	unsigned before = w->result->files;
	struct tree_names names;
	struct err e = { 0 };
	int rc = OK;

	(void)tree_list(dir, is_json, NAMES_MAX, &names);
	vec_each(name, &names) {
		char path[PATH_MAX];

		if (rc == OK && snprintf(path, sizeof(path), "%s/%s", dir, *name) < PATH_MAX)
			rc = gather_one(w, step, path, &e);
	}
	tree_names_fini(&names);
	if (rc < 0)
		return ended(w, DECODE_FAILED, "%s", e.text);
	if (w->result->files == before)
		return ended(w, DECODE_UNWRITTEN, "%s ended well and left no %s profile as JSON", w->result->program,
			steps[step].name);
	return DECODE_TAKEN;
}

static enum decode_end judge(struct work *w, enum step step, const struct child_end *end, const struct buf *said,
	const struct buf *out)
{
	const char *what = steps[step].name, *program = w->result->program;
	char line[200];
	struct str last = last_words(said->n > 0 ? said : out, line);

	if (end->stopped)
		return ended(w, DECODE_STOPPED, "the agent ends");
	guard_holds(&w->guard); /* also where the ceiling of a file stopped it first */
	if (w->guard.low)
		return ended(w, DECODE_TOO_LARGE, "%s: the disk of %s is nearly full", what, w->dir);
	if (w->guard.over)
		return ended(w, DECODE_TOO_LARGE, "%s: %s wrote %" PRIu64 " bytes or more", what, program,
			w->set->output_max_bytes);
	if (end->timed_out)
		return ended(w, DECODE_TIMEOUT, "%s: %s did not end in time", what, program);
	if (!end->exited)
		return ended(w, DECODE_FAILED, "%s: %s was ended by signal %d: %.*s", what, program, end->signal, STR_ARG(last));
	if (end->status != 0)
		return ended(w, DECODE_FAILED, "%s: %s ended with status %d: %.*s", what, program, end->status, STR_ARG(last));
	return DECODE_TAKEN;
}

static void make_argv(const struct work *w, enum step step, const char *out_file, const char *data, const char **argv)
{
	size_t n = 0;

	argv[n++] = w->program;
	argv[n++] = "view";
	argv[n++] = "-d";
	argv[n++] = w->session->dir;
	argv[n++] = "--output-format";
	argv[n++] = steps[step].format;
	argv[n++] = "--output-file";
	argv[n++] = out_file;
	argv[n++] = steps[step].leave_out;
	if (!w->is_old) {
		argv[n++] = "--data-path";
		argv[n++] = data;
		argv[n++] = "--display-name";
		argv[n++] = steps[step].name;
	}
	argv[n] = NULL;
	must(n < ARGS_MAX);
}

static enum decode_end run_in(struct work *w, enum step step, const char *dir, int64_t limit_ns)
{
	char file[PATH_MAX], data[PATH_MAX];
	const char *argv[ARGS_MAX];
	struct buf out, said;
	struct child_end end;
	struct err e = { 0 };
	enum decode_end what;

	if (snprintf(file, sizeof(file), "%s/%s.json", dir, steps[step].name) >= PATH_MAX ||
		snprintf(data, sizeof(data), "%s/data", w->dir) >= PATH_MAX)
		return ended(w, DECODE_FAILED, "%s: path too long", dir);
	make_argv(w, step, file, data, argv);
	buf_init(&out, SAID_MAX);
	buf_init(&said, SAID_MAX);
	if (run(w, argv, dir, limit_ns, &out, &said, &end, &e) < 0)
		what = ended(w, DECODE_FAILED, "%s", e.text);
	else
		what = judge(w, step, &end, &said, &out);
	buf_fini(&out);
	buf_fini(&said);
	return what == DECODE_TAKEN ? gather(w, step, dir) : what;
}

static uint64_t input_bytes(const struct session *s, enum step step)
{
	return step == STEP_SYSTEM ? s->bytes - s->device_bytes : s->bytes;
}

static enum decode_end run_step(struct work *w, enum step step)
{
	int64_t left_ns = w->deadline_ns - clock_mono_ns();
	uint64_t in = input_bytes(w->session, step);
	char dir[PATH_MAX];
	struct err e = { 0 };
	enum decode_end end;

	if (in > w->set->input_max_bytes)
		return ended(w, DECODE_TOO_LARGE, "%s: %" PRIu64 " bytes to decode, more than %" PRIu64, steps[step].name, in,
			w->set->input_max_bytes);
	if (left_ns <= 0)
		return ended(w, DECODE_TIMEOUT, "%s: no time was left for it", steps[step].name);
	if (snprintf(dir, sizeof(dir), "%s/%s", w->dir, steps[step].name) >= PATH_MAX)
		return ended(w, DECODE_FAILED, "%s: path too long", w->dir);
	if (file_make_dirs(dir, 0700, &e) < 0)
		return ended(w, DECODE_FAILED, "%s", e.text);
	end = run_in(w, step, dir, left_ns);
	(void)!tree_remove(dir, NULL); /* room for the next; all of it goes at the end */
	return end;
}

/* ---- all of it */

static enum decode_end run_steps(struct work *w)
{
	enum decode_end end = DECODE_NOTHING;

	for (enum step step = 0; step < STEPS && end != DECODE_STOPPED; step++)
		if (is_wanted(w, step)) {
			enum decode_end its = run_step(w, step);

			end = its == DECODE_TAKEN && end != DECODE_NOTHING ? end : its;
		}
	return end;
}

static enum decode_end open_work(struct work *w, const char *out_dir)
{
	struct err e = { 0 };

	if (snprintf(w->dir, sizeof(w->dir), "%s.work", out_dir) >= PATH_MAX - 64 ||
		snprintf(w->out, sizeof(w->out), "%s.part", out_dir) >= PATH_MAX - 64)
		return ended(w, DECODE_FAILED, "%s: path too long", out_dir);
	if (tree_remove(w->dir, &e) < 0 || tree_remove(w->out, &e) < 0 || file_make_dirs(w->dir, 0700, &e) < 0 ||
		file_make_dirs(w->out, 0700, &e) < 0)
		return ended(w, DECODE_FAILED, "%s", e.text);
	return DECODE_TAKEN;
}

/* The names alone: by them trace/window tells the deploy (trace/neffs.h). */
static void name_models(struct work *w)
{
	DIR *d = opendir(w->session->dir);
	int left = SESSION_FILES_MAX;

	for (struct dirent *ent; d != NULL && left-- > 0 && (ent = readdir(d)) != NULL;) {
		char path[PATH_MAX];
		int fd;

		if (!str_has_suffix(str_of(ent->d_name), STR(".neff")) ||
			snprintf(path, sizeof(path), "%s/%s", w->out, ent->d_name) >= PATH_MAX)
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	if (d != NULL)
		closedir(d);
}

/* What harvest has to know of it later, by DECODE_NOTE: the decoder's version, and whether there was a system profile. */
static int put_note(struct work *w, struct err *e)
{
	char path[PATH_MAX], text[DECODE_VERSION_TEXT + 16];

	if (snprintf(path, sizeof(path), "%s/" DECODE_NOTE, w->out) >= PATH_MAX)
		return err_set(e, E_LIMIT, "%s: path too long", w->out);
	snprintf(text, sizeof(text), "%s\n%s\n", w->result->version, w->has_system ? "with-system" : "without");
	return file_replace(path, str_of(text), 0600, e);
}

/* Whole or not at all; what was gathered before one run failed counts all the same. */
static enum decode_end finish(struct work *w, const char *out_dir, enum decode_end end)
{
	struct err e = { 0 };

	(void)!tree_remove(w->dir, NULL);
	if (end == DECODE_STOPPED || w->result->files == 0) {
		(void)!tree_remove(w->out, NULL);
		w->result->files = 0;
		return end;
	}
	name_models(w);
	crash_point("decode.gathered");
	if (put_note(w, &e) < 0 || (rename(w->out, out_dir) < 0 && err_sys(&e, "%s: rename", w->out) < 0)) {
		(void)!tree_remove(w->out, NULL);
		w->result->files = 0;
		return ended(w, DECODE_FAILED, "%s", e.text);
	}
	return DECODE_TAKEN;
}

static enum decode_end decode_locked(struct work *w, const char *out_dir)
{
	enum decode_end end;

	w->deadline_ns = clock_mono_ns() + w->set->limit_ns;
	w->guard = (struct guard){ .dir = w->dir, .max_bytes = w->set->output_max_bytes };
	end = open_work(w, out_dir);
	if (end == DECODE_TAKEN)
		end = find_program(w);
	if (end == DECODE_TAKEN)
		end = run_steps(w);
	return finish(w, out_dir, end);
}

static bool rest(struct thread *t, int64_t ns)
{
	if (t != NULL)
		return thread_sleep(t, ns);
	clock_sleep_ns(ns);
	return false;
}

/* Its place among all who decode on this host: one at a time. fd stays -1 without a lock. */
static enum decode_end wait_for_turn(struct work *w, int *fd)
{
	int64_t until_ns = clock_mono_ns() + lock_wait_ns;
	struct err e = { 0 };
	int rc = OK;

	while (w->set->lock != NULL && (rc = file_lock(w->set->lock, fd, &e)) == E_BUSY) {
		if (rest(w->thread, NS_PER_S / 5))
			return ended(w, DECODE_STOPPED, "the agent ends");
		if (clock_mono_ns() > until_ns)
			return ended(w, DECODE_TIMEOUT, "another session is being decoded for an hour");
	}
	return rc == OK ? DECODE_TAKEN : ended(w, DECODE_FAILED, "%s", e.text);
}

/* What can be said without the decoder. */
static enum decode_end check_input(struct work *w)
{
	bool wanted = false;

	for (enum step step = 0; step < STEPS; step++)
		wanted = wanted || is_wanted(w, step);
	if (!w->session->has_info)
		return ended(w, DECODE_INCOMPLETE, "%s: no trace_info.pb in it", w->session->dir);
	if (!wanted)
		return ended(w, DECODE_NOTHING, "%s: %s, %zu .ntff and %zu .neff with something in them", w->session->dir,
			w->session->has_system ? "ntrace.pb" : "no ntrace.pb", w->session->n_ntff, w->session->n_neff);
	return DECODE_TAKEN;
}

void decode_session(const struct decode_settings *set, const struct session *s, const char *out_dir, struct thread *t,
	struct decode_result *out)
{
	struct work w = { .set = set, .session = s, .thread = t, .result = out };
	int lock = -1;

	*out = (struct decode_result){ .end = DECODE_NOTHING };
	out->end = check_input(&w);
	if (out->end == DECODE_TAKEN)
		out->end = wait_for_turn(&w, &lock);
	if (out->end == DECODE_TAKEN)
		out->end = decode_locked(&w, out_dir);
	if (lock >= 0)
		close(lock);
}
