/* bench_summarize — how fast "trainspotter summarize" is, and how much memory it takes: on a made-up trace, plain and
 * gzip, several runs each. One JSON line a measurement:
 *
 *	{"bench":"summarize","input":"plain","bytes":…,"events":…,"runs":…,"seconds_min":…,"seconds_median":…,
 *	 "seconds_max":…,"mb_per_s":…,"events_per_s":…,"peak_rss_bytes":…}
 *
 * bytes are those of the JSON text in both cases, and rates go by the median. The peak is the program's own (wait4). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/opt.h"
#include "json/tree.h"
#include "json/write.h"

enum { RUNS_MAX = 100, PATH_ROOM = 4096, ANSWER_MAX = 64 << 20 };

struct options {
	int64_t size, runs;
	const char *program, *make_trace, *dir;
	bool shapes;
};

static const struct opt opts[] = {
	{ "size", 's', OPT_SIZE, offsetof(struct options, size), 1, INT64_MAX, "SIZE",
		"of the trace; 200MiB without", NULL },
	{ "runs", 'r', OPT_INT, offsetof(struct options, runs), 1, RUNS_MAX, "N",
		"of each measurement; 5 without", NULL },
	{ "shapes", 0, OPT_FLAG, offsetof(struct options, shapes), 0, 0, NULL,
		"a trace with the inputs' shapes", NULL },
	{ "program", 'p', OPT_TEXT, offsetof(struct options, program), 0, 0, "FILE",
		"trainspotter to measure; ./trainspotter without", NULL },
	{ "make-trace", 0, OPT_TEXT, offsetof(struct options, make_trace), 0, 0, "FILE",
		"the maker of the trace; bench/make_trace without", NULL },
	{ "dir", 'd', OPT_TEXT, offsetof(struct options, dir), 0, 0, "DIR",
		"where the trace is kept meanwhile; /tmp without", NULL },
};

static const struct opt_command command = {
	.name = "bench_summarize",
	.operands = "",
	.summary = "measures trainspotter summarize",
	.opts = opts,
	.n_opts = COUNT(opts),
};

struct bench {
	struct options o;
	char dir[PATH_ROOM / 2], plain[PATH_ROOM], gzip[PATH_ROOM], answer[PATH_ROOM];
	int64_t bytes; /* of the plain trace */
};

