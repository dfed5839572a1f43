#include "cli/csv.h"

/* What a field of the tsv stands for. A sequence that is none of these stays. */
static struct str unescape(struct str field, struct buf *text)
{
	buf_reset(text);
	for (size_t i = 0; i < field.n; i++) {
		static const char from[] = "\\tnr", to[] = "\\\t\n\r";
		const char *at = field.p[i] == '\\' && i + 1 < field.n ? strchr(from, field.p[i + 1]) : NULL;

		if (at != NULL && *at != '\0') {
			buf_byte(text, to[at - from]);
			i++;
		} else {
			buf_byte(text, field.p[i]);
		}
	}
	return buf_view(text);
}

static void put_field(struct str text, struct buf *out)
{
	bool quoted = false;

	for (size_t i = 0; i < text.n && !quoted; i++)
		quoted = strchr(",\"\r\n\t", text.p[i]) != NULL; /* NUL too, which is no harm */
	if (!quoted) {
		buf_str(out, text);
		return;
	}
	buf_byte(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			buf_byte(out, '"');
		buf_byte(out, text.p[i]);
	}
	buf_byte(out, '"');
}

static void put_line(struct str line, struct str file, struct buf *text, struct buf *out)
{
	bool first = file.p == NULL;

	if (file.p != NULL)
		put_field(file, out);
	while (line.p != NULL) {
		if (!first)
			buf_byte(out, ',');
		first = false;
		put_field(unescape(str_split(&line, '\t'), text), out);
	}
	buf_text(out, "\r\n");
}

void csv_from_tsv(struct str tsv, const char *file, bool headed, struct buf *out)
{
	struct str name = { file, file == NULL ? 0 : strlen(file) };
	struct buf text;
	bool head = true;

	buf_init(&text, tsv.n + 1);
	while (tsv.n > 0) {
		struct str line = str_split(&tsv, '\n');

		if (!head)
			put_line(line, name, &text, out);
		else if (headed)
			put_line(line, file == NULL ? name : STR("file"), &text, out);
		head = false;
	}
	buf_fini(&text);
}
