/* Verdicts on constructed cases and on real pairs of traces, read as "trainspotter diff" reads them, against those that
 * stand beside them in $TRAINSPOTTER_TEST_DATA/detect; without it everything here is skipped. Prints TAP. */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/must.h"
#include "base/vec.h"
#include "cli/diff_side.h"
#include "json/tree.h"
#include "json/write.h"

enum { PATH_ROOM = 1024, CASES = 24, PAIRS = 46, ARENA_BYTES = 256 << 20 };

static const char *root;
static struct fusion_table *fusion;
static unsigned done;
static bool failed;

static void tap(bool good, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void tap(bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("%s %u - ", good ? "ok" : "not ok", ++done);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	failed |= !good;
}

/* ---- judging */

/* NULL, and said why, where a file cannot be read. */
static struct side *read_files(const char *const *paths, size_t n)
{
	struct side *s = side_new(fusion);
	struct err e = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (diff_side_read(s, paths[i], NULL, &e) == OK)
			continue;
		printf("# %s\n", e.text);
		side_free(s);
		return NULL;
	}
	return s;
}

/* Takes both sides. VERDICTS where a side is missing. */
static enum verdict_kind judge_sides(struct side *before, struct side *after)
{
	enum verdict_kind kind = VERDICTS;
	struct verdict v;
	struct err e = { 0 };
	struct arena a;

	arena_init(&a, ARENA_BYTES);
	if (before != NULL && after != NULL) {
		if (judge(before, after, JUDGE_DIFF, &a, &v, &e) == OK)
			kind = v.kind;
		else
			printf("# %s\n", e.text);
		if (kind != VERDICTS && v.n_findings > 0)
			printf("# %.*s\n", STR_ARG(v.findings[0].sentence));
	}
	side_free(before);
	side_free(after);
	arena_fini(&a);
	return kind;
}

static const char *name_of(enum verdict_kind k)
{
	return k == VERDICTS ? "not to be judged" : verdict_name(k);
}

/* "fusion_lost|fusion_changed" */
static bool is_one_of(struct str want, enum verdict_kind got)
{
	while (want.p != NULL)
		if (str_eq(str_split(&want, '|'), str_of(name_of(got))))
			return true;
	return false;
}

static struct str read_text(const char *path, struct arena *a)
{
	struct err e = { 0 };
	struct buf text;
	struct str s = STR("");

	buf_init(&text, 16 << 20);
	if (file_read_all(path, &text, &e) == OK)
		s = arena_str(a, buf_view(&text));
	else
		printf("# %s\n", e.text);
	buf_fini(&text);
	return s;
}

/* ---- constructed cases: one file of op tables */

static void write_node(struct json_writer *w, const struct json_node *n)
{
	switch (n->kind) {
	case JSON_K_ARRAY:
	case JSON_K_OBJECT:
		if (n->kind == JSON_K_ARRAY)
			jw_array(w);
		else
			jw_object(w);
		for (size_t i = 0; i < n->n; i++) {
			if (n->kind == JSON_K_OBJECT)
				jw_key_of(w, n->items[i].key);
			write_node(w, &n->items[i]);
		}
		jw_end(w);
		break;
	case JSON_K_STRING:
		jw_str(w, n->text);
		break;
	case JSON_K_NUMBER:
		jw_raw(w, n->text);
		break;
	case JSON_K_BOOL:
		jw_bool(w, n->truth);
		break;
	case JSON_K_NULL:
	case JSON_KINDS:
		jw_null(w);
		break;
	}
}

static struct side *read_node(const struct json_node *optable)
{
	static const char path[] = "diff-data-case.json";
	const char *const paths[] = { path };
	struct side *s = NULL;
	struct json_writer w;
	struct buf b;

	buf_init(&b, 1 << 20);
	jw_init(&w, &b);
	write_node(&w, optable);
	if (jw_finish(&w, NULL) == OK && file_replace(path, buf_view(&b), 0600, NULL) == OK)
		s = read_files(paths, 1);
	unlink(path);
	buf_fini(&b);
	return s;
}

static void check_cases(void)
{
	const struct json_node *cases;
	char path[PATH_ROOM];
	struct arena a;
	size_t n = 0;

	arena_init(&a, ARENA_BYTES);
	snprintf(path, sizeof(path), "%s/fusion-cases/cases.json", root);
	if (json_parse(&a, read_text(path, &a), &cases, NULL) == OK)
		n = cases->n;
	for (size_t i = 0; i < n; i++) {
		const struct json_node *c = &cases->items[i];
		enum verdict_kind got = judge_sides(read_node(json_get(c, "before")), read_node(json_get(c, "after")));

		tap(is_one_of(json_get_str(c, "expect"), got), "%.*s is %s", STR_ARG(json_get_str(c, "id")), name_of(got));
	}
	tap(n >= CASES, "%d constructed cases were there", CASES);
	arena_fini(&a);
}

/* ---- real pairs: two windows a side, made by running torch */

struct pair {
	const char *release;
	struct str name, want;
};

/* Windows from to, counted from 0. */
static struct side *read_windows(const struct pair *p, const char *which, int from, int to)
{
	char path[2][PATH_ROOM];
	const char *paths[2];
	size_t n = 0;

	must(from >= 0 && to - from < 2);
	for (int i = from; i <= to; i++, n++) {
		snprintf(path[n], PATH_ROOM, "%s/fusion-real/%s/%.*s.%s%d.json.gz", root, p->release, STR_ARG(p->name), which,
			i);
		paths[n] = path[n];
	}
	return read_files(paths, n);
}

