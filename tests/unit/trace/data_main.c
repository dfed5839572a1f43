/* Real traces with the tables they must give, to the nanosecond, and damaged ones with what must be said of them.
 * They are found in $TRAINSPOTTER_TEST_DATA/kineto; without it everything here is skipped. Prints TAP. */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "trace/keyavg.h"
#include "trace/reader.h"
#include "trace/rhythm.h"
#include "trace/window.h"

enum { PATH_TEXT = 1024, CASES_MAX = 500, WHY_MAX = 4000 };

static const struct trace_limits limits = TRACE_LIMITS_DEFAULT;
static char root[PATH_TEXT];
static unsigned done;
static bool failed;

static void text_fmt(char *out, size_t cap, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void text_fmt(char *out, size_t cap, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, cap, fmt, ap);
	va_end(ap);
}

static void tap(bool good, const char *name, const char *why)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++done, name);
	if (good)
		return;
	failed = true;
	for (struct str rest = str_of(why); rest.p != NULL;) {
		struct str line = str_split(&rest, '\n');

		printf("# %.*s\n", STR_ARG(line));
	}
}

/* ---- tables */
static void add_name(struct buf *out, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		const char *at = strchr("\\\\\tt\nn\rr", name.p[i]);
		size_t place = at == NULL ? 1 : (size_t)(at - "\\\\\tt\nn\rr");

		if (name.p[i] != '\0' && at != NULL && place % 2 == 0)
			buf_fmt(out, "\\%c", at[1]);
		else
			buf_byte(out, name.p[i]);
	}
}

static void print_table(const struct keyavg_table *kt, struct buf *out)
{
	buf_text(out, "name\tis_device\tis_user_annotation\tcount\tself_cpu_ns\tcpu_total_ns\tself_device_ns\t"
		      "device_total_ns\n");
	for (size_t i = 0; i < kt->n; i++) {
		const struct keyavg_row *r = &kt->v[i];

		add_name(out, r->name);
		buf_fmt(out, "\t%d\t%d\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", r->is_device,
			r->is_user_annotation, r->count, r->self_cpu_ns, r->cpu_total_ns, r->self_device_ns,
			r->device_total_ns);
	}
}

static void print_shapes(const struct keyavg_table *kt, struct buf *out)
{
	buf_text(out, "name\tis_user_annotation\tinput_dims\tcount\tself_cpu_ns\tcpu_total_ns\n");
	for (size_t i = 0; i < kt->n; i++) {
		const struct keyavg_row *r = &kt->v[i];

		add_name(out, r->name);
		buf_fmt(out, "\t%d\t%.*s\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\n", r->is_user_annotation, STR_ARG(r->dims),
			r->count, r->self_cpu_ns, r->cpu_total_ns);
	}
}

static void print_memory(const struct keyavg_table *kt, struct buf *out)
{
	buf_text(out, "name\tis_user_annotation\tcount\tcpu_memory_bytes\tself_cpu_memory_bytes\n");
	for (size_t i = 0; i < kt->n; i++) {
		const struct keyavg_row *r = &kt->v[i];

		add_name(out, r->name);
		buf_fmt(out, "\t%d\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\n", r->is_user_annotation, r->count,
			r->bytes[MEMORY_CPU], r->self_bytes[MEMORY_CPU]);
	}
}

static int read_trace(const char *path, unsigned want, struct trace_report *report, struct trace **t, struct err *e)
{
	struct input *in = NULL;
	int rc = input_open(&in, path, &limits, e);

	*t = NULL;
	if (rc == OK)
		rc = trace_read_more(in, path, &limits, want, NULL, report, t, e);
	input_close(in);
	return rc;
}

static int table_of(const char *path, unsigned want, struct trace_report *report, struct buf *out, struct err *e)
{
	struct trace *t;
	struct keyavg_table kt = { 0 };
	int rc = read_trace(path, want, report, &t, e);

	if (rc == OK)
		rc = keyavg_table_make(&kt, t, e);
	if (rc == OK && want == 0)
		print_table(&kt, out);
	else if (rc == OK && want == TRACE_SHAPES)
		print_shapes(&kt, out);
	else if (rc == OK)
		print_memory(&kt, out);
	keyavg_table_fini(&kt);
	trace_free(t);
	return rc;
}

/* The first line that differs, on both sides. */
static void first_difference(struct str got, struct str want, char *why, size_t cap)
{
	while (got.p != NULL || want.p != NULL) {
		struct str a = got.p == NULL ? STR("(end)") : str_split(&got, '\n');
		struct str b = want.p == NULL ? STR("(end)") : str_split(&want, '\n');

		if (!str_eq(a, b)) {
			text_fmt(why, cap, "got  %.*s\nwant %.*s", STR_ARG(str_upto(a, 1000)), STR_ARG(str_upto(b, 1000)));
			return;
		}
	}
}

