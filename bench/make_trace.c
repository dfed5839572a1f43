/* make_trace — a large trace, made up, on standard output: what torch.profiler writes for a transformer that decodes on
 * one device, step after step. Deterministic for a seed; nothing of it is kept, so any size streams at constant memory.
 *
 * One layer is the table below, in the order in which the ops start; depth nests them. An op with a kernel also has a
 * runtime call inside it, the kernel on the device, and the two ends of the flow arrow between them. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/opt.h"
#include "base/rand.h"

struct layer_op {
	const char *name;
	unsigned depth;
	int64_t self_ns; /* half before its children, half behind them */
	const char *kernel;
	int64_t kernel_ns;
	const char *dims; /* of its inputs */
};

static const struct layer_op layer[] = {
	{ "aten::_fused_rms_norm", 0, 12000, "nc_rms_norm_bf16", 13440, "[[1, 1, 4096], [4096]]" },
	{ "aten::linear", 0, 3000, NULL, 0, "[[1, 1, 4096], [6144, 4096], []]" },
	{ "aten::t", 1, 1200, NULL, 0, "[[6144, 4096]]" },
	{ "aten::transpose", 2, 900, NULL, 0, "[[6144, 4096], [], []]" },
	{ "aten::as_strided", 3, 300, NULL, 0, "[[6144, 4096], [], [], []]" },
	{ "aten::matmul", 1, 1500, NULL, 0, "[[1, 1, 4096], [4096, 6144]]" },
	{ "aten::mm", 2, 9000, "nc_matmul_bf16_4096x6144", 38200, "[[1, 4096], [4096, 6144]]" },
	{ "aten::split", 0, 2500, NULL, 0, "[[1, 1, 6144], [], []]" },
	{ "aten::narrow", 1, 800, NULL, 0, "[[1, 1, 6144], [], [], []]" },
	{ "aten::view", 0, 600, NULL, 0, "[[1, 1, 4096], []]" },
	{ "aten::scaled_dot_product_attention", 0, 5200, NULL, 0,
		"[[1, 32, 1, 128], [1, 8, 512, 128], [1, 8, 512, 128]]" },
	{ "aten::_scaled_dot_product_flash_attention", 1, 8100, "nc_flash_attention_decode_bf16", 52700,
		"[[1, 32, 1, 128], [1, 8, 512, 128], [1, 8, 512, 128]]" },
	{ "aten::add", 0, 6100, "nc_elementwise_add_bf16", 4100, "[[1, 1, 4096], [1, 1, 4096], []]" },
	{ "aten::silu", 0, 5800, "nc_activation_silu_bf16", 5200, "[[1, 1, 14336]]" },
	{ "aten::mul", 0, 5900, "nc_elementwise_mul_bf16", 4900, "[[1, 1, 14336], [1, 1, 14336]]" },
	{ "aten::mm", 0, 9300, "nc_matmul_bf16_14336x4096", 81500, "[[1, 14336], [14336, 4096]]" },
};

enum { PID = 4242, STREAM = 7, LAUNCH_NS = 3100, STEP_GAP_NS = 40000, FLUSH = 1 << 20 };

struct options {
	int64_t size, steps, layers, seed;
	bool shapes, tell;
};

static const struct opt opts[] = {
	{ "size", 's', OPT_SIZE, offsetof(struct options, size), 1, INT64_MAX, "SIZE",
		"stop after the step in which so many bytes are reached; 200MiB without", NULL },
	{ "steps", 'n', OPT_INT, offsetof(struct options, steps), 1, INT64_MAX, "N",
		"stop after so many steps instead", NULL },
	{ "layers", 'l', OPT_INT, offsetof(struct options, layers), 1, 10000, "N",
		"layers of the model; 32 without", NULL },
	{ "shapes", 0, OPT_FLAG, offsetof(struct options, shapes), 0, 0, NULL,
		"with the inputs' shapes and types, as record_shapes=True has them", NULL },
	{ "tell", 0, OPT_FLAG, offsetof(struct options, tell), 0, 0, NULL,
		"say on standard error how many timed events there are", NULL },
	{ "seed", 0, OPT_INT, offsetof(struct options, seed), 0, INT64_MAX, "N",
		"another trace of the same kind", NULL },
};

