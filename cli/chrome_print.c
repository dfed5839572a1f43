#include "cli/chrome_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/keyavg_print.h"

enum track { TRACK_STEPS = 1, TRACK_LARGEST, TRACK_OPS, TRACK_KERNELS, TRACK_CPU, TRACK_HLO, TRACK_ENGINES, TRACK_GAPS };

/* Microseconds with three decimals, which is exact. */
static void key_time(struct json_writer *w, const char *key, int64_t ns)
{
	char text[48];
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
	jw_key(w, key);
	jw_raw(w, str_of(text));
}

/* Everything of a record about a process (track 0) or a track but its end and that of its args. */
static void begin_meta(struct json_writer *w, const char *what, size_t pid, enum track track)
{
	jw_object(w);
	jw_key_text(w, "ph", "M");
	jw_key_text(w, "name", what);
	jw_key_u64(w, "pid", pid);
	if (track != 0)
		jw_key_u64(w, "tid", track);
	jw_key_object(w, "args");
}

static void end_meta(struct json_writer *w)
{
	jw_end(w);
	jw_end(w);
}

static void process(struct json_writer *w, size_t pid, const char *file, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: %s", file, name);
	begin_meta(w, "process_name", pid, 0);
	jw_key_text(w, "name", text);
	end_meta(w);
	begin_meta(w, "process_sort_index", pid, 0); /* without it viewers go by the name */
	jw_key_u64(w, "sort_index", pid);
	end_meta(w);
}

static void track(struct json_writer *w, size_t pid, enum track track, const char *name)
{
	begin_meta(w, "thread_name", pid, track);
	jw_key_text(w, "name", name);
	end_meta(w);
	begin_meta(w, "thread_sort_index", pid, track);
	jw_key_u64(w, "sort_index", track);
	end_meta(w);
}

/* Everything of a slice but its end and that of its args. */
static void begin_slice(struct json_writer *w, struct str name, size_t pid, enum track track, int64_t start_ns,
	int64_t dur_ns)
{
	jw_object(w);
	jw_key_text(w, "ph", "X");
	jw_key_text(w, "cat", "summary");
	jw_key_str(w, "name", name);
	jw_key_u64(w, "pid", pid);
	jw_key_u64(w, "tid", track);
	key_time(w, "ts", start_ns);
	key_time(w, "dur", dur_ns);
	jw_key_object(w, "args");
}

static void end_slice(struct json_writer *w)
{
	jw_end(w);
	jw_end(w);
}

static void counter(struct json_writer *w, const char *name, const char *series, size_t pid, int64_t at_ns, double value)
{
	jw_object(w);
	jw_key_text(w, "ph", "C");
	jw_key_text(w, "cat", "summary");
	jw_key_text(w, "name", name);
	jw_key_u64(w, "pid", pid);
	key_time(w, "ts", at_ns);
	jw_key_object(w, "args");
	jw_key_double(w, series, value);
	jw_end(w);
	jw_end(w);
}

/* busy: below 0 where there is no device. */
static void counters(struct json_writer *w, size_t pid, int64_t at_ns, double launches, double busy)
{
	counter(w, "launches a step", "launches", pid, at_ns, launches);
	if (busy >= 0)
		counter(w, "device busy %", "percent", pid, at_ns, busy);
}

/* ---- steps */
static void largest_ops(struct json_writer *w, const struct step_row *r, size_t pid)
{
	int64_t at_ns = r->start_ns, left_ns = r->wall_ns;

	for (size_t k = 0; k < r->n_ops && left_ns > 0; k++) {
		int64_t ns = r->ops[k].ns < left_ns ? r->ops[k].ns : left_ns;

		begin_slice(w, r->ops[k].name, pid, TRACK_LARGEST, at_ns, ns);
		jw_key_u64(w, "calls", r->ops[k].calls);
		jw_key_i64(w, "ns", r->ops[k].ns);
		end_slice(w);
		at_ns = ns_add(at_ns, ns);
		left_ns -= ns;
	}
}

static void step(struct json_writer *w, const struct step_table *st, const struct step_row *r, size_t pid)
{
	char name[40];
	double all_ns = (double)r->wall_ns * (double)st->devices;

	snprintf(name, sizeof(name), "step %" PRId64, r->number);
	begin_slice(w, str_of(name), pid, TRACK_STEPS, r->start_ns, r->wall_ns);
	jw_key_i64(w, "device_busy_ns", r->device_busy_ns);
	jw_key_i64(w, "gap_ns", r->gap_ns);
	jw_key_u64(w, "launches", r->launches);
	end_slice(w);
	largest_ops(w, r, pid);
	counters(w, pid, r->start_ns, (double)r->launches, all_ns > 0 ? 100.0 * (double)r->device_busy_ns / all_ns : -1);
}

/* A counter holds until the next value: the last step's is over with it. */
static void steps(struct json_writer *w, const struct step_table *st, size_t pid)
{
	const struct step_row *last = &st->rows.v[st->rows.n - 1];

	for (size_t i = 0; i < st->rows.n; i++)
		step(w, st, &st->rows.v[i], pid);
	counters(w, pid, ns_add(last->start_ns, last->wall_ns), 0, st->devices > 0 ? 0 : -1);
}

