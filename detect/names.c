#include "detect/names.h"

#include <stdlib.h>

#include "base/vec.h"

enum { MEMBERS_MAX = 512 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* ---- canonical names */

/* "mul_.Tensor" → "mul"; "__and__" stays. */
static struct str drop_overload(struct str s)
{
	s = str_upto(s, str_find_byte(s, '.'));
	if (s.n > 1 && s.p[s.n - 1] == '_' && s.p[s.n - 2] != '_')
		s.n--;
	return s;
}

static bool is_hash(struct str word)
{
	bool digit = false;

	for (size_t i = 0; i < word.n; i++) {
		if (!is_digit(word.p[i]) && !(word.p[i] >= 'a' && word.p[i] <= 'f'))
			return false;
		digit |= is_digit(word.p[i]);
	}
	return word.n >= 8 && digit;
}

/* "12", "*", a hash, and the "0d1d2de" that Triton once put behind its kernels' names (but not the "2d" of a pool) */
static bool is_serial(struct str word)
{
	bool digits = true;

	if (str_eq(word, STR("*")) || is_hash(word))
		return true;
	for (size_t i = 0; i < word.n; i++) {
		if (!is_digit(word.p[i]) && (i == 0 || word.p[i] < 'c' || word.p[i] > 'e'))
			return false;
		digits &= is_digit(word.p[i]);
	}
	return word.n > 0 && (digits || word.n >= 4);
}

/* Numbers and hashes at the end, behind '_' or '.', and XLA's ".clone" */
static struct str drop_serials(struct str s)
{
	for (size_t i = s.n; i-- > 1;) {
		struct str word = str_from(s, i + 1);

		if (s.p[i] != '_' && s.p[i] != '.')
			continue;
		if (!is_serial(word) && !(s.p[i] == '.' && str_eq(word, STR("clone"))))
			break;
		s.n = i;
	}
	return s;
}

static bool is_one_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_lower(s.p[i]) && !is_upper(s.p[i]))
			return false;
	return s.n > 0;
}

/* "RmsNorm" → "rms_norm" */
static struct str snake_case(struct str s, struct arena *a)
{
	char *p = arena_get(a, 2 * s.n + 1);
	size_t n = 0;

	if (p == NULL)
		return STR("");
	for (size_t i = 0; i < s.n; i++) {
		if (i > 0 && is_upper(s.p[i]) && is_lower(s.p[i - 1]))
			p[n++] = '_';
		p[n++] = (char)(is_upper(s.p[i]) ? s.p[i] + ('a' - 'A') : s.p[i]);
	}
	return str_make(p, n);
}

/* ---- kernels that inductor made: "triton_poi_fused_add_mul", "cpp_fused_…", "graph_0_cpp_fused_…" */

/* What stands behind "fused" where the name is one of them; a NULL slice otherwise. */
static struct str kernel_members(struct str s)
{
	static const struct str makers[] = { STR("triton_"), STR("cpp_"), STR("halide_"), STR("pallas_") };
	const struct str none = { NULL, 0 };
	struct str rest = none;
	unsigned words = 0;

	if (str_drop_prefix(&s, STR("graph_")))
		s = str_from(s, str_find_byte(s, '_') + 1);
	for (size_t i = 0; i < COUNT(makers) && rest.p == NULL; i++)
		if (str_has_prefix(s, makers[i]))
			rest = str_from(s, makers[i].n);
	/* a word or two may stand between: poi, per, red, tem, for, split_scan */
	for (; rest.p != NULL && words < 3; words++)
		if (str_eq(str_split(&rest, '_'), STR("fused")))
			return rest.p == NULL ? STR("") : rest;
	return none;
}

/* The longest name of any list that s begins with, up to a '_' or its end; its first word where no list has one. */
static struct str first_member(const struct fusion_table *t, struct str s)
{
	size_t longest = s.n < fusion_table_longest(t) ? s.n : fusion_table_longest(t);

	for (size_t n = longest; n > 0; n--)
		if ((n == s.n || s.p[n] == '_') && fusion_table_listed(t, str_upto(s, n)))
			return str_upto(s, n);
	return str_upto(s, str_find_byte(s, '_'));
}

static int cmp_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_quiet(const struct fusion_table *t, struct str name)
{
	return fusion_table_lists(t, LIST_VIEWS, name) || fusion_table_lists(t, LIST_WRAPPERS, name);
}

/* Views and copies say nothing of what a kernel computes. */
static bool says_nothing(const struct fusion_table *t, struct str member)
{
	return fusion_table_lists(t, LIST_VIEWS, member) || fusion_table_lists(t, LIST_COPIES, member);
}

static void read_members(const struct fusion_table *t, struct str s, struct arena *a, struct name *out)
{
	struct str found[MEMBERS_MAX];
	size_t n = 0, kept = 0;

	while (!str_empty(s) && n < MEMBERS_MAX) {
		struct str member = first_member(t, s), same = fusion_table_same(t, member);

		if (!str_empty(member) && !says_nothing(t, same))
			found[n++] = same;
		s = str_from(s, member.n + 1);
	}
	qsort(found, n, sizeof(found[0]), cmp_str);
	out->members = arena_get_array(a, n, sizeof(*out->members));
	if (out->members == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(found[i], found[i - 1]))
			out->members[kept++] = arena_str(a, found[i]);
	out->n_members = kept;
}

