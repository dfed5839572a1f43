#include "trace/normalise.h"

#include <inttypes.h>

#include "base/hash.h"

enum run {
	RUN_DIGITS,
	RUN_RATIO, /* digits and '/': frame and compile id */
	RUN_HEX,   /* lower-case */
	RUN_WORD,  /* letters and digits */
	RUN_BUILD, /* letters, digits, '+', '_': MODULE_1234+ab12 */
	RUN_COUNTS, /* digits, '_', '(', ')' */
	RUNS
};

/* head, at least min characters of the run, then tail ("" for whatever comes): the run becomes "*". */
static const struct rule {
	struct str head;
	enum run run;
	size_t min;
	struct str tail;
	struct str with; /* instead of head and run */
	bool at_start;
} rules[] = {
	{ STR("ProfilerStep#"), RUN_DIGITS, 1, STR(""), STR("ProfilerStep*"), true },
	{ STR("Torch-Compiled Region: "), RUN_RATIO, 1, STR(""), STR("Torch-Compiled Region: *"), true },
	{ STR("CompiledFxGraph "), RUN_WORD, 8, STR(""), STR("CompiledFxGraph *"), false },
	{ STR("MODULE_"), RUN_BUILD, 1, STR(""), STR("MODULE_*"), false },
	{ STR("neuron_graph_"), RUN_WORD, 1, STR(""), STR("neuron_graph_*"), false },
	{ STR("neuron_graph."), RUN_WORD, 1, STR(""), STR("neuron_graph.*"), false },
	{ STR("neff_"), RUN_HEX, 8, STR(""), STR("neff_*"), false },
	{ STR("SyncTensorsGraph."), RUN_DIGITS, 1, STR(""), STR("SyncTensorsGraph.*"), false },
	{ STR("graph_"), RUN_DIGITS, 1, STR("_"), STR("graph_*"), true },
	{ STR("execute_context_"), RUN_COUNTS, 1, STR("generation_"), STR("execute_context_*_"), true },
	{ STR("generation_"), RUN_COUNTS, 1, STR(""), STR("generation_*"), false },
	{ STR("0x"), RUN_HEX, 4, STR(""), STR("0x*"), false },
};

/* A run of hex digits between other characters that is at least this long is a hash. */
enum { HASH_MIN = 16 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool in_run(char c, enum run run)
{
	switch (run) {
	case RUN_DIGITS: return is_digit(c);
	case RUN_RATIO: return is_digit(c) || c == '/';
	case RUN_HEX: return is_hex(c);
	case RUN_WORD: return is_word(c);
	case RUN_BUILD: return is_word(c) || c == '+' || c == '_';
	case RUN_COUNTS: return is_digit(c) || c == '_' || c == '(' || c == ')';
	case RUNS: break;
	}
	return false;
}

/* How much of s the rule takes, 0 where it does not match. */
static size_t rule_match(const struct rule *r, struct str s, bool at_start)
{
	size_t n = r->head.n;

	if ((r->at_start && !at_start) || !str_has_prefix(s, r->head))
		return 0;
	while (n < s.n && in_run(s.p[n], r->run))
		n++;
	return n - r->head.n >= r->min && str_has_prefix(str_from(s, n), r->tail) ? n : 0;
}

static size_t hash_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_hex(s.p[n]))
		n++;
	return n >= HASH_MIN && (n == s.n || !is_word(s.p[n])) ? n : 0;
}

/* Inductor numbers its kernels in the order of the graph, and older releases added a word about the arguments:
 * "triton_poi_fused_add_mul_12", "cpp_fused_add_3", "triton_red_fused_sum_4_0d1d2de". */
static bool is_inductor(struct str name)
{
	str_drop_prefix(&name, STR("graph_*_"));
	return str_has_prefix(name, STR("triton_")) || str_has_prefix(name, STR("cpp_fused_")) ||
	       str_has_prefix(name, STR("cpp_CPU_"));
}