/* ---- ops */
static int64_t length(const struct keyavg_row *r, enum track track)
{
	switch (track) {
	case TRACK_OPS: return r->is_device ? 0 : r->self_device_ns;
	case TRACK_KERNELS: return r->is_device && !r->is_user_annotation ? r->self_device_ns : 0;
	case TRACK_CPU: return r->self_cpu_ns;
	case TRACK_HLO:
	case TRACK_ENGINES:
	case TRACK_GAPS: return r->self_device_ns;
	case TRACK_STEPS:
	case TRACK_LARGEST: break;
	}
	return 0;
}

static const struct {
	enum track track;
	const char *name;
	enum keyavg_column by;
} op_tracks[] = {
	{ TRACK_OPS, "device time by op, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_KERNELS, "device time by kernel, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_CPU, "self CPU time by op, largest first", KEYAVG_SELF_CPU },
};

static void ops(struct json_writer *w, const struct keyavg_table *kt, enum track track, size_t pid, size_t limit)
{
	int64_t at_ns = 0;

	for (size_t i = 0, n = 0; i < kt->n && n < limit; i++) {
		const struct keyavg_row *r = &kt->v[i];
		int64_t ns = length(r, track);

		if (ns <= 0)
			continue;
		begin_slice(w, r->name, pid, track, at_ns, ns);
		jw_key_u64(w, "calls", r->count);
		jw_key_i64(w, "self_cpu_ns", r->self_cpu_ns);
		jw_key_i64(w, "cpu_total_ns", r->cpu_total_ns);
		jw_key_i64(w, "self_device_ns", r->self_device_ns);
		jw_key_i64(w, "device_total_ns", r->device_total_ns);
		end_slice(w);
		at_ns = ns_add(at_ns, ns);
		n++;
	}
}

void chrome_print(struct keyavg_table *kt, const struct step_table *st, const char *file, size_t index, size_t limit,
	struct json_writer *w)
{
	size_t steps_pid = 2 * index + 1, ops_pid = steps_pid + 1;

	if (st != NULL && st->rows.n > 0) {
		process(w, steps_pid, file, "steps");
		track(w, steps_pid, TRACK_STEPS, "steps");
		track(w, steps_pid, TRACK_LARGEST, "largest ops of each step, end to end");
		steps(w, st, steps_pid);
	}
	process(w, ops_pid, file, "all ops");
	for (size_t i = 0; i < COUNT(op_tracks); i++) {
		keyavg_sort(kt, op_tracks[i].by);
		track(w, ops_pid, op_tracks[i].track, op_tracks[i].name);
		ops(w, kt, op_tracks[i].track, ops_pid, limit);
	}
}

/* ---- windows */

static enum track device_track(enum op_kind kind)
{
	switch (kind) {
	case OP_HLO: return TRACK_HLO;
	case OP_ENGINE: return TRACK_ENGINES;
	case OP_GAP: return TRACK_GAPS;
	case OP_KERNEL:
	case OP_MEMCPY:
	case OP_MEMSET:
	case OP_COLLECTIVE: return TRACK_KERNELS;
	case OP_STEP:
	case OP_CPU_OP:
	case OP_ANNOTATION:
	case OP_REGION:
	case OP_RUNTIME:
	case OP_OVERHEAD:
	case OP_KINDS: break;
	}
	return TRACK_OPS;
}

static const struct {
	enum track track;
	const char *name;
	enum keyavg_column by;
} window_tracks[] = {
	{ TRACK_OPS, "device time by op, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_KERNELS, "device time by kernel or instruction, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_HLO, "device time by HLO op, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_ENGINES, "device time by engine, largest first", KEYAVG_SELF_DEVICE },
	{ TRACK_GAPS, "gaps between executions", KEYAVG_SELF_DEVICE },
	{ TRACK_CPU, "self CPU time by op, largest first", KEYAVG_SELF_CPU },
};

/* The rows of one track. */
static void take_rows(const struct window *of, enum track track, struct keyavg_table *kt)
{
	kt->n = 0;
	for (size_t i = 0; i < of->n_ops; i++) {
		const struct op_summary *op = &of->ops[i];
		struct keyavg_row row = { .name = op->name, .is_device = op_is_device(op), .count = op->calls,
			.self_cpu_ns = op->cpu_self_ns, .cpu_total_ns = op->cpu_total_ns,
			.self_device_ns = op->device_self_ns, .device_total_ns = op->device_total_ns };

		if ((track == TRACK_CPU || track == device_track(op->kind)) && length(&row, track) > 0)
			kt->v[kt->n++] = row;
	}
}

void chrome_print_window(const struct window *of, const char *file, size_t index, size_t limit, struct json_writer *w)
{
	struct keyavg_table kt = { .v = mem_get_array(of->n_ops, sizeof(*kt.v)) };
	size_t pid = 2 * index + 2;

	process(w, pid, file, "all ops");
	for (size_t i = 0; i < COUNT(window_tracks); i++) {
		take_rows(of, window_tracks[i].track, &kt);
		if (kt.n == 0)
			continue;
		keyavg_sort(&kt, window_tracks[i].by);
		track(w, pid, window_tracks[i].track, window_tracks[i].name);
		ops(w, &kt, window_tracks[i].track, pid, limit);
	}
	mem_free(kt.v);
}
