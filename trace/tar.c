#include "trace/tar.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { NAME_AT = 0, NAME_SIZE = 100, SIZE_AT = 124, SIZE_SIZE = 12, SUM_AT = 148, SUM_SIZE = 8, TYPE_AT = 156,
	MAGIC_AT = 257, PREFIX_AT = 345, PREFIX_SIZE = 155 };
enum { TEXT_BYTES_MAX = 1 << 20 };

struct tar {
	struct input *in;
	struct str rest;	 /* of the input's block */
	uint64_t at;		 /* offset in the decompressed archive */
	uint64_t left, padding;	 /* of the file that is under way */
	uint64_t files;
	struct buf name;	 /* of the file */
	bool named, sized, over; /* by a long name or a record for the next file */
	uint64_t size;
	struct trace_report report;
};

/* ---- headers */
static struct str field(struct str header, size_t at, size_t n)
{
	struct str f = str_upto(str_from(header, at), n);

	return str_upto(f, str_find_byte(f, '\0'));
}

static bool octal(struct str text, uint64_t *out)
{
	*out = 0;
	text = str_trim(text);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '7' || *out >> 60 != 0)
			return false;
		*out = *out * 8 + (uint64_t)(text.p[i] - '0');
	}
	return true;
}

static bool size_of(struct str header, uint64_t *out)
{
	const unsigned char *p = (const unsigned char *)header.p + SIZE_AT;

	if (p[0] != 0x80)
		return octal(field(header, SIZE_AT, SIZE_SIZE), out);
	*out = 0;
	for (size_t i = 1; i < SIZE_SIZE; i++) {
		if (*out >> 55 != 0)
			return false; /* no such size, and sums of it must not wrap */
		*out = *out << 8 | p[i];
	}
	return true;
}

/* Some writers took the bytes as signed. */
static bool sum_is_right(struct str header)
{
	uint64_t want, sum = 0;
	int64_t signed_sum = 0;

	if (!octal(field(header, SUM_AT, SUM_SIZE), &want))
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		char c = i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : header.p[i];

		sum += (unsigned char)c;
		signed_sum += (signed char)c;
	}
	return want == sum || (int64_t)want == signed_sum;
}

static bool is_zero(struct str header)
{
	for (size_t i = 0; i < header.n; i++)
		if (header.p[i] != '\0')
			return false;
	return true;
}

bool tar_is(struct str head)
{
	uint64_t size;

	head = str_upto(head, TAR_BLOCK);
	return head.n == TAR_BLOCK && head.p[NAME_AT] != '\0' && sum_is_right(head) && size_of(head, &size);
}

/* ---- bytes */
struct tar *tar_new(struct input *in)
{
	struct tar *t = mem_get(sizeof(*t));

	t->in = in;
	buf_init(&t->name, TEXT_BYTES_MAX);
	return t;
}

void tar_free(struct tar *t)
{
	if (t == NULL)
		return;
	buf_fini(&t->name);
	mem_free(t);
}

/* Up to n bytes of what comes next, in one piece; none at the end. */
static int take(struct tar *t, uint64_t n, struct str *piece, struct err *e)
{
	int rc = t->rest.n > 0 ? OK : input_next(t->in, &t->rest, e);

	*piece = rc == OK ? str_upto(t->rest, n < SIZE_MAX ? (size_t)n : SIZE_MAX) : STR("");
	t->rest = rc == OK ? str_from(t->rest, piece->n) : STR("");
	t->at += piece->n;
	return rc;
}

static void cut(struct tar *t)
{
	trace_report_add(&t->report, TRACE_TRUNCATED, 1, t->at);
	t->over = true;
}

static int skip(struct tar *t, uint64_t n, struct err *e)
{
	while (n > 0 && !t->over) {
		struct str piece;
		int rc = take(t, n, &piece, e);

		if (rc < 0)
			return rc;
		if (piece.n == 0)
			cut(t);
		n -= piece.n;
	}
	return OK;
}

/* Fewer than TAR_BLOCK bytes only at the end. */
static int read_header(struct tar *t, char *header, size_t *got, struct err *e)
{
	struct str piece;
	int rc;

	*got = 0;
	do {
		rc = take(t, TAR_BLOCK - *got, &piece, e);
		if (piece.n > 0)
			memcpy(header + *got, piece.p, piece.n);
		*got += piece.n;
	} while (rc == OK && piece.n > 0 && *got < TAR_BLOCK);
	return rc;
}

/* The content of a member that is about the next one; past a ceiling it counts as empty. */
static int read_text(struct tar *t, struct buf *text, struct err *e)
{
	int rc = OK;

	buf_reset(text);
	while (rc == OK && t->left > 0 && !t->over) {
		struct str piece;

		rc = take(t, t->left, &piece, e);
		if (rc == OK && piece.n == 0)
			cut(t);
		buf_str(text, piece);
		t->left -= piece.n;
	}
	if (text->rc != OK)
		buf_reset(text);
	return rc;
}

/* ---- what is told of the next file */
static void set_name(struct tar *t, struct str name)
{
	buf_reset(&t->name);
	buf_str(&t->name, str_upto(name, str_find_byte(name, '\0')));
	t->named = true;
}

static void take_record(struct tar *t, struct str key, struct str value)
{
	if (str_eq(key, STR("path")))
		set_name(t, value);
	if (str_eq(key, STR("size")) && str_to_u64(value, &t->size) == OK && t->size >> 60 == 0)
		t->sized = true;
}

