/* story — writes the traces of a made-up fleet: what ./dev demo plays and the tests of the whole path feed on.
 *
 * A service, llm-decode, runs on some hosts; each takes a window an hour. Its deploys differ in one thing, how the
 * model's RMSNorm runs: v40 compiled it, v41 calls one fused kernel, v42 lost that and makes six eager calls. The
 * device times are those of the published walk-through on Trainium (4 x 512 bfloat16), the model around it is made up.
 * Times carry noise: a host is a little faster or slower than the next, calls differ, days have a rhythm.
 *
 * Each window is a trace as PyTorch writes it (torch.profiler, PrivateUse1 device events linked by External id) with a
 * sidecar. The sidecar is there before the trace, and the trace appears whole, by rename.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/opt.h"
#include "base/rand.h"

struct part { /* one op of the model, in order of execution */
	const char *op;
	const char *execution; /* name of the device event */
	unsigned calls;
	double device_us; /* of all calls together */
	double host_us;	  /* self CPU of all calls together */
};

static const struct part before_norm[] = {
	{ "aten::embedding", "neff_embedding", 1, 18.2, 9.1 },
};

static const struct part norm_compiled[] = {
	{ "Torch-Compiled Region: 0/0", "neff_graph_rms_norm", 1, 375.5, 98.0 },
};

static const struct part norm_fused[] = {
	{ "aten::_fused_rms_norm", "neff_rms_norm", 1, 403.3, 48.0 },
};

static const struct part norm_eager[] = { /* x*x, mean, + epsilon, rsqrt, x*r, *weight */
	{ "aten::mul", "neff_mul", 1, 388.1, 21.0 },
	{ "aten::mean", "neff_mean", 1, 340.8, 22.0 },
	{ "aten::add", "neff_add", 1, 434.6, 20.0 },
	{ "aten::rsqrt", "neff_rsqrt", 1, 415.0, 20.0 },
	{ "aten::mul", "neff_mul", 2, 776.4, 42.0 },
};

static const struct part after_norm[] = {
	{ "aten::mm", "neff_mm_qkv", 3, 1140.0, 63.0 },
	{ "aten::_scaled_dot_product_fused_attention_overrideable", "neff_attention", 1, 884.0, 31.0 },
	{ "aten::mm", "neff_mm_out", 1, 380.0, 21.0 },
	{ "aten::add_", "neff_residual", 1, 61.5, 17.0 },
	{ "aten::mm", "neff_mm_up", 2, 1010.0, 42.0 },
	{ "aten::silu", "neff_silu", 1, 60.1, 15.0 },
	{ "aten::mul_", "neff_gate", 1, 61.2, 16.0 },
	{ "aten::mm", "neff_mm_down", 1, 502.0, 21.0 },
	{ "aten::add_", "neff_residual", 1, 61.5, 17.0 },
	{ "aten::mm", "neff_lm_head", 1, 724.0, 22.0 },
	{ "aten::argmax", "neff_argmax", 1, 34.7, 14.0 },
};

struct deploy {
	const char *name;
	const struct part *norm;
	size_t n_norm;
	double share; /* of the story's time */
};

static const struct deploy deploys[] = {
	{ "v40", norm_compiled, COUNT(norm_compiled), 0.30 },
	{ "v41", norm_fused, COUNT(norm_fused), 0.61 },
	{ "v42", norm_eager, COUNT(norm_eager), 0.09 },
};

struct answers {
	int64_t hosts, interval_ns, span_ns, steps, pending, seed;
	bool quiet;
};

struct story {
	struct answers a;
	const char *folder;
	struct rand_gen rand;
	struct buf trace;
	uint64_t next_id; /* External id */
	int64_t first_ns; /* when the first host's first window began */
};

/* Where the pen is while a window is written; nanoseconds since the window began. */
struct pen {
	int64_t host_ns, device_ns;
	double pace; /* of this host at this hour: times are multiplied with it */
	int pid;
};

static double noisy(struct story *st, double us, double pace)
{
	return us * pace * exp(0.02 * rand_normal(&st->rand));
}

static void event(struct story *st, const char *cat, const char *name, int pid, int tid, int64_t at_ns, int64_t dur_ns,
	uint64_t external_id, bool device)
{
	buf_fmt(&st->trace,
		",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64
		".%03d,\"args\":{\"External id\":%" PRIu64,
		cat, name, pid, tid, at_ns / 1000, (int)(at_ns % 1000), dur_ns / 1000, (int)(dur_ns % 1000), external_id);
	if (device)
		buf_fmt(&st->trace, ",\"stream\":%d,\"device\":0,\"correlation\":%" PRIu64, tid, external_id + 1000000);
	buf_text(&st->trace, "}}");
}