/* Runs argv with its standard output in a file, to its end. */
static int run(const char *const *argv, const char *out, struct rusage *used, struct err *e)
{
	int status = 0, fd;
	pid_t child = fork();

	if (child < 0)
		return err_sys(e, "fork");
	if (child == 0) {
		fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
			execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (wait4(child, &status, 0, used) < 0)
		if (errno != EINTR)
			return err_sys(e, "wait for %s", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_set(e, E_SYS, "%s %s: exit status %d", argv[0], argv[1], WEXITSTATUS(status));
	return OK;
}

static int make_inputs(struct bench *b, struct err *e)
{
	char size[32];
	const char *const make[] = { b->o.make_trace, "--size", size, b->o.shapes ? "--shapes" : NULL, NULL };
	const char *const zip[] = { "gzip", "-c", b->plain, NULL };
	struct rusage used;
	struct stat st;
	int rc;

	snprintf(size, sizeof(size), "%" PRId64, b->o.size);
	snprintf(b->plain, sizeof(b->plain), "%s/trace.json", b->dir);
	snprintf(b->gzip, sizeof(b->gzip), "%s/trace.json.gz", b->dir);
	snprintf(b->answer, sizeof(b->answer), "%s/answer.json", b->dir);
	rc = run(make, b->plain, &used, e);
	if (rc == OK)
		rc = run(zip, b->gzip, &used, e);
	if (rc == OK && stat(b->plain, &st) < 0)
		rc = err_sys(e, "%s", b->plain);
	if (rc == OK)
		b->bytes = st.st_size;
	return rc;
}

static int events_of(struct bench *b, int64_t *events, struct err *e)
{
	const struct json_node *root = NULL, *files;
	struct buf text;
	struct arena a;
	int rc;

	buf_init(&text, ANSWER_MAX);
	arena_init(&a, 4 * (size_t)ANSWER_MAX);
	rc = file_read_all(b->answer, &text, e);
	if (rc == OK)
		rc = json_parse(&a, buf_view(&text), &root, e);
	if (rc == OK) {
		files = json_get(root, "files");
		*events = files != NULL && files->n ? json_get_i64(&files->items[0], "events", 0) : 0;
		if (*events == 0)
			rc = err_set(e, E_FORMAT, "summarize answered without events");
	}
	arena_fini(&a);
	buf_fini(&text);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int report(
	struct bench *b, const char *input, const double *seconds, int64_t peak_bytes, struct err *e)
{
	int64_t n = b->o.runs, events = 0;
	double median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
	struct json_writer w;
	struct buf line;
	int rc = events_of(b, &events, e);

	if (rc != OK)
		return rc;
	buf_init(&line, 4096);
	jw_init(&w, &line);
	jw_object(&w);
	jw_key_text(&w, "bench", "summarize");
	jw_key_text(&w, "input", input);
	jw_key_i64(&w, "bytes", b->bytes);
	jw_key_i64(&w, "events", events);
	jw_key_i64(&w, "runs", n);
	jw_key_double(&w, "seconds_min", seconds[0]);
	jw_key_double(&w, "seconds_median", median);
	jw_key_double(&w, "seconds_max", seconds[n - 1]);
	jw_key_i64(&w, "mb_per_s", (int64_t)((double)b->bytes / 1e6 / median));
	jw_key_i64(&w, "events_per_s", (int64_t)((double)events / median));
	jw_key_i64(&w, "peak_rss_bytes", peak_bytes);
	jw_end(&w);
	rc = jw_finish(&w, e);
	if (rc == OK)
		printf("%s\n", line.p);
	fflush(stdout);
	buf_fini(&line);
	return rc;
}

static int measure(struct bench *b, const char *input, const char *path, struct err *e)
{
	const char *const argv[] = { b->o.program, "summarize", "--format", "json", path, NULL };
	double seconds[RUNS_MAX];
	int64_t peak_bytes = 0;
	int rc = OK;

	for (int64_t i = 0; rc == OK && i < b->o.runs; i++) {
		int64_t start_ns = clock_mono_ns();
		struct rusage used = { 0 };

		rc = run(argv, b->answer, &used, e);
		seconds[i] = (double)(clock_mono_ns() - start_ns) / 1e9;
		if (used.ru_maxrss * 1024 > peak_bytes)
			peak_bytes = used.ru_maxrss * 1024;
	}
	if (rc != OK)
		return rc;
	qsort(seconds, (size_t)b->o.runs, sizeof(*seconds), by_value);
	return report(b, input, seconds, peak_bytes, e);
}

static void remove_inputs(struct bench *b)
{
	unlink(b->plain);
	unlink(b->gzip);
	unlink(b->answer);
	rmdir(b->dir);
}

int main(int argc, char **argv)
{
	static struct bench b = { .o = { .size = 200 << 20,
					  .runs = 5,
					  .program = "./trainspotter",
					  .make_trace = "bench/make_trace",
					  .dir = "/tmp" } };
	struct err e = { 0 };
	int operands = 0, rc;

	rc = opt_parse(&command, command.name, argc - 1, argv + 1, &b.o, &operands, &e);
	if (rc == OK && operands > 0)
		rc = err_set(&e, E_USAGE, "takes no operands");
	if (rc == OK) {
		snprintf(b.dir, sizeof(b.dir), "%s/bench-XXXXXX", b.o.dir);
		if (mkdtemp(b.dir) == NULL)
			rc = err_sys(&e, "%s", b.dir);
	}
	if (rc == OK) {
		rc = make_inputs(&b, &e);
		if (rc == OK)
			rc = measure(&b, "plain", b.plain, &e);
		if (rc == OK)
			rc = measure(&b, "gzip", b.gzip, &e);
		remove_inputs(&b);
	}
	if (rc != OK)
		fprintf(stderr, "bench_summarize: %s\n", e.text);
	return rc == OK ? 0 : rc == E_USAGE ? 2 : 1;
}
