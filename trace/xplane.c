#include "trace/xplane.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/enc.h"
#include "base/hash.h"
#include "base/mem.h"
#include "json/text.h"
#include "trace/pb.h"
#include "trace/xla.h"

enum {
	PLANE_BYTES_MAX = 1 << 30, /* of its texts */
	METAS_MAX = 4000000,
	LINES_MAX = 1000000,
	STATS_MAX = 64, /* of one event; further ones are not looked at */
	STAT_TEXT_MAX = 1024,
	MENDED_BYTES_MAX = 8 * PB_TEXT_MAX, /* an escape is six bytes, a mended one three */
};
#define CALLS_BYTES_MAX ((size_t)8 << 30)	    /* of one plane's events */
#define WALL_NS		INT64_C(100000000000000000) /* a timestamp from here on is since 1970 */

/* ---- the messages that are looked at, and what of them */

enum message {
	SPACE,
	PLANE,
	LINE,
	EVENT,
	EVENT_STAT,
	EVENT_ENTRY, /* of the map from ids to metadata */
	EVENT_META,
	META_STAT,
	STAT_ENTRY,
	STAT_META,
	PLANE_STAT,
	MESSAGES
};

enum slot {
	HOST,
	PLANE_NAME,
	LINE_ID,
	LINE_NAME,
	LINE_SHOWN,
	LINE_NS,
	EVENT_META_ID,
	EVENT_OFFSET,
	EVENT_DUR,
	EVENT_SUM,
	STAT_ID,
	STAT_U64,
	STAT_I64,
	STAT_TEXT,
	STAT_REF,
	ENTRY_KEY,
	META_ID,
	META_NAME,
	META_SHOWN,
	SLOTS
};

enum take { TAKE_NUMBER, TAKE_TEXT, TAKE_MESSAGE };

static const struct rule {
	enum message in;
	uint64_t number;
	enum take take;
	int what; /* enum slot, or enum message */
} rules[] = {
	{ EVENT, 1, TAKE_NUMBER, EVENT_META_ID },
	{ EVENT, 2, TAKE_NUMBER, EVENT_OFFSET },
	{ EVENT, 3, TAKE_NUMBER, EVENT_DUR },
	{ EVENT, 4, TAKE_MESSAGE, EVENT_STAT },
	{ EVENT, 5, TAKE_NUMBER, EVENT_SUM },
	{ EVENT_STAT, 1, TAKE_NUMBER, STAT_ID },
	{ EVENT_STAT, 3, TAKE_NUMBER, STAT_U64 },
	{ EVENT_STAT, 4, TAKE_NUMBER, STAT_I64 },
	{ EVENT_STAT, 5, TAKE_TEXT, STAT_TEXT },
	{ EVENT_STAT, 7, TAKE_NUMBER, STAT_REF },
	{ LINE, 4, TAKE_MESSAGE, EVENT },
	{ LINE, 1, TAKE_NUMBER, LINE_ID },
	{ LINE, 2, TAKE_TEXT, LINE_NAME },
	{ LINE, 3, TAKE_NUMBER, LINE_NS },
	{ LINE, 11, TAKE_TEXT, LINE_SHOWN },
	{ SPACE, 1, TAKE_MESSAGE, PLANE },
	{ SPACE, 4, TAKE_TEXT, HOST },
	{ PLANE, 2, TAKE_TEXT, PLANE_NAME },
	{ PLANE, 3, TAKE_MESSAGE, LINE },
	{ PLANE, 4, TAKE_MESSAGE, EVENT_ENTRY },
	{ PLANE, 5, TAKE_MESSAGE, STAT_ENTRY },
	{ PLANE, 6, TAKE_MESSAGE, PLANE_STAT },
	{ PLANE_STAT, 1, TAKE_NUMBER, STAT_ID },
	{ PLANE_STAT, 3, TAKE_NUMBER, STAT_U64 },
	{ PLANE_STAT, 4, TAKE_NUMBER, STAT_I64 },
	{ PLANE_STAT, 5, TAKE_TEXT, STAT_TEXT },
	{ PLANE_STAT, 7, TAKE_NUMBER, STAT_REF },
	{ EVENT_ENTRY, 1, TAKE_NUMBER, ENTRY_KEY },
	{ EVENT_ENTRY, 2, TAKE_MESSAGE, EVENT_META },
	{ EVENT_META, 1, TAKE_NUMBER, META_ID },
	{ EVENT_META, 2, TAKE_TEXT, META_NAME },
	{ EVENT_META, 4, TAKE_TEXT, META_SHOWN },
	{ EVENT_META, 5, TAKE_MESSAGE, META_STAT },
	{ META_STAT, 1, TAKE_NUMBER, STAT_ID },
	{ META_STAT, 3, TAKE_NUMBER, STAT_U64 },
	{ META_STAT, 4, TAKE_NUMBER, STAT_I64 },
	{ META_STAT, 5, TAKE_TEXT, STAT_TEXT },
	{ META_STAT, 7, TAKE_NUMBER, STAT_REF },
	{ STAT_ENTRY, 1, TAKE_NUMBER, ENTRY_KEY },
	{ STAT_ENTRY, 2, TAKE_MESSAGE, STAT_META },
	{ STAT_META, 1, TAKE_NUMBER, META_ID },
	{ STAT_META, 2, TAKE_TEXT, META_NAME },
};