static const struct opt_command command = {
	.name = "make_trace",
	.operands = "",
	.summary = "writes a large made-up PyTorch trace to standard output",
	.detail = "An event takes about 255 bytes, a step of 32 layers about 355 kB (with --shapes about 415 "
		  "kB).",
	.examples = "make_trace --size 3GiB | trainspotter summarize -    a trace that no memory would hold\n"
		    "make_trace --steps 10 --layers 2 > small.json    a small one",
	.opts = opts,
	.n_opts = COUNT(opts),
};

struct maker {
	struct options o;
	struct buf out;
	uint64_t written, timed;
	struct rand_gen dice;
	int64_t now_ns, device_free_ns;
	uint64_t external_id, event_index, correlation;
};

static void flush(struct maker *m)
{
	struct err e = { 0 };

	if (buf_finish(&m->out, "trace", &e) != OK ||
		file_write_all(STDOUT_FILENO, m->out.p, m->out.n, "standard output", &e) != OK) {
		fprintf(stderr, "make_trace: %s\n", e.text);
		_exit(1);
	}
	m->written += m->out.n;
	buf_reset(&m->out);
}

static void add_us(struct maker *m, const char *key, int64_t ns)
{
	buf_fmt(&m->out, "    \"%s\": %" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void begin_event(struct maker *m, const char *cat, const char *name, int pid, int tid,
	int64_t start_ns, int64_t dur_ns)
{
	buf_fmt(&m->out,
		"  {\n    \"ph\": \"X\",\n    \"cat\": \"%s\",\n    \"name\": \"%s\",\n    \"pid\": %d,\n    "
		"\"tid\": %d,\n",
		cat, name, pid, tid);
	add_us(m, "ts", start_ns);
	buf_text(&m->out, ",\n");
	add_us(m, "dur", dur_ns);
	buf_text(&m->out, "\n    ,\n    \"args\": {\n      ");
	m->timed++;
}

static void end_event(struct maker *m)
{
	buf_text(&m->out, "\n    }\n  },\n");
}

static void flow(struct maker *m, char ph, int pid, int tid, int64_t ts_ns)
{
	buf_fmt(&m->out,
		"  {\n    \"ph\": \"%c\",\n    \"id\": %" PRIu64 ",\n    \"pid\": %d,\n    \"tid\": %d,\n",
		ph, m->correlation, pid, tid);
	add_us(m, "ts", ts_ns);
	buf_fmt(&m->out, ",\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"%s\n  },\n",
		ph == 'f' ? ",\n    \"bp\": \"e\"" : "");
}

static void op_event(struct maker *m, const char *cat, const char *name, const char *dims, int64_t start_ns,
	int64_t dur_ns)
{
	begin_event(m, cat, name, PID, PID, start_ns, dur_ns);
	buf_fmt(&m->out, "\"External id\": %" PRIu64 ",\"Record function id\": 0, ", m->external_id++);
	buf_fmt(&m->out, "\"Sequence number\": %" PRIu64 ", \"Fwd thread id\": 0, ", m->event_index);
	if (m->o.shapes && dims != NULL)
		buf_fmt(&m->out,
			"\"Concrete Inputs\": [\"\", \"\", \"\"], \"Input type\": [\"c10::BFloat16\", \"\", "
			"\"\"], "
			"\"Input Dims\": %s, ",
			dims);
	buf_fmt(&m->out, "\"Ev Idx\": %" PRIu64, m->event_index++);
	end_event(m);
}

/* The runtime's call at launch_ns, and the kernel as soon as the device is free. */
static void launch(struct maker *m, const struct layer_op *op, int64_t launch_ns)
{
	int64_t start_ns = launch_ns + 5000, dur_ns = op->kernel_ns + (int64_t)rand_below(&m->dice, 1000);
	uint64_t external = m->external_id - 1;

	if (start_ns < m->device_free_ns)
		start_ns = m->device_free_ns;
	m->device_free_ns = start_ns + dur_ns;
	m->correlation++;
	begin_event(m, "privateuse1_runtime", "nrta_execute_schedule", PID, PID, launch_ns, LAUNCH_NS);
	buf_fmt(&m->out, "\"External id\": %" PRIu64 ",\"correlation\": %" PRIu64, external, m->correlation);
	end_event(m);
	flow(m, 's', PID, PID, launch_ns);
	begin_event(m, "kernel", op->kernel, 0, STREAM, start_ns, dur_ns);
	buf_fmt(&m->out,
		"\"External id\": %" PRIu64 ",\"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": %d, "
		"\"correlation\": %" PRIu64 ", \"registers per thread\": 32, \"shared memory\": %d, "
		"\"grid\": [%" PRIu64 ", 1, 1], \"block\": [128, 1, 1]",
		external, STREAM, m->correlation, 16 * (int)(op->kernel_ns / 1000), 1 + rand_below(&m->dice, 2048));
	end_event(m);
	flow(m, 'f', 0, STREAM, start_ns);
}

/* How long an op takes with its children: everything deeper that follows it in the table. */
static int64_t whole_ns(size_t i)
{
	int64_t sum = layer[i].self_ns;

	for (size_t k = i + 1; k < COUNT(layer) && layer[k].depth > layer[i].depth; k++)
		sum += layer[k].self_ns;
	return sum;
}

static void one_layer(struct maker *m)
{
	unsigned depth = 0;
	int64_t tail_ns[8] = { 0 }; /* of each open op */

	for (size_t i = 0; i < COUNT(layer); i++) {
		const struct layer_op *op = &layer[i];

		while (depth > op->depth)
			m->now_ns += tail_ns[--depth];
		op_event(m, "cpu_op", op->name, op->dims, m->now_ns, whole_ns(i));
		if (op->kernel != NULL)
			launch(m, op, m->now_ns + op->self_ns / 4);
		m->now_ns += op->self_ns / 2;
		tail_ns[depth++] = op->self_ns - op->self_ns / 2;
		if (depth == 1)
			tail_ns[0] += 200 +
				(int64_t)rand_below(&m->dice, 800); /* between ops, on no op's account */
	}
	while (depth > 0)
		m->now_ns += tail_ns[--depth];
}

static void one_step(struct maker *m, int64_t number)
{
	int64_t start_ns = m->now_ns;
	uint64_t external = m->external_id++;
	char name[40];

	m->now_ns += 2000;
	for (int64_t i = 0; i < m->o.layers; i++) {
		one_layer(m);
		if (m->out.n >= FLUSH)
			flush(m);
	}
	if (m->now_ns < m->device_free_ns)
		m->now_ns = m->device_free_ns;
	m->now_ns += 5000;
	snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, number);
	begin_event(m, "user_annotation", name, PID, PID, start_ns, m->now_ns - start_ns);
	buf_fmt(&m->out, "\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Ev Idx\": %" PRIu64,
		external, m->event_index++);
	end_event(m);
	m->now_ns += STEP_GAP_NS + (int64_t)rand_below(&m->dice, 5000);
}

