#include "trace/normalise.h"

#include <inttypes.h>

#include "base/hash.h"

enum run {
	RUN_DIGITS,
	RUN_RATIO, /* digits, '/', and '!' and '-' of compiled autograd: "3/1", "!0/3/1" */
	RUN_HEX,
	RUN_ID,	   /* hex digits, one of 0 to 9 at least */
	RUN_WORD,  /* letters and digits, one digit at least */
	RUN_BUILD, /* letters, digits, '+', '_', '-', ".5", one digit at least: MODULE_1234+ab12 */
	RUN_VERSION, /* lower-case letters, digits, '.', '+', one digit at least: neuronxcc-2.21.18209.0+043b1bf7 */
	RUN_COUNTS, /* digits, '_', '(', ')', and "sq", "sk" behind a digit: 32(sq32sk785) */
	RUN_TEMP,  /* lower-case letters, digits, '_' */
	RUN_PATH,  /* letters, digits, '_', '-', '.', '/' */
	RUNS
};

/* head, at least min characters of the run, then tail ("" for whatever comes): head and run become "with". A head that
 * starts with a letter or digit stands at the start of a word. */
static const struct rule {
	struct str head;
	enum run run;
	size_t min;
	struct str tail;
	struct str with;
	bool at_start; /* of the name */
} rules[] = {
	{ STR("ProfilerStep#"), RUN_DIGITS, 1, STR(""), STR("ProfilerStep*"), true },
	/* torch.compile */
	{ STR("Torch-Compiled Region: "), RUN_RATIO, 1, STR(""), STR("Torch-Compiled Region: *"), true },
	{ STR("CompiledFxGraph "), RUN_WORD, 8, STR(""), STR("CompiledFxGraph *"), false },
	{ STR("graph_"), RUN_DIGITS, 1, STR("_"), STR("graph_*"), true },
	{ STR("<eval_with_key>."), RUN_DIGITS, 1, STR(""), STR("<eval_with_key>.*"), false },
	{ STR("/torchinductor_"), RUN_PATH, 1, STR(""), STR("/torchinductor_*"), false },
	{ STR("___torch_mangle_"), RUN_DIGITS, 1, STR(""), STR("___torch_mangle_*"), false },
	/* Neuron */
	{ STR("MODULE_"), RUN_BUILD, 1, STR(""), STR("MODULE_*"), false },
	{ STR("neuron_graph_"), RUN_WORD, 1, STR(""), STR("neuron_graph_*"), false },
	{ STR("neuron_graph."), RUN_WORD, 1, STR(""), STR("neuron_graph.*"), false },
	{ STR("neff_"), RUN_HEX, 8, STR(""), STR("neff_*"), false },
	{ STR("graph_"), RUN_ID, 1, STR(".neff"), STR("graph_*"), false },
	{ STR("neuronxcc-"), RUN_VERSION, 3, STR(""), STR("neuronxcc-*"), false },
	/* XLA: module names, and the fingerprint behind one of jax.jit */
	{ STR("SyncTensorsGraph."), RUN_DIGITS, 1, STR(""), STR("SyncTensorsGraph.*"), false },
	{ STR("IrToHlo."), RUN_DIGITS, 1, STR(""), STR("IrToHlo.*"), false },
	{ STR("("), RUN_DIGITS, 12, STR(")"), STR("(*"), false },
	/* steps of inference servers, by what is in the batch */
	{ STR("execute_context_"), RUN_COUNTS, 1, STR("generation_"), STR("execute_context_*_"), true },
	{ STR("execute_"), RUN_DIGITS, 1, STR("_context_"), STR("execute_*"), true },
	{ STR("_context_"), RUN_COUNTS, 1, STR("generation_"), STR("_context_*_"), false },
	{ STR("generation_"), RUN_COUNTS, 1, STR(""), STR("generation_*"), false },
	{ STR("step[DECODE bs="), RUN_DIGITS, 1, STR(""), STR("step[DECODE bs=*"), true },
	{ STR("step[EXTEND bs="), RUN_DIGITS, 1, STR(""), STR("step[EXTEND bs=*"), true },
	/* what nvcc calls a file's own symbols */
	{ STR("_GLOBAL__N__"), RUN_HEX, 8, STR("_"), STR("_GLOBAL__N__*"), false },
	{ STR("_INTERNAL_"), RUN_HEX, 8, STR("_"), STR("_INTERNAL_*"), false },
	{ STR("_cu_"), RUN_HEX, 8, STR(""), STR("_cu_*"), false },
	{ STR("cpp1_ii_"), RUN_HEX, 8, STR(""), STR("cpp1_ii_*"), false },
	/* addresses, temporary folders */
	{ STR("0x"), RUN_HEX, 4, STR(""), STR("0x*"), false },
	{ STR("/tmp/tmp"), RUN_TEMP, 8, STR(""), STR("/tmp/tmp*"), false },
};