/* What is forgotten when a message begins: its own slots. */
static const struct {
	enum slot from, to;
} slots_of[] = {
	[SPACE] = { HOST, HOST },
	[PLANE] = { PLANE_NAME, PLANE_NAME },
	[LINE] = { LINE_ID, LINE_NS },
	[EVENT] = { EVENT_META_ID, EVENT_SUM },
	[EVENT_STAT] = { STAT_ID, STAT_REF },
	[EVENT_ENTRY] = { ENTRY_KEY, META_SHOWN },
	[EVENT_META] = { META_ID, META_SHOWN },
	[META_STAT] = { STAT_ID, STAT_REF },
	[STAT_ENTRY] = { ENTRY_KEY, META_SHOWN },
	[STAT_META] = { META_ID, META_SHOWN },
	[PLANE_STAT] = { STAT_ID, STAT_REF },
};
_Static_assert(COUNT(slots_of) == MESSAGES, "slots for every message");

/* ---- one plane */

struct stat {
	uint64_t id;
	enum slot sort; /* STAT_U64 …: what value is; STAT_TEXT: a number of texts */
	uint64_t value;
};

struct meta {
	uint64_t id;
	size_t order; /* of two with one id the later counts */
	struct str name, shown;
	size_t stats; /* where they stand in calls, 1 + offset; 0 for none */
};

struct line {
	uint64_t id;
	int64_t ns;
	enum xla_line sort;
	struct str thread;
};

VEC(metas, struct meta);
VEC(lines, struct line);
VEC(stats, struct stat);

/* An event, or the stats of its metadata, as varints:
 *
 *	event := line, metadata id, offset_ps, duration_ps, offset in the file, stats
 *	stats := how many, then each: id, sort, value */
struct plane {
	struct arena arena;
	struct intern texts; /* of stats */
	struct buf calls;
	size_t n_calls;		    /* of them, events */
	struct metas events, names; /* event_metadata, stat_metadata */
	struct lines lines;
	struct stats stats; /* the plane's own */
	struct buf metas_stats;
	bool is_short; /* something found no room */
};

/* Stats that mean something here. */
enum known { K_OP, K_MODULE, K_PROGRAM, K_RUN, K_ORDINAL, K_STEP, KNOWN };
static const char *const known_names[] = {
	[K_OP] = "hlo_op",
	[K_MODULE] = "hlo_module",
	[K_PROGRAM] = "program_id",
	[K_RUN] = "run_id",
	[K_ORDINAL] = "device_ordinal",
	[K_STEP] = "step_num",
};
_Static_assert(COUNT(known_names) == KNOWN, "name every known stat");

