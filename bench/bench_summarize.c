/* bench_summarize — how fast "trainspotter summarize" is and how much memory it takes, beside its peers: on a made-up trace,
 * plain and compressed, several runs of both in turn. JSON lines, for each pair of programs three:
 *
 *	{"bench":"run","program":"summarize","input":"plain","bytes":…,"runs":…,"seconds_min":…,"seconds_median":…,
 *	 "seconds_max":…,"cpu_seconds_min":…,…,"mb_per_s":…,"peak_rss_bytes":…,"events":…}
 *	{"bench":"run","program":"simdjson_parse",…}
 *	{"bench":"ratio","program":"summarize","to":"simdjson_parse","input":"plain","wall_min":…,"wall_median":…,"wall_max":…,
 *	 "cpu_min":…,…,"peak_rss":…}
 *
 * bytes are those of the JSON text in all cases, mb_per_s goes by the median of wall time, peaks are the programs' own
 * (wait4). A ratio below 1 says that summarize took less; it is of two runs that followed each other. Peers:
 *
 *	simdjson_parse	   reads and parses the same file with simdjson's DOM, where make found it
 *	inflate		   the library alone decompresses the same file
 *	python_reference   keyavg_reference.py of the test data, where TRAINSPOTTER_TEST_DATA has it: the same table by Python,
 *			   on a smaller trace
 *	hta		   HolisticTraceAnalysis makes its table of kernels, where BENCH_HTA names a Python that has it
 *	tracelens	   TraceLens makes its report, where BENCH_TRACELENS names one; once each, on a real trace of
 *			   62 MB of the test data, for they take a thousand times as long
 *
 * A peer that is not there is left out, and said so. */
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
#include "bench/sample.h"
#include "json/tree.h"

enum { PATH_ROOM = 4096, ANSWER_MAX = 64 << 20, ARGS_MAX = 8, SMALLER = 4, STAGE_RUNS = 3 };

struct options {
	int64_t size, runs;
	const char *program, *tools, *scripts, *dir;
	bool shapes;
};

static const struct opt opts[] = {
	{ "size", 's', OPT_SIZE, offsetof(struct options, size), 1, INT64_MAX, "SIZE",
		"of the trace; 200MiB without", NULL },
	{ "runs", 'r', OPT_INT, offsetof(struct options, runs), 1, SAMPLE_MAX, "N",
		"of each measurement; 5 without", NULL },
	{ "shapes", 0, OPT_FLAG, offsetof(struct options, shapes), 0, 0, NULL,
		"a trace with the inputs' shapes", NULL },
	{ "program", 'p', OPT_TEXT, offsetof(struct options, program), 0, 0, "FILE",
		"trainspotter to measure; ./trainspotter without", NULL },
	{ "tools", 0, OPT_TEXT, offsetof(struct options, tools), 0, 0, "DIR",
		"where make_trace, bench_stages and the peers are; bench without", NULL },
	{ "scripts", 0, OPT_TEXT, offsetof(struct options, scripts), 0, 0, "DIR",
		"where the peers in Python are; bench without", NULL },
	{ "dir", 'd', OPT_TEXT, offsetof(struct options, dir), 0, 0, "DIR",
		"where the trace is kept meanwhile; /tmp without", NULL },
};

static const struct opt_command command = {
	.name = "bench_summarize",
	.operands = "",
	.summary = "measures trainspotter summarize beside its peers",
	.opts = opts,
	.n_opts = COUNT(opts),
};

enum input { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD, INPUT_SMALL, INPUT_REAL, INPUTS };
static const struct {
	const char *name, *file;
} inputs[] = {
	[INPUT_PLAIN] = { "plain", "trace.json" },
	[INPUT_GZIP] = { "gzip", "trace.json.gz" },
	[INPUT_ZSTD] = { "zstd", "trace.json.zst" },
	[INPUT_SMALL] = { "small", "small.json" },
	[INPUT_REAL] = { "real", "real.json" },
};
_Static_assert(COUNT(inputs) == INPUTS, "name every input");