/* Names that end in words with nothing but the number of a thing in them: "triton_poi_fused_add_mul_12", older
 * "triton_red_fused_sum_4_0d1d2de" (a word about the arguments), "cpp_fused_add_3", "nvfuser_pointwise_f0_c1_r0_g12",
 * "jit_step.3". */
static const struct numbered {
	struct str head;
	char before; /* such a word */
	const char *letters; /* that may stand between its digits */
	bool letter_first;   /* or in front */
} numbered[] = {
	{ STR("triton_"), '_', "dec", false },
	{ STR("cpp_fused_"), '_', "dec", false },
	{ STR("cpp_CPU_"), '_', "dec", false },
	{ STR("nvfuser_"), '_', "fcrg", true },
	{ STR("jit_"), '.', "", false },
};

/* Words behind which a number is that of a step: "train iteration 12", "Step #3", "epoch=4". Without a mark between
 * them, as in step_2, it may well be the name of a thing. */
static const struct str step_words[] = { STR("step"), STR("iteration"), STR("iter"), STR("epoch") };

enum {
	HASH_MIN = 16,	   /* a run of so many hex digits between other characters is a hash */
	BASE32_MIN = 40,   /* so is one of so many a-z and 2-7, some of them digits */
	BASE32_DIGITS = 3,
	SHORT_HASH = 17,   /* "~" and 16 hex digits, as shorten leaves them */
	READABLE = 256,	   /* a longer name loses the inside of templates */
	NESTED_MAX = 64,
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_any_hex(char c)
{
	return is_hex(c) || (c >= 'A' && c <= 'F');
}

static bool is_word(char c)
{
	return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool in_run(char c, enum run run)
{
	switch (run) {
	case RUN_DIGITS: return is_digit(c);
	case RUN_RATIO: return is_digit(c) || c == '/' || c == '!' || c == '-';
	case RUN_HEX:
	case RUN_ID: return is_any_hex(c);
	case RUN_WORD: return is_word(c);
	case RUN_BUILD: return is_word(c) || c == '+' || c == '_' || c == '-';
	case RUN_VERSION: return is_digit(c) || is_lower(c) || c == '.' || c == '+';
	case RUN_COUNTS: return is_digit(c) || c == '_' || c == '(' || c == ')' || c == 's' || c == 'q' || c == 'k';
	case RUN_TEMP: return is_digit(c) || is_lower(c) || c == '_';
	case RUN_PATH: return is_word(c) || c == '_' || c == '-' || c == '.' || c == '/';
	case RUNS: break;
	}
	return false;
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (is_digit(s.p[i]))
			return true;
	return false;
}

/* Is it a run that changes, or a word that only looks like one? */
static bool is_changing(struct str s, enum run run)
{
	switch (run) {
	case RUN_ID:
	case RUN_RATIO:
	case RUN_WORD:
	case RUN_BUILD:
	case RUN_VERSION: return has_digit(s);
	case RUN_COUNTS: return s.n > 0 && is_digit(s.p[0]);
	case RUN_DIGITS:
	case RUN_HEX:
	case RUN_TEMP:
	case RUN_PATH:
	case RUNS: break;
	}
	return true;
}

static bool is_point(struct str s)
{
	return s.n > 1 && s.p[0] == '.' && is_digit(s.p[1]);
}

/* How much of s the rule takes, 0 where it does not match. */
static size_t rule_match(const struct rule *r, struct str s, bool at_start, bool in_word)
{
	size_t n = r->head.n;

	if ((r->at_start && !at_start) || (in_word && is_word(r->head.p[0])) || !str_has_prefix(s, r->head))
		return 0;
	while (n < s.n && (in_run(s.p[n], r->run) || (r->run == RUN_BUILD && is_point(str_from(s, n)))))
		n++;
	if (n - r->head.n < r->min || !is_changing(str_from(str_upto(s, n), r->head.n), r->run))
		return 0;
	return str_has_prefix(str_from(s, n), r->tail) ? n : 0;
}

/* 8-4-4-4-12 hex digits. */
static size_t uuid_length(struct str s)
{
	static const char shape[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
	size_t n = sizeof(shape) - 1;

	if (s.n < n || (s.n > n && is_word(s.p[n])))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (shape[i] == 'h' ? !is_any_hex(s.p[i]) : s.p[i] != '-')
			return 0;
	return n;
}

static size_t hex_length(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_hex(s.p[n]))
		n++;
	return n >= HASH_MIN && (n == s.n || !is_word(s.p[n])) ? n : 0;
}

/* Inductor names its code by hashes in base 32. */
static size_t base32_length(struct str s)
{
	size_t n = 0, digits = 0;

	for (; n < s.n && (is_lower(s.p[n]) || (s.p[n] >= '2' && s.p[n] <= '7')); n++)
		digits += is_digit(s.p[n]);
	return n >= BASE32_MIN && digits >= BASE32_DIGITS && (n == s.n || !is_word(s.p[n])) ? n : 0;
}

static size_t hash_length(struct str s)
{
	size_t n = uuid_length(s);

	if (n == 0)
		n = hex_length(s);
	return n > 0 ? n : base32_length(s);
}

static bool starts_with_word(struct str s, struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (i >= s.n || (s.p[i] | 0x20) != word.p[i])
			return false;
	return true;
}

/* "Step #12" → how long "Step #" is, and with its number. */
static size_t step_number(struct str s, size_t *with_number)
{
	size_t n = 0, mark;

	for (size_t i = 0; i < COUNT(step_words) && n == 0; i++)
		if (starts_with_word(s, step_words[i]) && s.n > step_words[i].n && !is_word(s.p[step_words[i].n]))
			n = step_words[i].n;
	mark = n;
	while (n > 0 && n < s.n && (s.p[n] == ' ' || s.p[n] == '#' || s.p[n] == '=' || s.p[n] == ':'))
		n++;
	*with_number = n;
	while (*with_number < s.n && is_digit(s.p[*with_number]))
		++*with_number;
	if (n == mark || *with_number == n || (*with_number < s.n && is_word(s.p[*with_number])))
		return 0;
	return n;
}

static bool is_number_word(struct str word, const struct numbered *how)
{
	bool digit_first = word.n > 0 && is_digit(word.p[0]);

	if (!digit_first && (!how->letter_first || !has_digit(word)))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (!is_digit(word.p[i]) && strchr(how->letters, word.p[i]) == NULL)
			return false;
	return true;
}

/* Without its last words that are numbers. */
static struct str without_numbers(struct str name, const struct numbered *how)
{
	struct str s = name;

	for (;;) {
		size_t at = s.n;

		while (at > 0 && s.p[at - 1] != how->before)
			at--;
		if (at < 2 || !is_number_word(str_from(s, at), how))
			return s;
		s = str_upto(s, at - 1);
	}
}

/* "graph_12", and what rules left of "graph_12_3": the ids of a graph and of its part. */
static bool is_graph_id(struct str name)
{
	if (!str_drop_prefix(&name, STR("graph_")) || name.n == 0)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!is_digit(name.p[i]) && name.p[i] != '_' && (name.p[i] != '*' || i > 0))
			return false;
	return true;
}

static void star_numbers(struct buf *scratch)
{
	struct str whole = buf_view(scratch), head = whole;

	if (is_graph_id(whole)) {
		buf_trim(scratch, STR("graph_").n);
		buf_byte(scratch, '*');
		return;
	}
	str_drop_prefix(&head, STR("graph_*_"));
	for (size_t i = 0; i < COUNT(numbered); i++) {
		struct str short_name = without_numbers(whole, &numbered[i]);

		if (!str_has_prefix(head, numbered[i].head) || short_name.n == whole.n)
			continue;
		buf_trim(scratch, short_name.n);
		buf_byte(scratch, numbered[i].before);
		buf_byte(scratch, '*');
		return;
	}
}

/* What stands at the start of rest is taken, and what becomes of it is written; 0 where nothing applies. */
static size_t apply(struct str rest, bool at_start, char last, struct buf *out)
{
	bool in_word = is_word(last);
	size_t n, number = 0;

	for (size_t i = 0; i < COUNT(rules); i++) {
		n = rule_match(&rules[i], rest, at_start, in_word);
		if (n > 0) {
			buf_str(out, rules[i].with);
			return n;
		}
	}
	if (in_word)
		return 0;
	n = step_number(rest, &number);
	if (n > 0) {
		buf_str(out, str_upto(rest, n));
		buf_byte(out, '*');
		return number;
	}
	n = last == '~' && rest.n == SHORT_HASH - 1 ? 0 : hash_length(rest);
	if (n > 0)
		buf_byte(out, '*');
	return n;
}

/* ---- long names */

/* Cut where a character starts. */
static void shorten(struct buf *b, size_t max)
{
	uint64_t hash = hash64(b->p, b->n, 0);
	size_t keep = max - SHORT_HASH;

	if (b->n <= max)
		return;
	while (keep > 0 && ((unsigned char)b->p[keep] & 0xc0) == 0x80)
		keep--;
	buf_trim(b, keep);
	buf_fmt(b, "~%016" PRIx64, hash);
}

static const struct str ellipsis = STR("\xe2\x80\xa6");

/* The name without what stands more than depth brackets deep: "f<g<1, 2>, 3>(int)" is "f<g<...>, 3>(int)" at depth 1.
 * False where brackets do not close one another, as in operator<. */
static bool fold_brackets(struct str name, size_t depth, struct buf *out)
{
	char open[NESTED_MAX];
	size_t n = 0;

	buf_reset(out);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c == '(' || c == '<') {
			if (n == NESTED_MAX)
				return false;
			open[n++] = c;
			if (n <= depth + 1)
				buf_byte(out, c);
			if (n == depth + 1 && i + 1 < name.n && name.p[i + 1] != ')' && name.p[i + 1] != '>')
				buf_str(out, ellipsis);
			continue;
		}
		if (c == ')' || (c == '>' && (i == 0 || name.p[i - 1] != '-'))) {
			if (n == 0 || open[n - 1] != (c == ')' ? '(' : '<'))
				return false;
			if (n-- > depth + 1)
				continue;
		} else if (n > depth) {
			continue;
		}
		buf_byte(out, c);
	}
	return n == 0;
}