struct xplane_reader {
	struct pb *pb;
	struct trace *trace;
	struct trace_report *report;
	enum message open[PB_DEPTH_MAX];
	bool damaged[PB_DEPTH_MAX];
	uint64_t begin[PB_DEPTH_MAX]; /* offset of each open message */
	unsigned depth;
	int taking;    /* slot of the text that comes next */
	uint32_t seen; /* a bit a slot */
	uint64_t number[SLOTS];
	struct str text[SLOTS];
	struct stats stats; /* of the event or metadata at hand */
	struct plane plane;
	struct buf scratch;
	bool fed, stopped, has_planes, has_zero;
	int64_t zero_ns; /* where the trace's own time begins */
};
_Static_assert(SLOTS <= 32, "a bit a slot");

static void plane_init(struct plane *p)
{
	*p = (struct plane){ .events = VEC_INIT(METAS_MAX),
		.names = VEC_INIT(METAS_MAX),
		.lines = VEC_INIT(LINES_MAX),
		.stats = VEC_INIT(STATS_MAX) };
	arena_init(&p->arena, PLANE_BYTES_MAX);
	intern_init(&p->texts, &p->arena, METAS_MAX);
	buf_init(&p->calls, CALLS_BYTES_MAX);
	buf_init(&p->metas_stats, PLANE_BYTES_MAX);
}

static void plane_fini(struct plane *p)
{
	vec_fini(&p->events);
	vec_fini(&p->names);
	vec_fini(&p->lines);
	vec_fini(&p->stats);
	intern_fini(&p->texts);
	arena_fini(&p->arena);
	buf_fini(&p->calls);
	buf_fini(&p->metas_stats);
}

struct xplane_reader *xplane_reader_new(uint64_t max_events, struct trace_report *report)
{
	struct xplane_reader *r = mem_get(sizeof(*r));

	r->pb = pb_new();
	r->trace = mem_get(sizeof(*r->trace));
	r->report = report;
	trace_init(r->trace, max_events);
	xla_begin(r->trace);
	plane_init(&r->plane);
	r->stats.cap = STATS_MAX;
	buf_init(&r->scratch, MENDED_BYTES_MAX);
	return r;
}

void xplane_reader_free(struct xplane_reader *r)
{
	if (r == NULL)
		return;
	pb_free(r->pb);
	trace_free(r->trace);
	plane_fini(&r->plane);
	vec_fini(&r->stats);
	buf_fini(&r->scratch);
	mem_free(r);
}

static bool seen(const struct xplane_reader *r, enum slot slot)
{
	return (r->seen & UINT32_C(1) << slot) != 0;
}

static void lose(struct xplane_reader *r, enum trace_reason reason, uint64_t offset)
{
	trace_report_add(r->report, reason, 1, offset);
}

/* ---- texts */

/* Valid UTF-8 always: by way of a JSON string, which mends it. */
static struct str mended(struct xplane_reader *r, struct str text)
{
	struct buf escaped;

	if (json_utf8_valid(text))
		return text;
	trace_report_add(r->report, TRACE_BAD_UTF8, 1, 0);
	buf_init(&escaped, MENDED_BYTES_MAX);
	json_escape(text, &escaped);
	buf_reset(&r->scratch);
	json_unescape(buf_view(&escaped), &r->scratch);
	r->plane.is_short |= escaped.rc != OK || r->scratch.rc != OK;
	buf_fini(&escaped);
	return buf_view(&r->scratch);
}

static void take_text(struct xplane_reader *r, const struct pb_field *f)
{
	struct str text;

	if (r->taking == STAT_TEXT && (f->cut || f->text.n > STAT_TEXT_MAX))
		return; /* a whole program, and no name */
	if (f->cut)
		trace_report_add(r->report, TRACE_CUT_TOKENS, 1, 0);
	text = mended(r, f->text);
	r->seen |= UINT32_C(1) << r->taking;
	if (r->taking == STAT_TEXT)
		r->number[STAT_TEXT] = intern_id(&r->plane.texts, text);
	else if (r->taking == HOST)
		r->trace->host_name = arena_str(&r->trace->arena, str_upto_chars(text, 80));
	else
		r->text[r->taking] = arena_str(&r->plane.arena, text);
}

/* ---- varints of calls */