static void header(struct maker *m)
{
	buf_text(&m->out,
		"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n  ],\n"
		"  \"trace_id\": \"5EED0000000000000000000000000000\",\n  \"displayTimeUnit\": \"ms\",\n"
		"  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n");
	buf_fmt(&m->out,
		"  {\n    \"ph\": \"M\",\n    \"name\": \"process_name\",\n    \"ts\": 5104148876816.506,\n  "
		"  \"pid\": %d,\n"
		"    \"tid\": 0,\n    \"args\": {\n      \"name\": \"python\"\n    }\n  },\n",
		PID);
}

static void footer(struct maker *m)
{
	buf_text(&m->out,
		"  {\n    \"ph\": \"i\",\n    \"s\": \"g\",\n    \"name\": \"Record Window End\",\n    "
		"\"pid\": \"\",\n"
		"    \"tid\": \"\",\n");
	add_us(m, "ts", m->now_ns);
	buf_text(&m->out, "\n  }\n  ],\n  \"traceName\": \"made.json\"\n}\n");
	flush(m);
}

static bool enough(const struct maker *m, int64_t steps)
{
	if (m->o.steps)
		return steps == m->o.steps;
	return m->written + m->out.n >= (uint64_t)m->o.size;
}

int main(int argc, char **argv)
{
	struct maker m = { .o = { .size = 200 << 20, .layers = 32, .seed = 1 },
		.now_ns = INT64_C(5104148876970658) };
	struct err e = { 0 };
	int operands;

	if (opt_parse(&command, command.name, argc - 1, argv + 1, &m.o, &operands, &e) != OK || operands > 0) {
		fprintf(stderr, "make_trace: %s\n", e.text[0] ? e.text : "takes no operands");
		return 2;
	}
	rand_seed(&m.dice, (uint64_t)m.o.seed);
	buf_init(&m.out, 16 * FLUSH);
	m.external_id = 1;
	header(&m);
	for (int64_t steps = 0; !enough(&m, steps); steps++)
		one_step(&m, steps);
	footer(&m);
	if (m.o.tell)
		fprintf(stderr, "make_trace: %" PRIu64 " timed events\n", m.timed);
	buf_fini(&m.out);
	return 0;
}