/* Names from templates that no one could read lose their innermost brackets, level by level until they are short; the
 * hash of the whole name keeps two of them two. */
static void fold_templates(struct buf *b)
{
	struct buf folded;
	uint64_t hash = hash64(b->p, b->n, 0);
	bool sound = true;

	if (b->n <= READABLE || str_find_byte(buf_view(b), '<') == b->n)
		return;
	buf_init(&folded, b->cap);
	for (size_t depth = 8; depth-- > 0 && sound;) {
		sound = fold_brackets(buf_view(b), depth, &folded);
		if (folded.n + SHORT_HASH <= READABLE)
			break;
	}
	if (sound && folded.rc == OK && folded.n + SHORT_HASH < b->n) {
		buf_reset(b);
		buf_str(b, buf_view(&folded));
		buf_fmt(b, "~%016" PRIx64, hash);
	}
	buf_fini(&folded);
}

struct str normalise_name(struct str name, size_t max, struct buf *scratch)
{
	char last = '\0';

	buf_reset(scratch);
	for (size_t i = 0; i < name.n;) {
		size_t n = apply(str_from(name, i), i == 0, last, scratch);

		if (n == 0) {
			buf_byte(scratch, name.p[i] == '\0' ? ' ' : name.p[i]);
			n = 1;
		}
		i += n;
		last = name.p[i - 1];
	}
	star_numbers(scratch);
	if (scratch->rc == OK)
		fold_templates(scratch);
	if (scratch->rc == OK)
		shorten(scratch, max);
	return str_eq(buf_view(scratch), name) ? name : buf_view(scratch);
}