/* Packages of Python, each with an environment variable that names a Python that has it. */
static const struct {
	const char *name, *python, *script;
} packages[] = {
	{ "hta", "BENCH_HTA", "peer_hta.py" },
	{ "tracelens", "BENCH_TRACELENS", "peer_tracelens.py" },
};
#define REAL_TRACE "kineto/inference/xdit_sd_3.5_rank_0.json.gz"

struct bench {
	struct options o;
	char dir[PATH_ROOM / 2], path[INPUTS][PATH_ROOM], answer[PATH_ROOM];
	int64_t bytes[INPUTS]; /* of the JSON text; 0 where there is no such input */
	char simdjson[PATH_ROOM], inflate[PATH_ROOM], python[PATH_ROOM]; /* empty: not there */
};

struct program {
	const char *name;
	const char *argv[ARGS_MAX];
	struct sample wall, cpu;
	int64_t peak_bytes;
};

/* Runs argv with its standard output in a file (NULL: as it is), to its end. */
static int run(const char *const *argv, const char *out, struct rusage *used, struct err *e)
{
	int status = 0, fd;
	pid_t child = fork();

	if (child < 0)
		return err_sys(e, "fork");
	if (child == 0) {
		fd = out == NULL ? STDOUT_FILENO : open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
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

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int run_program(struct bench *b, struct program *p, struct err *e)
{
	int64_t start_ns = clock_mono_ns();
	struct rusage used = { 0 };
	int rc = run(p->argv, b->answer, &used, e);

	sample_add(&p->wall, (double)(clock_mono_ns() - start_ns) / 1e9);
	sample_add(&p->cpu, seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
	if (used.ru_maxrss * 1024 > p->peak_bytes)
		p->peak_bytes = used.ru_maxrss * 1024;
	return rc;
}

/* ---- inputs */
static int make_trace(struct bench *b, enum input i, int64_t size, struct err *e)
{
	char program[PATH_ROOM], text[32];
	const char *const argv[] = { program, "--size", text, b->o.shapes ? "--shapes" : NULL, NULL };
	struct rusage used;
	struct stat st;
	int rc;

	snprintf(program, sizeof(program), "%s/make_trace", b->o.tools);
	snprintf(text, sizeof(text), "%" PRId64, size);
	rc = run(argv, b->path[i], &used, e);
	if (rc == OK && stat(b->path[i], &st) < 0)
		rc = err_sys(e, "%s", b->path[i]);
	if (rc == OK)
		b->bytes[i] = st.st_size;
	return rc;
}

/* By the usual program; an input that cannot be made is left out. */
static void compress(struct bench *b, enum input i, const char *program)
{
	const char *const argv[] = { program, "-c", b->path[INPUT_PLAIN], NULL };
	struct rusage used;
	struct err e = { 0 };

	if (run(argv, b->path[i], &used, &e) == OK)
		b->bytes[i] = b->bytes[INPUT_PLAIN];
	else
		fprintf(stderr, "bench_summarize: left out: %s\n", e.text);
}

/* Only where a peer wants it. */
static void unpack_real(struct bench *b)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");
	char packed[PATH_ROOM];
	const char *const argv[] = { "gzip", "-dc", packed, NULL };
	struct rusage used;
	struct stat st;
	struct err e = { 0 };
	bool wanted = false;

	for (size_t i = 0; i < COUNT(packages); i++)
		wanted |= getenv(packages[i].python) != NULL;
	if (!wanted)
		return;
	snprintf(packed, sizeof(packed), "%s/" REAL_TRACE, data == NULL ? "." : data);
	if (run(argv, b->path[INPUT_REAL], &used, &e) == OK && stat(b->path[INPUT_REAL], &st) == 0)
		b->bytes[INPUT_REAL] = st.st_size;
	else
		fprintf(stderr, "bench_summarize: left out: the real trace: %s\n", e.text);
}

static int make_inputs(struct bench *b, struct err *e)
{
	int rc;

	for (int i = 0; i < INPUTS; i++)
		snprintf(b->path[i], sizeof(b->path[i]), "%s/%s", b->dir, inputs[i].file);
	snprintf(b->answer, sizeof(b->answer), "%s/answer.json", b->dir);
	rc = make_trace(b, INPUT_PLAIN, b->o.size, e);
	if (rc == OK && b->python[0] != '\0')
		rc = make_trace(b, INPUT_SMALL, (b->o.size + SMALLER - 1) / SMALLER, e);
	if (rc < 0)
		return rc;
	compress(b, INPUT_GZIP, "gzip");
	compress(b, INPUT_ZSTD, "zstd");
	unpack_real(b);
	return OK;
}

static void remove_inputs(struct bench *b)
{
	for (int i = 0; i < INPUTS; i++)
		unlink(b->path[i]);
	unlink(b->answer);
	rmdir(b->dir);
}

/* ---- peers */
static void find_peers(struct bench *b)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");

	snprintf(b->inflate, sizeof(b->inflate), "%s/peer_inflate", b->o.tools);
	snprintf(b->simdjson, sizeof(b->simdjson), "%s/peer_simdjson", b->o.tools);
	if (access(b->simdjson, X_OK) < 0) {
		b->simdjson[0] = '\0';
		fprintf(stderr, "bench_summarize: left out: simdjson_parse, which was not built\n");
	}
	if (data != NULL)
		snprintf(b->python, sizeof(b->python), "%s/kineto/keyavg_reference.py", data);
	if (data == NULL || access(b->python, R_OK) < 0) {
		b->python[0] = '\0';
		fprintf(stderr, "bench_summarize: left out: python_reference, without TRAINSPOTTER_TEST_DATA\n");
	}
}

/* ---- lines */
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

/* events: 0 where the program does not tell. */
static int tell_run(const struct bench *b, enum input i, const struct program *p, int64_t events, struct err *e)
{
	double median = sample_median(&p->wall);
	struct sample_line line;
	struct json_writer *w = sample_begin(&line, "run");

	jw_key_text(w, "program", p->name);
	jw_key_text(w, "input", inputs[i].name);
	jw_key_i64(w, "bytes", b->bytes[i]);
	jw_key_u64(w, "runs", p->wall.n);
	sample_write(w, "seconds", &p->wall);
	sample_write(w, "cpu_seconds", &p->cpu);
	jw_key_i64(w, "mb_per_s", (int64_t)((double)b->bytes[i] / 1e6 / median));
	jw_key_i64(w, "peak_rss_bytes", p->peak_bytes);
	if (events > 0) {
		jw_key_i64(w, "events", events);
		jw_key_i64(w, "events_per_s", (int64_t)((double)events / median));
	}
	return sample_end(&line, e);
}

static int tell_ratio(enum input i, const struct program *p, const struct program *peer, struct err *e)
{
	const struct sample wall = sample_ratio(&p->wall, &peer->wall), cpu = sample_ratio(&p->cpu, &peer->cpu);
	struct sample_line line;
	struct json_writer *w = sample_begin(&line, "ratio");

	jw_key_text(w, "program", p->name);
	jw_key_text(w, "to", peer->name);
	jw_key_text(w, "input", inputs[i].name);
	sample_write(w, "wall", &wall);
	sample_write(w, "cpu", &cpu);
	jw_key_double(w, "peak_rss", (double)p->peak_bytes / (double)peer->peak_bytes);
	return sample_end(&line, e);
}

/* ---- measuring */

/* summarize and a peer in turn, after one run of each that does not count. peer NULL: alone. */
static int measure(struct bench *b, enum input i, int64_t runs, struct program *peer, struct err *e)
{
	struct program warm, p = { .name = "summarize",
					 .argv = { b->o.program, "summarize", "--format", "json", b->path[i] } };
	int64_t events = 0;
	int rc;

	warm = p;
	rc = run_program(b, &warm, e);
	if (rc == OK)
		rc = events_of(b, &events, e);
	if (rc == OK && peer != NULL) {
		warm = *peer;
		rc = run_program(b, &warm, e);
	}
	for (int64_t n = 0; rc == OK && n < runs; n++) {
		rc = run_program(b, &p, e);
		if (rc == OK && peer != NULL)
			rc = run_program(b, peer, e);
	}
	if (rc == OK)
		rc = tell_run(b, i, &p, events, e);
	if (rc == OK && peer != NULL)
		rc = tell_run(b, i, peer, 0, e);
	return rc == OK && peer != NULL ? tell_ratio(i, &p, peer, e) : rc;
}

static int measure_plain(struct bench *b, struct err *e)
{
	struct program peer = { .name = "simdjson_parse", .argv = { b->simdjson, b->path[INPUT_PLAIN] } };

	return measure(b, INPUT_PLAIN, b->o.runs, b->simdjson[0] != '\0' ? &peer : NULL, e);
}

static int measure_compressed(struct bench *b, enum input i, struct err *e)
{
	struct program peer = { .name = "inflate", .argv = { b->inflate, b->path[i] } };

	return b->bytes[i] == 0 ? OK : measure(b, i, b->o.runs, &peer, e);
}

static int measure_python(struct bench *b, struct err *e)
{
	struct program peer = { .name = "python_reference", .argv = { "python3", b->python, b->path[INPUT_SMALL] } };

	return b->bytes[INPUT_SMALL] == 0 ? OK : measure(b, INPUT_SMALL, b->o.runs < 3 ? b->o.runs : 3, &peer, e);
}

static int measure_packages(struct bench *b, struct err *e)
{
	int rc = OK;

	for (size_t i = 0; rc == OK && i < COUNT(packages); i++) {
		const char *python = getenv(packages[i].python);
		char script[PATH_ROOM];
		struct program peer = { .name = packages[i].name, .argv = { python, script, b->path[INPUT_REAL] } };

		if (python == NULL)
			fprintf(stderr, "bench_summarize: left out: %s, without %s\n", packages[i].name, packages[i].python);
		if (python == NULL || b->bytes[INPUT_REAL] == 0)
			continue;
		snprintf(script, sizeof(script), "%s/%s", b->o.scripts, packages[i].script);
		rc = measure(b, INPUT_REAL, 1, &peer, e);
	}
	return rc;
}

static int measure_stages(struct bench *b, enum input i, struct err *e)
{
	char program[PATH_ROOM], runs[32];
	const char *const argv[] = { program, "--runs", runs, b->path[i], NULL };
	struct rusage used;

	if (b->bytes[i] == 0)
		return OK;
	snprintf(program, sizeof(program), "%s/bench_stages", b->o.tools);
	snprintf(runs, sizeof(runs), "%" PRId64, b->o.runs < STAGE_RUNS ? b->o.runs : STAGE_RUNS);
	return run(argv, NULL, &used, e);
}

static int measure_all(struct bench *b, struct err *e)
{
	int rc = measure_plain(b, e);

	if (rc == OK)
		rc = measure_compressed(b, INPUT_GZIP, e);
	if (rc == OK)
		rc = measure_compressed(b, INPUT_ZSTD, e);
	if (rc == OK)
		rc = measure_stages(b, INPUT_PLAIN, e);
	if (rc == OK)
		rc = measure_stages(b, INPUT_GZIP, e);
	if (rc == OK)
		rc = measure_python(b, e);
	return rc == OK ? measure_packages(b, e) : rc;
}

int main(int argc, char **argv)
{
	static struct bench b = {
		.o = { .size = 200 << 20, .runs = 5, .program = "./trainspotter", .tools = "bench", .scripts = "bench", .dir = "/tmp" },
	};
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
		find_peers(&b);
		rc = make_inputs(&b, &e);
		if (rc == OK)
			rc = measure_all(&b, &e);
		remove_inputs(&b);
	}
	if (rc != OK)
		fprintf(stderr, "bench_summarize: %s\n", e.text);
	return rc == OK ? 0 : rc == E_USAGE ? 2 : 1;
}