static void put(struct buf *b, uint64_t v)
{
	uint8_t bytes[ENC_VARINT_MAX];

	buf_add(b, bytes, enc_put_varint(bytes, v));
}

static void put_stats(struct buf *b, const struct stats *stats)
{
	put(b, stats->n);
	vec_each(s, stats) {
		put(b, s->id);
		put(b, s->sort);
		put(b, s->value);
	}
}

/* What was put is there. */
static uint64_t get(struct str *s)
{
	uint64_t v = 0;

	*s = str_from(*s, enc_get_varint((const uint8_t *)s->p, s->n, &v));
	return v;
}

/* ---- messages end */

static void end_stat(struct xplane_reader *r, struct stats *to)
{
	static const enum slot sorts[] = { STAT_REF, STAT_TEXT, STAT_I64, STAT_U64 };
	struct stat *s;

	for (size_t i = 0; i < COUNT(sorts); i++) {
		if (!seen(r, sorts[i]))
			continue;
		s = vec_push(to);
		r->plane.is_short |= s == NULL && to->n < to->cap;
		if (s != NULL)
			*s = (struct stat){ r->number[STAT_ID], sorts[i], r->number[sorts[i]] };
		return;
	}
}

static void end_event(struct xplane_reader *r, uint64_t offset)
{
	struct buf *b = &r->plane.calls;
	size_t before = b->n;

	if (seen(r, EVENT_SUM) && !seen(r, EVENT_OFFSET))
		return;
	put(b, r->plane.lines.n);
	put(b, r->number[EVENT_META_ID]);
	put(b, r->number[EVENT_OFFSET]);
	put(b, r->number[EVENT_DUR]);
	put(b, offset);
	put_stats(b, &r->stats);
	if (b->rc != OK) {
		buf_trim(b, before);
		lose(r, TRACE_TOO_MANY, offset);
		return;
	}
	r->plane.n_calls++;
}

static void end_line(struct xplane_reader *r, uint64_t offset)
{
	struct line *l = vec_push(&r->plane.lines);

	if (l == NULL) {
		lose(r, TRACE_TOO_MANY, offset);
		return;
	}
	l->id = r->number[LINE_ID];
	l->thread = arena_fmt(&r->plane.arena, "%" PRIu64, l->id);
	l->ns = (int64_t)r->number[LINE_NS];
	l->sort = xla_line_of(r->text[LINE_NAME]);
	if (l->sort == XLA_LINE_ANY)
		l->sort = xla_line_of(r->text[LINE_SHOWN]);
}

static void end_entry(struct xplane_reader *r, struct metas *to, uint64_t offset)
{
	struct meta *m = vec_push(to);

	if (m == NULL) {
		lose(r, TRACE_TOO_MANY, offset);
		return;
	}
	*m = (struct meta){
		.id = seen(r, ENTRY_KEY) ? r->number[ENTRY_KEY] : r->number[META_ID],
		.order = to->n,
		.name = r->text[META_NAME],
		.shown = r->text[META_SHOWN].n > 0 ? r->text[META_SHOWN] : r->text[META_NAME],
	};
	if (r->stats.n == 0 || to != &r->plane.events)
		return;
	m->stats = r->plane.metas_stats.n + 1;
	put_stats(&r->plane.metas_stats, &r->stats);
}

/* ---- a plane ends: its events get their names */