/* ---- reading a name */

static void read_aten(const struct fusion_table *t, struct str s, struct arena *a, struct name *out)
{
	s = drop_overload(s);
	out->aten = true;
	out->class = is_quiet(t, s) ? NAME_QUIET : NAME_WORK;
	out->key = arena_str(a, out->class == NAME_QUIET ? s : fusion_table_same(t, s));
}

static void read_other(const struct fusion_table *t, struct str s, struct arena *a, struct name *out)
{
	struct str members;

	s = drop_serials(s);
	members = kernel_members(s);
	out->class = NAME_WORK;
	out->kernel = members.p != NULL;
	if (out->kernel)
		read_members(t, members, a, out);
	out->key = arena_str(a, fusion_table_same(t, is_one_word(s) ? snake_case(s, a) : s));
}

static bool any_fused_op(const struct fusion_table *t, const struct name *n)
{
	size_t n_ops;
	const struct fused_op *ops = fusion_table_ops(t, &n_ops);

	for (size_t i = 0; i < n_ops; i++)
		if (name_is_fused(n, &ops[i]))
			return true;
	return false;
}

/* Region levels, modules and book-keeping, by the whole name. */
static bool read_pattern(const struct fusion_table *t, struct str raw, struct name *out)
{
	static const enum name_class class_of[] = {
		[PATTERN_OUTER] = NAME_REGION_OUTER,	 [PATTERN_FUNCTION] = NAME_REGION_FUNCTION,
		[PATTERN_INNER] = NAME_REGION_INNER,	 [PATTERN_MODULE] = NAME_MODULE,
		[PATTERN_BOOKKEEPING] = NAME_BOOKKEEPING,
	};
	_Static_assert(COUNT(class_of) == NAME_PATTERNS, "a class for every pattern");

	for (size_t i = 0; i < NAME_PATTERNS; i++) {
		if (!fusion_table_matches(t, (enum name_pattern)i, raw.p))
			continue;
		out->class = class_of[i];
		if (out->class == NAME_MODULE || out->class == NAME_BOOKKEEPING)
			out->key = raw;
		return true;
	}
	return false;
}

/* "hlo_module jit_step {0123456789abcdef}" (trace/xla.h): the set of its ops makes a module the same, and no name that a
 * compiler gave it. */
static void read_hlo_module(struct str raw, struct name *out)
{
	size_t brace = raw.n;

	while (brace > 0 && raw.p[brace - 1] != '{')
		brace--;
	out->has_rows = str_has_prefix(raw, STR("hlo_module ")) && brace > 0;
	if (out->has_rows)
		out->key = str_from(raw, brace - 1);
}

void name_read(const struct fusion_table *t, struct str raw, struct arena *a, struct name *out)
{
	*out = (struct name){ .key = STR("") };
	raw = arena_str(a, raw); /* with a NUL behind it, for the patterns */
	if (read_pattern(t, raw, out)) {
		if (out->class == NAME_MODULE)
			read_hlo_module(raw, out);
		return;
	}
	if (str_drop_prefix(&raw, STR("aten::")))
		read_aten(t, raw, a, out);
	else
		read_other(t, raw, a, out);
	out->fusible = out->kernel || fusion_table_lists(t, LIST_FUSIBLE, out->key);
	out->transfer = fusion_table_lists(t, LIST_TRANSFERS, out->key);
	out->is_fused = any_fused_op(t, out);
	out->opaque = !out->aten && !out->kernel && !fusion_table_listed(t, out->key);
}

/* ---- comparing */

bool name_has_member(const struct name *n, struct str member)
{
	return n->n_members > 0 && bsearch(&member, n->members, n->n_members, sizeof(member), cmp_str) != NULL;
}

size_t name_shared_members(const struct name *a, const struct name *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_members; i++)
		n += name_has_member(b, a->members[i]);
	return n;
}

bool name_is_fused(const struct name *n, const struct fused_op *f)
{
	return fused_op_has_name(f, n->key) || (n->n_members == 1 && fused_op_has_name(f, n->members[0]));
}

static bool is_part_name(const struct fusion_table *t, const struct name *n, struct str part)
{
	const struct fused_op *entry = fusion_table_op(t, part);

	if (str_glob(part, n->key) || name_has_member(n, part))
		return true;
	if (entry == NULL)
		return false;
	for (size_t i = 0; i < n->n_members; i++)
		if (fused_op_has_name(entry, n->members[i]))
			return true;
	return fused_op_has_name(entry, n->key);
}

bool name_is_part(const struct fusion_table *t, const struct name *n, const struct fused_part *part)
{
	for (size_t i = 0; i < part->n_names; i++)
		if (is_part_name(t, n, part->names[i]))
			return true;
	return false;
}

struct str name_frame(struct str raw)
{
	size_t at = str_find(raw, STR("Region: "));
	struct str frame = str_from(raw, at + sizeof("Region: ") - 1);
	size_t n = 0;

	while (n < frame.n && is_digit(frame.p[n]))
		n++;
	return str_upto(frame, n);
}
