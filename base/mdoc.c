#include "base/mdoc.h"

/* Of names of columns and variables; a first word never stands at the end of a line. */
static bool starts_name(struct str text, size_t at)
{
	struct str rest = str_from(text, at);

	return at > 0 && text.p[at - 1] == ' ' && str_find_byte(rest, '_') < str_find_byte(rest, ' ');
}

void mdoc_text(struct str text, struct buf *out)
{
	if (text.n > 0 && (text.p[0] == '.' || text.p[0] == '\''))
		buf_text(out, "\\&");
	for (size_t i = 0; i < text.n; i++) {
		if (starts_name(text, i))
			buf_text(out, "\\%");
		if (text.p[i] == '\\')
			buf_text(out, "\\e");
		else if (text.p[i] == '-')
			buf_text(out, "\\-");
		else
			buf_byte(out, text.p[i]);
	}
}

void mdoc_line(struct str text, struct buf *out)
{
	mdoc_text(text, out);
	buf_byte(out, '\n');
}