static int compare_metas(const void *a, const void *b)
{
	const struct meta *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort_metas(struct metas *m)
{
	size_t kept = 0;

	if (m->n > 0)
		qsort(m->v, m->n, sizeof(*m->v), compare_metas);
	for (size_t i = 0; i < m->n; i++) {
		if (kept > 0 && m->v[kept - 1].id == m->v[i].id)
			kept--;
		m->v[kept++] = m->v[i];
	}
	m->n = kept;
}

static const struct meta *find_meta(const struct metas *m, uint64_t id)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->v[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->n && m->v[low].id == id ? &m->v[low] : NULL;
}

struct naming { /* which id has which known stat */
	uint64_t id[KNOWN];
	bool has[KNOWN];
};

static struct naming find_known(const struct plane *p)
{
	struct naming known = { .has = { false } };

	vec_each(m, &p->names)
		for (size_t k = 0; k < KNOWN; k++)
			if (str_eq(m->name, str_of(known_names[k]))) {
				known.id[k] = m->id;
				known.has[k] = true;
			}
	return known;
}

static struct str stat_text(const struct plane *p, const struct stat *s)
{
	const struct meta *m;

	if (s->sort == STAT_TEXT && s->value < intern_count(&p->texts))
		return intern_name(&p->texts, (uint32_t)s->value);
	m = s->sort == STAT_REF ? find_meta(&p->names, s->value) : NULL;
	return m == NULL ? str_make(NULL, 0) : m->name;
}

/* Numbers that are texts mean the same number; other texts are as good by their hash. */
static uint64_t stat_number(const struct plane *p, const struct stat *s)
{
	struct str text;
	uint64_t n;

	if (s->sort == STAT_U64 || s->sort == STAT_I64)
		return s->value;
	text = stat_text(p, s);
	return str_to_u64(text, &n) == OK ? n : hash64(text.p, text.n, 0);
}

/* A number that counts; -1 for any other. */
static int64_t stat_count(const struct plane *p, const struct stat *s)
{
	int64_t n = (int64_t)s->value;

	if (s->sort == STAT_U64 || s->sort == STAT_I64)
		return n < 0 ? -1 : n;
	return str_to_i64(stat_text(p, s), &n) < 0 || n < 0 ? -1 : n;
}

static void use_stat(const struct plane *p, enum known k, const struct stat *s, struct xla_event *ev)
{
	switch (k) {
	case K_OP: ev->hlo_op = stat_text(p, s); break;
	case K_MODULE: ev->hlo_module = stat_text(p, s); break;
	case K_PROGRAM:
		ev->has_program = true;
		ev->program = stat_number(p, s);
		break;
	case K_RUN:
		ev->has_run = true;
		ev->run = stat_number(p, s);
		break;
	case K_ORDINAL:
		ev->has_ordinal = true;
		ev->ordinal = stat_number(p, s);
		break;
	case K_STEP:
		ev->has_step = true;
		ev->step = stat_count(p, s);
		break;
	case KNOWN: break;
	}
}

static void use_stats(
	const struct plane *p, const struct naming *known, struct str *bytes, struct xla_event *ev)
{
	for (uint64_t n = get(bytes); n > 0; n--) {
		struct stat s = { .id = get(bytes) };

		s.sort = (enum slot)get(bytes);
		s.value = get(bytes);
		for (size_t k = 0; k < KNOWN; k++)
			if (known->has[k] && known->id[k] == s.id)
				use_stat(p, (enum known)k, &s, ev);
	}
}

static bool start_of(const struct xplane_reader *r, const struct line *l, uint64_t offset_ps, int64_t *ps)
{
	int64_t ns;

	return !__builtin_sub_overflow(l->ns, r->zero_ns, &ns) &&
		!__builtin_mul_overflow(ns, INT64_C(1000), ps) &&
		!__builtin_add_overflow(*ps, (int64_t)offset_ps, ps);
}

/* The next event of calls. */
static void name_event(struct xplane_reader *r, const struct naming *known, bool ops_line, struct str *bytes)
{
	struct plane *p = &r->plane;
	struct xla_event ev = { .process = r->text[PLANE_NAME] };
	uint64_t line = get(bytes), meta_id = get(bytes), offset_ps = get(bytes);
	const struct meta *m = find_meta(&p->events, meta_id);

	ev.dur_ps = (int64_t)get(bytes);
	ev.offset = get(bytes);
	if (m != NULL && m->stats > 0) {
		struct str of_meta = str_from(buf_view(&p->metas_stats), m->stats - 1);

		use_stats(p, known, &of_meta, &ev);
	}
	use_stats(p, known, bytes, &ev);
	if (m == NULL || m->shown.n == 0) {
		lose(r, TRACE_NO_NAME, ev.offset);
		return;
	}
	if (line >= p->lines.n || !start_of(r, &p->lines.v[line], offset_ps, &ev.start_ps)) {
		lose(r, TRACE_BAD_NUMBER, ev.offset);
		return;
	}
	ev.name = m->shown;
	ev.thread = p->lines.v[line].thread;
	ev.line = p->lines.v[line].sort;
	if (ev.line == XLA_LINE_ANY && ops_line)
		ev.line = XLA_LINE_BESIDE;
	if (ev.hlo_module.p == NULL)
		ev.hlo_module = STR("");
	xla_add(r->trace, &ev, r->report);
}

static void set_zero(struct xplane_reader *r)
{
	if (r->has_zero || r->plane.lines.n == 0)
		return;
	r->has_zero = true;
	if (r->plane.lines.v[0].ns < WALL_NS)
		return;
	r->zero_ns = r->trace->base_ns = r->plane.lines.v[0].ns;
	r->trace->has_base = true;
}

/* "jax_version" is the version of jax. */
static void take_version(struct xplane_reader *r, struct str name, struct str value)
{
	struct trace *t = r->trace;

	if (value.n == 0 || !str_drop_suffix(&name, STR("_version")) || t->n_versions == TRACE_VERSIONS_MAX)
		return;
	for (size_t i = 0; i < t->n_versions; i++)
		if (str_eq(t->versions[i].key, name))
			return;
	t->versions[t->n_versions++] = (struct trace_version){ arena_str(&t->arena, str_upto_chars(name, 40)),
		arena_str(&t->arena, str_upto_chars(value, 80)) };
}

static void use_plane_stats(struct xplane_reader *r)
{
	vec_each(s, &r->plane.stats) {
		const struct meta *m = find_meta(&r->plane.names, s->id);
		uint64_t number = stat_number(&r->plane, s);

		if (m == NULL)
			continue;
		take_version(r, m->name, stat_text(&r->plane, s));
		if (str_eq(m->name, STR("profile_start_time")) && !r->trace->has_base && number < INT64_MAX) {
			r->trace->has_base = true;
			r->trace->base_ns = (int64_t)number;
		}
	}
}

static void end_plane(struct xplane_reader *r, uint64_t offset)
{
	struct plane *p = &r->plane;
	struct str bytes = buf_view(&p->calls);
	struct naming known;
	bool ops_line = false;

	sort_metas(&p->events);
	sort_metas(&p->names);
	known = find_known(p);
	vec_each(l, &p->lines)
		ops_line |= l->sort == XLA_LINE_OPS;
	set_zero(r);
	for (size_t i = 0; i < p->n_calls; i++)
		name_event(r, &known, ops_line, &bytes);
	use_plane_stats(r);
	if (p->is_short || arena_full(&p->arena) || p->metas_stats.rc != OK)
		lose(r, TRACE_TOO_MANY, offset);
	plane_fini(p);
	plane_init(p);
}

/* ---- the machine */

static void begin(struct xplane_reader *r, enum message m, uint64_t offset)
{
	r->depth++;
	r->open[r->depth] = m;
	r->damaged[r->depth] = false;
	r->begin[r->depth] = offset;
	for (int slot = slots_of[m].from; slot <= (int)slots_of[m].to; slot++) {
		r->seen &= ~(UINT32_C(1) << slot);
		r->number[slot] = 0;
		r->text[slot] = STR("");
	}
	if (m == EVENT || m == EVENT_ENTRY)
		r->stats.n = 0;
	if (m == PLANE)
		r->has_planes = true;
}

/* Damage costs an event or an entry with what is in it; planes and lines are what they hold. */
static bool is_kept(enum message m, bool damaged)
{
	return !damaged || m == PLANE || m == LINE;
}

static void end(struct xplane_reader *r)
{
	enum message m = r->open[r->depth];
	bool damaged = r->damaged[r->depth];
	uint64_t offset = r->begin[r->depth];

	r->depth--;
	if (!is_kept(m, damaged)) {
		r->damaged[r->depth] = true;
		return;
	}
	switch (m) {
	case EVENT_STAT:
	case META_STAT: end_stat(r, &r->stats); break;
	case PLANE_STAT: end_stat(r, &r->plane.stats); break;
	case EVENT: end_event(r, offset); break;
	case EVENT_ENTRY: end_entry(r, &r->plane.events, offset); break;
	case STAT_ENTRY: end_entry(r, &r->plane.names, offset); break;
	case LINE: end_line(r, offset); break;
	case PLANE: end_plane(r, offset); break;
	case EVENT_META:
	case STAT_META:
	case SPACE:
	case MESSAGES: break;
	}
}

static void take(struct xplane_reader *r, enum pb_token token, const struct pb_field *f)
{
	for (size_t i = 0; i < COUNT(rules); i++) {
		const struct rule *rule = &rules[i];

		if (rule->in != r->open[r->depth] || rule->number != f->number)
			continue;
		if (rule->take == TAKE_NUMBER && token == PB_NUMBER) {
			r->number[rule->what] = f->value;
			r->seen |= UINT32_C(1) << rule->what;
		} else if (rule->take == TAKE_TEXT && token == PB_BYTES) {
			r->taking = rule->what;
			pb_text(r->pb);
		} else if (rule->take == TAKE_MESSAGE && token == PB_BYTES && pb_enter(r->pb)) {
			begin(r, (enum message)rule->what, f->offset);
		}
		return;
	}
}

static void error(struct xplane_reader *r, uint64_t offset)
{
	lose(r, TRACE_BAD_MESSAGE, offset);
	r->damaged[r->depth] = true;
	r->stopped = !pb_recover(r->pb);
}

void xplane_reader_feed(struct xplane_reader *r, struct str block)
{
	struct pb_field f;
	enum pb_token token;

	r->fed |= block.n > 0;
	pb_feed(r->pb, block);
	while (!r->stopped && (token = pb_next(r->pb, &f)) != PB_MORE) {
		switch (token) {
		case PB_NUMBER:
		case PB_BYTES: take(r, token, &f); break;
		case PB_TEXT: take_text(r, &f); break;
		case PB_END: end(r); break;
		case PB_ERROR: error(r, f.offset); break;
		case PB_MORE: break;
		}
	}
}

/* What is open at the end was cut: of an event there is nothing, of a line and a plane what came before. */
static void close_open(struct xplane_reader *r)
{
	while (r->depth > 0) {
		r->damaged[r->depth] = true;
		end(r);
	}
}

int xplane_reader_end(struct xplane_reader *r, struct trace **out, struct err *e)
{
	int rc;

	*out = NULL;
	if (!r->fed)
		return err_set(e, E_FORMAT, "this is no trace: it is empty");
	if (!r->has_planes)
		return err_set(e, E_FORMAT, "this is no trace: no XPlane protobuf");
	if (!r->stopped && !pb_is_complete(r->pb) && trace_report_find(r->report, TRACE_TRUNCATED) == NULL &&
		trace_report_find(r->report, TRACE_BAD_DATA) == NULL)
		lose(r, TRACE_TRUNCATED, pb_offset(r->pb));
	close_open(r);
	rc = xla_settle(r->trace, e);
	if (rc < 0)
		return rc;
	r->report->events = r->trace->events.n;
	*out = r->trace;
	r->trace = NULL;
	return OK;
}

static int read_blocks(
	struct xplane_reader *r, struct input *in, const struct trace_watcher *watcher, struct err *e)
{
	struct str block;
	int rc;

	while ((rc = input_next(in, &block, e)) == OK && block.n > 0) {
		xplane_reader_feed(r, block);
		if (watcher != NULL)
			watcher->block(watcher->arg, in);
	}
	return rc;
}

int xplane_read(struct input *in, const char *name, const struct trace_limits *limits,
	const struct trace_watcher *watcher, struct trace_report *report, struct trace **out, struct err *e)
{
	struct xplane_reader *r = xplane_reader_new(limits->max_events, report);
	int rc;

	*report = (struct trace_report){ 0 };
	*out = NULL;
	rc = read_blocks(r, in, watcher, e);
	input_report(in, report);
	if (rc == OK)
		rc = xplane_reader_end(r, out, e);
	xplane_reader_free(r);
	return rc == E_FORMAT ? err_add(e, "%s", name) : rc;
}