static bool matches(const char *trace, unsigned want_more, const char *expected, char *why, size_t cap)
{
	struct trace_report report;
	struct err e = { 0 };
	struct buf got, want;
	bool good = false;

	buf_init(&got, 64 << 20);
	buf_init(&want, 64 << 20);
	if (table_of(trace, want_more, &report, &got, &e) == OK && file_read_all(expected, &want, &e) == OK)
		good = str_eq(buf_view(&got), buf_view(&want));
	if (e.code != OK)
		text_fmt(why, cap, "%s", e.text);
	else if (!good)
		first_difference(buf_view(&got), buf_view(&want), why, cap);
	if (good && report.n_skips > 0) {
		text_fmt(why, cap, "something was lost: %s", report.skips[0].reason);
		good = false;
	}
	buf_fini(&got);
	buf_fini(&want);
	return good;
}

/* ---- windows: of the same traces, valid, and every device event in them once */
struct work {
	int64_t executed_ns, all_ns; /* all: with synchronisation and ranges */
};

static struct work work_of(const char *path, struct err *e)
{
	struct trace_report report;
	struct work work = { 0 };
	struct trace *t;

	if (read_trace(path, 0, &report, &t, e) == OK)
		vec_each(ev, &t->events) {
			const struct event_cat_info *info = event_info(ev);

			work.executed_ns += info->executes ? ev->dur_ns : 0;
			work.all_ns += info->class == EVENT_DEVICE && !info->annotation ? ev->dur_ns : 0;
		}
	trace_free(t);
	return work;
}

/* Ranges and synchronisation have no row of their own, but are part of the time of the ops they are linked to. */
static bool window_adds_up(const char *path, char *why, size_t cap)
{
	const struct window_origin origin = { .service = STR("s"), .host = STR("h"), .source = STR("test") };
	struct trace_report report;
	struct err e = { 0 };
	struct arena a;
	struct window w;
	struct work work = work_of(path, &e);
	int64_t ns = 0;
	int rc;

	arena_init(&a, 64 << 20);
	rc = window_from_file(&a, path, &origin, &limits, &w, &report, &e);
	for (size_t i = 0; rc == OK && i < w.n_ops; i++)
		ns += op_is_device(&w.ops[i]) ? w.ops[i].orphan_ns : w.ops[i].device_self_ns;
	if (rc < 0)
		text_fmt(why, cap, "%s", e.text);
	else if (ns < work.executed_ns || ns > work.all_ns)
		rc = E_FORMAT;
	if (rc == E_FORMAT && e.code == OK)
		text_fmt(why, cap, "%" PRId64 " ns of device time in the window, %" PRId64 " to %" PRId64 " in the trace", ns,
			work.executed_ns, work.all_ns);
	window_fini(&w);
	arena_fini(&a);
	return rc == OK;
}

static void check_trace(const char *trace, const char *expected, const char *name, bool has_rows)
{
	char why[WHY_MAX] = "", title[PATH_TEXT];

	tap(matches(trace, 0, expected, why, sizeof(why)), name, why);
	if (!has_rows)
		return;
	text_fmt(title, sizeof(title), "%s as a window", name);
	tap(window_adds_up(trace, why, sizeof(why)), title, why);
}

/* ---- what there is */
static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list(const char *folder, const char *suffix, char **names)
{
	char path[PATH_TEXT];
	struct dirent *entry;
	size_t n = 0;
	DIR *d;

	text_fmt(path, sizeof(path), "%s/%s", root, folder);
	d = opendir(path);
	while (d != NULL && (entry = readdir(d)) != NULL)
		if (str_has_suffix(str_of(entry->d_name), str_of(suffix)) && n < CASES_MAX)
			names[n++] = mem_dup_text(entry->d_name);
	if (d != NULL)
		closedir(d);
	qsort(names, n, sizeof(*names), compare_texts);
	return n;
}

/* "a__b__c.json" is a/b/c.json, but names may hold "__" too: the most slashes that name a file. */
static bool find_trace(struct str flat, char *path, size_t cap)
{
	size_t at = str_find(flat, STR("__"));
	size_t n = strlen(path);

	if (at == flat.n) {
		text_fmt(path + n, cap - n, "/%.*s", STR_ARG(flat));
		return file_exists(path);
	}
	text_fmt(path + n, cap - n, "/%.*s", STR_ARG(str_upto(flat, at)));
	if (file_exists(path) && find_trace(str_from(flat, at + 2), path, cap))
		return true;
	path[n] = '\0';
	text_fmt(path + n, cap - n, "/%.*s", STR_ARG(flat));
	return file_exists(path);
}