static bool is_number_word(struct str word)
{
	if (word.n == 0 || !is_digit(word.p[0]))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (!is_digit(word.p[i]) && word.p[i] != 'd' && word.p[i] != 'e' && word.p[i] != 'c')
			return false;
	return true;
}

/* Without its last words that are numbers. */
static struct str without_numbers(struct str name)
{
	struct str s = name;

	for (;;) {
		size_t at = s.n;

		while (at > 0 && s.p[at - 1] != '_')
			at--;
		if (at < 2 || !is_number_word(str_from(s, at)))
			return s;
		s = str_upto(s, at - 1);
	}
}

static void star_numbers(struct buf *scratch)
{
	struct str whole = buf_view(scratch), short_name = without_numbers(whole);

	if (!is_inductor(whole) || short_name.n == whole.n)
		return;
	buf_trim(scratch, short_name.n);
	buf_text(scratch, "_*");
}

static size_t apply(struct str rest, bool at_start, bool in_word, struct buf *out)
{
	size_t n;

	for (size_t i = 0; i < COUNT(rules); i++) {
		n = rule_match(&rules[i], rest, at_start);
		if (n > 0) {
			buf_str(out, rules[i].with);
			return n;
		}
	}
	n = in_word ? 0 : hash_length(rest);
	if (n > 0)
		buf_byte(out, '*');
	return n;
}

/* Long names come from templates. Cut where a character starts. */
static void shorten(struct buf *b, size_t max)
{
	uint64_t hash = hash64(b->p, b->n, 0);
	size_t keep = max - 17;

	if (b->n <= max)
		return;
	while (keep > 0 && ((unsigned char)b->p[keep] & 0xc0) == 0x80)
		keep--;
	buf_trim(b, keep);
	buf_fmt(b, "~%016" PRIx64, hash);
}

struct str normalise_name(struct str name, size_t max, struct buf *scratch)
{
	bool in_word = false;

	buf_reset(scratch);
	for (size_t i = 0; i < name.n;) {
		size_t n = apply(str_from(name, i), i == 0, in_word, scratch);

		if (n == 0) {
			buf_byte(scratch, name.p[i] == '\0' ? ' ' : name.p[i]);
			n = 1;
		}
		i += n;
		in_word = is_word(name.p[i - 1]);
	}
	star_numbers(scratch);
	if (scratch->rc == OK)
		shorten(scratch, max);
	return str_eq(buf_view(scratch), name) ? name : buf_view(scratch);
}

/* ---- kinds of names */
static const struct str regions[] = { /* patterns of str_glob */
	STR("Torch-Compiled Region*"), STR("CompiledFunction"), STR("CompiledFunctionBackward"), STR("*CompiledFxGraph*"),
	STR("neuron_graph*"), STR("MODULE_*"), STR("*.neff"),
};

static const struct str collectives[] = {
	STR("nccl*"), STR("gloo:*"), STR("mpi:*"), STR("ucc:*"), STR("rccl*"), STR("oneccl*"), STR("all-reduce*"),
	STR("all-gather*"), STR("reduce-scatter*"), STR("all-to-all*"), STR("collective-permute*"),
};

static bool any_glob(const struct str *patterns, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_glob(patterns[i], name))
			return true;
	return false;
}

bool name_is_region(struct str name)
{
	return any_glob(regions, COUNT(regions), name);
}

bool name_is_collective(struct str name)
{
	return any_glob(collectives, COUNT(collectives), name);
}

bool name_region_ids(struct str name, struct str *frame, struct str *compile)
{
	size_t slash;
	uint64_t number;

	if (!str_drop_prefix(&name, STR("Torch-Compiled Region: ")))
		return false;
	slash = str_find_byte(name, '/');
	*frame = str_upto(name, slash);
	*compile = name;
	return slash < name.n && str_to_u64(*frame, &number) == OK &&
	       str_to_u64(str_from(name, slash + 1), &number) == OK;
}