void name_shorten(struct buf *name, size_t max)
{
	if (name->rc == OK)
		shorten(name, max);
}

/* ---- kinds of names */
static const struct str regions[] = { /* patterns of str_glob */
	STR("Torch-Compiled Region*"), STR("CompiledFunction"), STR("CompiledFunctionBackward"), STR("*CompiledFxGraph*"),
	STR("neuron_graph*"), STR("MODULE_*"), STR("*.neff"),
};

static const struct str collectives[] = {
	STR("nccl*"), STR("gloo:*"), STR("mpi:*"), STR("ucc:*"), STR("rccl*"), STR("oneccl*"), STR("all-reduce*"),
	STR("all-gather*"), STR("reduce-scatter*"), STR("all-to-all*"), STR("collective-permute*"), STR("collective-broadcast*"),
	/* as jax names them */
	STR("psum"), STR("psum.*"), STR("psum_scatter"), STR("psum_scatter.*"), STR("all_gather"), STR("all_gather.*"),
	STR("all_to_all"), STR("all_to_all.*"), STR("reduce_scatter"), STR("reduce_scatter.*"), STR("ppermute"), STR("ppermute.*"),
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
	*compile = name;
	slash = name.n;
	while (slash > 0 && name.p[slash - 1] != '/')
		slash--;
	if (slash == 0 || str_to_u64(str_from(name, slash), &number) < 0)
		return false;
	*frame = str_upto(name, slash - 1);
	name = *frame;
	if (str_drop_prefix(&name, STR("!")) && str_to_u64(str_split(&name, '/'), &number) < 0)
		return false;
	return str_to_u64(name, &number) == OK;
}