/* One call: the host op, the runtime call inside it, and the execution on the device behind what runs there already. */
static void call(struct story *st, struct pen *pen, const struct part *part)
{
	int64_t self_ns = (int64_t)(1000 * noisy(st, part->host_us / part->calls, 1.0));
	int64_t runtime_ns = (int64_t)(1000 * noisy(st, 6.5, 1.0));
	int64_t device_ns = (int64_t)(1000 * noisy(st, part->device_us / part->calls, pen->pace));
	int64_t gap_ns = (int64_t)(1000 * noisy(st, 11.0, 1.0));
	int64_t launched_ns = pen->host_ns + self_ns / 2 + runtime_ns;
	uint64_t id = ++st->next_id;

	event(st, "cpu_op", part->op, pen->pid, pen->pid, pen->host_ns, self_ns + runtime_ns, id, false);
	event(st, "privateuse1_runtime", "nrta_execute_schedule", pen->pid, pen->pid, pen->host_ns + self_ns / 2, runtime_ns,
		id, false);
	pen->device_ns += gap_ns;
	if (pen->device_ns < launched_ns)
		pen->device_ns = launched_ns;
	event(st, "kernel", part->execution, 0, 7, pen->device_ns, device_ns, id, true);
	pen->device_ns += device_ns;
	pen->host_ns += self_ns + runtime_ns + 500;
}

static void parts(struct story *st, struct pen *pen, const struct part *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < list[i].calls; k++)
			call(st, pen, &list[i]);
}

static void step(struct story *st, struct pen *pen, const struct deploy *d, unsigned number)
{
	int64_t begin_ns = pen->host_ns;
	char name[32];

	pen->host_ns += 1000;
	parts(st, pen, before_norm, COUNT(before_norm));
	parts(st, pen, d->norm, d->n_norm);
	parts(st, pen, after_norm, COUNT(after_norm));
	if (pen->host_ns < pen->device_ns)
		pen->host_ns = pen->device_ns; /* the step waits for its token */
	pen->host_ns += 2000;
	snprintf(name, sizeof(name), "ProfilerStep#%u", number);
	event(st, "user_annotation", name, pen->pid, pen->pid, begin_ns, pen->host_ns - begin_ns, ++st->next_id, false);
	pen->host_ns += 1000;
}

/* base_ns: baseTimeNanoseconds; the events' times are relative to it. */
static void write_trace(struct story *st, const struct deploy *d, int host, int64_t base_ns, double pace)
{
	struct pen pen = { .host_ns = 5000, .pace = pace, .pid = 4100 + host };

	buf_reset(&st->trace);
	buf_fmt(&st->trace,
		"{\"schemaVersion\":1,\"deviceProperties\":[],\"host_name\":\"trn-%02d\",\"displayTimeUnit\":\"ms\","
		"\"baseTimeNanoseconds\":%" PRId64 ",\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"ts\":0,\"args\":{\"name\":\"neuron\"}}",
		host, base_ns);
	for (unsigned i = 0; i < st->a.steps; i++)
		step(st, &pen, d, i + 1);
	buf_text(&st->trace, "\n],\"traceName\":\"story\"}\n");
}

static int put_file(const struct story *st, const char *name, struct str content, struct err *e)
{
	char path[4096], tmp[4096 + 8];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", st->folder, name);
	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	f = fopen(tmp, "we");
	if (f == NULL)
		return err_sys(e, "%s", tmp);
	if (fwrite(content.p, 1, content.n, f) != content.n) {
		fclose(f);
		return err_sys(e, "%s: write", tmp);
	}
	if (fclose(f) != 0 || rename(tmp, path) < 0)
		return err_sys(e, "%s", path);
	return OK;
}

/* The deploy that runs at a share 0…1 of the story's time. */
static const struct deploy *deploy_at(double share)
{
	size_t i = 0;

	while (i + 1 < COUNT(deploys) && share >= deploys[i].share) {
		share -= deploys[i].share;
		i++;
	}
	return &deploys[i];
}

/* Hosts take their windows one after the other, spread over the interval. */
static int64_t start_of(const struct story *st, int64_t round, int host)
{
	return st->first_ns + round * st->a.interval_ns + host % 16 * (st->a.interval_ns / 16);
}

static void file_name(const struct story *st, int64_t round, int host, char *out, size_t cap)
{
	snprintf(out, cap, "trn-%02d_%d.%" PRId64 ".pt.trace.json", host, 4100 + host,
		start_of(st, round, host) / NS_PER_MS);
}

/* Holds back while the reader has more than so many files to go: the one written that many windows ago must be gone. */
static void wait_for_reader(const struct story *st, int64_t round, int host)
{
	int64_t old = round * st->a.hosts + host - st->a.pending;
	char name[128], path[4096];

	if (st->a.pending == 0 || old < 0)
		return;
	file_name(st, old / st->a.hosts, (int)(old % st->a.hosts), name, sizeof(name));
	snprintf(path, sizeof(path), "%s/%s", st->folder, name);
	while (access(path, F_OK) == 0)
		clock_sleep_ns(5 * NS_PER_MS);
}