static bool is_structural(enum verdict_kind k)
{
	return k == VERDICT_FUSION_LOST || k == VERDICT_FUSION_CHANGED || k == VERDICT_GRAPH_BREAKS || k == VERDICTS;
}

/* Lost fusion and graph breaks are none, improvements are lost fusion. What was no loss is none either way, but an op
 * may truly be slower: 32 bits after 16. */
static bool is_right_backwards(const struct pair *p, enum verdict_kind got)
{
	if (str_eq(p->name, STR("eager-to-compiled")) || str_eq(p->name, STR("manual-to-native")))
		return got == VERDICT_FUSION_LOST;
	return is_one_of(p->want, VERDICT_NONE) ? !is_structural(got) : got == VERDICT_NONE;
}

static void check_pair(const struct pair *p)
{
	enum verdict_kind got = judge_sides(read_windows(p, "before", 0, 1), read_windows(p, "after", 0, 1));

	tap(is_one_of(p->want, got), "%s %.*s is %s", p->release, STR_ARG(p->name), name_of(got));
	got = judge_sides(read_windows(p, "after", 0, 1), read_windows(p, "before", 0, 1));
	tap(is_right_backwards(p, got), "%s %.*s backwards is %s", p->release, STR_ARG(p->name), name_of(got));
}

/* At most step_slower; op_slower is counted, since the machine was noisy. */
static void check_same(const struct pair *p, const char *which, unsigned *op_slower)
{
	enum verdict_kind got = judge_sides(read_windows(p, which, 0, 0), read_windows(p, which, 1, 1));

	*op_slower += got == VERDICT_OP_SLOWER;
	tap(got == VERDICT_NONE || got == VERDICT_STEP_SLOWER || got == VERDICT_OP_SLOWER,
		"%s %.*s, two windows of the code %s, is %s", p->release, STR_ARG(p->name), which, name_of(got));
}

/* Each line of the manifest behind its head. */
static size_t check_release(const char *release, unsigned *op_slower)
{
	char path[PATH_ROOM];
	struct arena a;
	struct str rest;
	size_t n = 0;

	arena_init(&a, ARENA_BYTES);
	snprintf(path, sizeof(path), "%s/fusion-real/%s/MANIFEST.tsv", root, release);
	rest = read_text(path, &a);
	str_split(&rest, '\n');
	while (rest.p != NULL) {
		struct str line = str_split(&rest, '\n');
		struct pair p = { .release = release };

		if (str_empty(line))
			continue;
		p.name = str_split(&line, '\t');
		p.want = str_split(&line, '\t');
		check_pair(&p);
		check_same(&p, "before", op_slower);
		check_same(&p, "after", op_slower);
		n++;
	}
	arena_fini(&a);
	return n;
}

static void check_real(void)
{
	static const char *const releases[] = { "torch-2.15", "torch-2.9" };
	unsigned op_slower = 0;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(releases); i++)
		n += check_release(releases[i], &op_slower);
	tap(n >= PAIRS, "%d real pairs were there", PAIRS);
	tap(op_slower <= 1, "an op seems slower in %u of %zu windows of the same code", op_slower, 2 * n);
}

/* ---- traces of XLA: one compiled graph a step, and the same op by op */

static struct side *read_xla(const char *data, const char *name)
{
	char path[PATH_ROOM];
	const char *paths[] = { path };

	snprintf(path, sizeof(path), "%s/xla/%s", data, name);
	return read_files(paths, 1);
}

static void check_xla(const char *data)
{
	static const struct {
		const char *before, *after;
		enum verdict_kind want;
	} pairs[] = {
		{ "jit.trace.json.gz", "eager.trace.json.gz", VERDICT_FUSION_LOST },
		{ "jit.xplane.pb", "eager.xplane.pb", VERDICT_FUSION_LOST },
		{ "jit.trace.json.gz", "eager.xplane.pb", VERDICT_FUSION_LOST },
		{ "torch_xla_lazy.xplane.pb", "torch_xla_eager.xplane.pb", VERDICT_FUSION_LOST },
		{ "eager.trace.json.gz", "jit.trace.json.gz", VERDICT_NONE },
		{ "eager.xplane.pb", "jit.xplane.pb", VERDICT_NONE },
		{ "torch_xla_eager.xplane.pb", "torch_xla_lazy.xplane.pb", VERDICT_NONE },
		{ "jit.xplane.pb", "jit.trace.json.gz", VERDICT_NONE },
		{ "eager.xplane.pb", "eager.trace.json.gz", VERDICT_NONE },
		{ "torch_xla_lazy.xplane.pb", "torch_xla_lazy.xplane.pb", VERDICT_NONE },
	};

	for (size_t i = 0; i < COUNT(pairs); i++) {
		enum verdict_kind got = judge_sides(read_xla(data, pairs[i].before), read_xla(data, pairs[i].after));

		tap(got == pairs[i].want, "%s to %s is %s", pairs[i].before, pairs[i].after, name_of(got));
	}
}

int main(void)
{
	const char *data = getenv("TRAINSPOTTER_TEST_DATA");
	char folder[PATH_ROOM];

	if (data == NULL || data[0] == '\0') {
		printf("1..0 # SKIP TRAINSPOTTER_TEST_DATA is not set: pairs of traces with expected verdicts are not at hand\n");
		return 0;
	}
	snprintf(folder, sizeof(folder), "%s/detect", data);
	root = folder;
	if (fusion_table_new(&fusion, NULL) != OK) {
		printf("Bail out! the compiled-in fusion table cannot be read\n");
		return 1;
	}
	check_cases();
	check_real();
	check_xla(data);
	printf("1..%u\n", done);
	fusion_table_free(fusion);
	return failed;
}