static void check_expected(void)
{
	char *names[CASES_MAX], trace[PATH_TEXT], expected[PATH_TEXT];
	size_t n = list("expected", ".keyavg.tsv", names);

	for (size_t i = 0; i < n; i++) {
		struct str flat = str_of(names[i]);

		str_drop_suffix(&flat, STR(".keyavg.tsv"));
		text_fmt(expected, sizeof(expected), "%s/expected/%s", root, names[i]);
		text_fmt(trace, sizeof(trace), "%s", root);
		find_trace(flat, trace, sizeof(trace));
		check_trace(trace, expected, trace + strlen(root) + 1, true);
		mem_free(names[i]);
	}
	tap(n >= 38, "38 traces with expected tables were there", "fewer");
}

static void check_folder(const char *folder, const char *trace_suffix, size_t at_least)
{
	char *names[CASES_MAX], trace[PATH_TEXT], expected[PATH_TEXT], title[200];
	size_t n = list(folder, ".keyavg.tsv", names);

	for (size_t i = 0; i < n; i++) {
		struct str stem = str_of(names[i]);

		str_drop_suffix(&stem, STR(".keyavg.tsv"));
		text_fmt(expected, sizeof(expected), "%s/%s/%s", root, folder, names[i]);
		text_fmt(trace, sizeof(trace), "%s/%s/%.*s%s", root, folder, STR_ARG(stem), trace_suffix);
		check_trace(trace, expected, trace + strlen(root) + 1, !str_has_prefix(stem, STR("14-")));
		mem_free(names[i]);
	}
	text_fmt(title, sizeof(title), "%zu traces of %s were there", at_least, folder);
	tap(n >= at_least, title, "fewer");
}

static void check_more(const char *expected, unsigned want)
{
	char trace[PATH_TEXT], path[PATH_TEXT], why[WHY_MAX] = "";

	text_fmt(trace, sizeof(trace), "%s/torch_pairs/by_shape.json.gz", root);
	text_fmt(path, sizeof(path), "%s/torch_pairs/%s", root, expected);
	tap(matches(trace, want, path, why, sizeof(why)), path + strlen(root) + 1, why);
}

/* Steps as they are found where nothing marks them; the first five have markers that say the same. */
static const struct {
	const char *file;
	uint64_t n;
	enum steps_from from;
} unmarked[] = {
	{ "training/hta_ns_resolution_rank0.pt.trace.json.gz", 5, STEPS_OPTIMIZER },
	{ "training/hta_trace_diff_control.json.gz", 6, STEPS_OPTIMIZER },
	{ "kineto_tb_plugin/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz", 6, STEPS_OPTIMIZER },
	{ "torch_pairs/by_shape.json.gz", 3, STEPS_OPTIMIZER },
	{ "torch_pairs/eager.json.gz", 5, STEPS_ANCHOR },
	{ "training/param_resnet_kineto.json.gz", 30, STEPS_OPTIMIZER },
	{ "inference/hta_mtia_single_rank_0.json.gz", 0, STEPS_NONE },
	{ "inference/xdit_sd_3.5_rank_0.json.gz", 0, STEPS_NONE },
	{ "torch_pairs/compiled.json.gz", 0, STEPS_NONE },
};

static void check_steps(void)
{
	for (size_t i = 0; i < COUNT(unmarked); i++) {
		char path[PATH_TEXT], why[WHY_MAX], title[PATH_TEXT];
		struct trace_report report;
		struct rhythm found = { 0 };
		int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
		struct err e = { 0 };
		struct trace *t;
		int rc;

		text_fmt(path, sizeof(path), "%s/%s", root, unmarked[i].file);
		rc = read_trace(path, 0, &report, &t, &e);
		if (rc == OK)
			vec_each(ev, &t->events) {
				from_ns = ev->start_ns < from_ns ? ev->start_ns : from_ns;
				to_ns = event_end_ns(ev) > to_ns ? event_end_ns(ev) : to_ns;
			}
		if (rc == OK)
			rc = rhythm_find(t, to_ns - from_ns, &found, &e);
		trace_free(t);
		text_fmt(title, sizeof(title), "steps of %s", unmarked[i].file);
		text_fmt(why, sizeof(why), "%" PRIu64 " from %s %s", found.n, steps_from_name(found.from), e.text);
		tap(rc == OK && found.n == unmarked[i].n && found.from == unmarked[i].from, title, why);
		rhythm_fini(&found);
	}
}