static void take_records(struct tar *t, struct str text)
{
	while (text.n > 0) {
		size_t blank = str_find_byte(text, ' ');
		struct str record, key;
		uint64_t n;

		if (str_to_u64(str_upto(text, blank), &n) < 0 || n <= blank + 1 || n > text.n)
			return;
		record = str_upto(text, (size_t)n);
		text = str_from(text, (size_t)n);
		str_drop_suffix(&record, STR("\n"));
		record = str_from(record, blank + 1);
		key = str_split(&record, '=');
		if (record.p != NULL)
			take_record(t, key, record);
	}
}

static int take_extension(struct tar *t, char type, struct err *e)
{
	struct buf text;
	int rc;

	buf_init(&text, TEXT_BYTES_MAX);
	rc = read_text(t, &text, e);
	if (rc == OK && type == 'L' && text.n > 0)
		set_name(t, buf_view(&text));
	else if (rc == OK && type == 'x')
		take_records(t, buf_view(&text));
	buf_fini(&text);
	return rc;
}

static void name_by_header(struct tar *t, struct str header)
{
	struct str prefix = field(header, PREFIX_AT, PREFIX_SIZE);
	bool posix = memcmp(header.p + MAGIC_AT, "ustar\0", 6) == 0; /* GNU has other things where the prefix is */

	buf_reset(&t->name);
	if (posix && prefix.n > 0) {
		buf_str(&t->name, prefix);
		buf_byte(&t->name, '/');
	}
	buf_str(&t->name, field(header, NAME_AT, NAME_SIZE));
}

/* Links, devices and folders have no content, whatever their size says. */
static bool has_content(char type)
{
	return type < '1' || type > '6';
}

enum found { FOUND_NOTHING, FOUND_FILE };

static int take_header(struct tar *t, struct str header, enum found *found, struct err *e)
{
	char type = header.p[TYPE_AT];
	uint64_t size = 0;
	bool file = type == '0' || type == '\0' || type == '7';

	*found = FOUND_NOTHING;
	if (!sum_is_right(header) || !size_of(header, &size)) {
		trace_report_add(&t->report, TRACE_BAD_DATA, 1, t->at - TAR_BLOCK);
		return OK;
	}
	if (file && t->sized)
		size = t->size;
	t->left = has_content(type) ? size : 0;
	t->padding = (TAR_BLOCK - t->left % TAR_BLOCK) % TAR_BLOCK;
	if (type == 'L' || type == 'x')
		return take_extension(t, type, e);
	if (!t->named)
		name_by_header(t, header);
	t->named = t->sized = false;
	if (file && !(t->name.n > 0 && t->name.p[t->name.n - 1] == '/')) /* a folder in 1979 */
		*found = FOUND_FILE;
	return OK;
}

/* A run of damaged headers is one loss: what is passed over is mostly content. */
int tar_next(struct tar *t, struct tar_file *f, bool *more, struct err *e)
{
	bool damaged = false;

	*more = false;
	while (!t->over) {
		char header[TAR_BLOCK];
		enum found found = FOUND_NOTHING;
		size_t got = 0;
		int rc = skip(t, t->left + t->padding, e);

		t->left = t->padding = 0;
		if (rc == OK && !t->over)
			rc = read_header(t, header, &got, e);
		if (rc < 0)
			return rc;
		if (got > 0 && got < TAR_BLOCK)
			cut(t);
		if (got < TAR_BLOCK || (!damaged && is_zero(str_make(header, got))))
			t->over = true;
		else if (!damaged || sum_is_right(str_make(header, got)))
			rc = take_header(t, str_make(header, got), &found, e);
		if (rc < 0)
			return rc;
		damaged = got == TAR_BLOCK && !sum_is_right(str_make(header, got));
		if (found == FOUND_NOTHING)
			continue;
		if (t->files++ >= TAR_FILES_MAX)
			return err_set(e, E_LIMIT, "more than %d files in one archive", TAR_FILES_MAX);
		*f = (struct tar_file){ buf_view(&t->name), t->left };
		*more = true;
		return OK;
	}
	return OK;
}

int tar_read(void *arg, char *dst, size_t room, size_t *n, struct err *e)
{
	struct tar *t = arg;
	struct str piece = STR("");
	int rc = OK;

	if (t->left > 0 && !t->over) {
		rc = take(t, t->left < room ? t->left : room, &piece, e);
		if (rc == OK && piece.n == 0)
			cut(t);
	}
	if (piece.n > 0)
		memcpy(dst, piece.p, piece.n);
	t->left -= piece.n;
	*n = piece.n;
	return rc;
}

void tar_report(const struct tar *t, struct trace_report *r)
{
	const struct trace_skip *damage = trace_report_find(&t->report, TRACE_BAD_DATA);
	const struct trace_skip *end = trace_report_find(&t->report, TRACE_TRUNCATED);

	*r = (struct trace_report){ 0 };
	input_report(t->in, r);
	if (damage != NULL)
		trace_report_add(r, TRACE_BAD_DATA, damage->count, damage->offset);
	if (end != NULL && r->n_skips == 0) /* else the compression has said it */
		trace_report_add(r, TRACE_TRUNCATED, 1, end->offset);
}