static int write_window(struct story *st, const struct deploy *d, int64_t round, int host, struct err *e)
{
	int64_t start_ns = start_of(st, round, host);
	double day = (double)(start_ns % NS_PER_DAY) / (double)NS_PER_DAY;
	double pace = 1.0 + 0.002 * (host - (double)(st->a.hosts - 1) / 2) + 0.003 * sin(2 * 3.14159265358979 * day);
	char name[128], meta[160];
	struct buf sidecar;
	int rc;

	write_trace(st, d, host, start_ns, pace);
	rc = buf_finish(&st->trace, "trace", e);
	if (rc < 0)
		return rc;
	file_name(st, round, host, name, sizeof(name));
	snprintf(meta, sizeof(meta), "%s.meta.json", name);
	buf_init(&sidecar, 4096);
	buf_fmt(&sidecar,
		"{\"service\":\"llm-decode\",\"deploy\":\"%s\",\"host\":\"trn-%02d\",\"worker\":\"0\",\"start_ns\":%" PRId64
		",\"labels\":{\"instance\":\"trn2.48xlarge\"}}\n",
		d->name, host, start_ns);
	rc = put_file(st, meta, buf_view(&sidecar), e);
	buf_fini(&sidecar);
	return rc < 0 ? rc : put_file(st, name, buf_view(&st->trace), e);
}

static void show_progress(const struct story *st, int64_t hour, int64_t hours, const char *deploy)
{
	if (st->a.quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r  window %5" PRId64 " of %" PRId64 "  day %2" PRId64 "  deploy %s ", (hour + 1) * st->a.hosts,
		hours * st->a.hosts, 1 + hour * st->a.interval_ns / NS_PER_DAY, deploy);
	if (hour + 1 == hours)
		fputc('\n', stderr);
}

static int tell(struct story *st, struct err *e)
{
	int64_t rounds = st->a.span_ns / st->a.interval_ns;
	int rc = OK;

	st->first_ns = (clock_wall_ns() / st->a.interval_ns - rounds) * st->a.interval_ns;
	for (int64_t r = 0; r < rounds && rc == OK; r++) {
		const struct deploy *d = deploy_at((double)r / (double)rounds);

		for (int host = 0; host < st->a.hosts && rc == OK; host++) {
			wait_for_reader(st, r, host);
			rc = write_window(st, d, r, host, e);
		}
		show_progress(st, r, rounds, d->name);
	}
	return rc;
}

static const struct opt story_opts[] = {
	{ "hosts", 0, OPT_INT, offsetof(struct answers, hosts), 1, 1000, "N", "hosts of the fleet (8)", NULL },
	{ "span", 0, OPT_DURATION, offsetof(struct answers, span_ns), NS_PER_MIN, 400 * NS_PER_DAY, "TIME",
		"how far back the story begins (21d)", NULL },
	{ "interval", 0, OPT_DURATION, offsetof(struct answers, interval_ns), NS_PER_S, NS_PER_DAY, "TIME",
		"from one window of a host to its next (1h)", NULL },
	{ "steps", 0, OPT_INT, offsetof(struct answers, steps), 1, 10000, "N", "steps in a window (10)", NULL },
	{ "pending", 0, OPT_INT, offsetof(struct answers, pending), 0, 1000000, "N",
		"wait while so many traces have not been taken away yet; 0: never wait (0)", NULL },
	{ "seed", 0, OPT_INT, offsetof(struct answers, seed), 0, 0, "N", "of the noise (1)", NULL },
	{ "quiet", 'q', OPT_FLAG, offsetof(struct answers, quiet), 0, 0, NULL, "no progress", NULL },
};

static const struct opt_command story_command = {
	.name = "story",
	.operands = "FOLDER",
	.summary = "write the traces of a made-up fleet that loses operator fusion with its last deploy",
	.opts = story_opts,
	.n_opts = COUNT(story_opts),
};

int main(int argc, char **argv)
{
	struct story st = { .a = { .hosts = 8, .span_ns = 21 * NS_PER_DAY, .interval_ns = NS_PER_HOUR, .steps = 10, .seed = 1 } };
	struct err e = { 0 };
	int operands = 0, rc;

	rc = opt_parse(&story_command, "story", argc - 1, argv + 1, &st.a, &operands, &e);
	if (rc == OK && operands != 1)
		rc = err_set(&e, E_USAGE, "one FOLDER is wanted, see --help");
	if (rc == OK) {
		st.folder = argv[1];
		rand_seed(&st.rand, (uint64_t)st.a.seed);
		buf_init(&st.trace, 64 << 20);
		rc = tell(&st, &e);
		buf_fini(&st.trace);
	}
	if (rc < 0)
		fprintf(stderr, "story: %s\n", e.text);
	return rc < 0 ? 2 : 0;
}