/* ---- damaged files: the code, how many events, what is said */
static const struct {
	const char *file;
	int rc;
	uint64_t events;
	const char *said;
} malformed[] = {
	{ "bad_backslash.json", OK, 7, "|" },
	{ "bad_crc.json.gz", OK, 674, "1 bad_checksum@1078537 |" },
	{ "control_char.json", OK, 7, "| 2 raw_controls" },
	{ "deep_nesting_args.json", OK, 1, "|" },
	{ "empty_events.json", OK, 0, "|" },
	{ "empty_file.json", E_FORMAT, 0, "|" },
	{ "invalid_utf8.json", OK, 7, "|" },
	{ "multi_member.json.gz", OK, 674, "|" },
	{ "negative_and_missing_dur.json", OK, 3, "| 2 unfinished" },
	{ "overlap_child_ends_after_parent.json", OK, 3, "|" },
	{ "trailing_comma.json", OK, 1, "| 1 extra_commas" },
	{ "truncated.json.gz", OK, 480, "1 truncated@581125 |" },
	{ "truncated_mid_event.json", OK, 480, "1 truncated@647122 |" },
	{ "unescaped_quote_newline.json", OK, 7, "| 2 raw_quotes 1 raw_controls" },
	{ "unterminated_array.json", OK, 2, "| 1 open_array" },
};

static void say(const struct trace_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_skips; i++)
		buf_fmt(out, "%" PRIu64 " %s@%" PRIu64 " ", r->skips[i].count, r->skips[i].reason, r->skips[i].offset);
	buf_text(out, "|");
	for (size_t i = 0; i < r->n_notes; i++)
		buf_fmt(out, " %" PRIu64 " %s", r->notes[i].count, r->notes[i].reason);
}

static void check_malformed(void)
{
	for (size_t i = 0; i < COUNT(malformed); i++) {
		char path[PATH_TEXT], why[WHY_MAX];
		struct trace_report report = { 0 };
		struct err e = { 0 };
		struct buf said, table;
		int rc;

		buf_init(&said, 4096);
		buf_init(&table, 64 << 20);
		text_fmt(path, sizeof(path), "%s/malformed/%s", root, malformed[i].file);
		rc = table_of(path, 0, &report, &table, &e);
		say(&report, &said);
		text_fmt(why, sizeof(why), "%s (%s), %" PRIu64 " events, %s", code_name(rc), e.text, report.events,
			buf_view(&said).p);
		tap(rc == malformed[i].rc && report.events == malformed[i].events &&
				str_eq(buf_view(&said), str_of(malformed[i].said)),
			path + strlen(root) + 1, why);
		buf_fini(&said);
		buf_fini(&table);
	}
}

/* Blocks of an odd size put a seam into every kind of token of a real trace. */
static void check_seams(void)
{
	static const size_t sizes[] = { 1, 7, 4099 };
	char path[PATH_TEXT];
	struct err e = { 0 };
	struct buf text, want, got;
	bool good = true;

	buf_init(&text, 64 << 20);
	buf_init(&want, 64 << 20);
	buf_init(&got, 64 << 20);
	text_fmt(path, sizeof(path), "%s/made_here/libkineto_ondemand_pu1_24505.json", root);
	for (size_t i = 0; i <= COUNT(sizes) && good; i++) {
		struct trace_reader *r = trace_reader_new(1000000);
		struct trace_report report = { 0 };
		struct keyavg_table kt = { 0 };
		struct trace *t = NULL;
		size_t size = i == 0 ? SIZE_MAX : sizes[i - 1];

		buf_reset(&text);
		buf_reset(&got);
		good = file_read_all(path, &text, &e) == OK;
		for (size_t at = 0; good && at < text.n; at += size > text.n ? text.n : size)
			good = trace_reader_feed(r, str_upto(str_from(buf_view(&text), at), size), &e) == OK;
		good = good && trace_reader_end(r, &report, &t, &e) == OK && keyavg_table_make(&kt, t, &e) == OK;
		if (good)
			print_table(&kt, i == 0 ? &want : &got);
		good = good && kt.n > 5 && (i == 0 || str_eq(buf_view(&got), buf_view(&want)));
		keyavg_table_fini(&kt);
		trace_free(t);
		trace_reader_free(r);
	}
	tap(good, "blocks of any size give the same rows", e.text);
	buf_fini(&text);
	buf_fini(&want);
	buf_fini(&got);
}

int main(void)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");

	if (data == NULL || data[0] == '\0') {
		printf("1..0 # SKIP TRAINSPOTTER_TEST_DATA is not set: traces with expected tables are not at hand\n");
		return 0;
	}
	text_fmt(root, sizeof(root), "%s/kineto", data);
	check_expected();
	check_folder("torch_pairs", ".json.gz", 13);
	check_folder("cases", ".json", 13);
	check_more("by_shape.shapes.tsv", TRACE_SHAPES);
	check_more("by_shape.memory.tsv", TRACE_MEMORY);
	check_steps();
	check_malformed();
	check_seams();
	printf("1..%u\n", done);
	return failed;
}
