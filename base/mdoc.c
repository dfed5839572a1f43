#include "base/mdoc.h"

void mdoc_text(struct str text, struct buf *out)
{
	if (text.n > 0 && (text.p[0] == '.' || text.p[0] == '\''))
		buf_text(out, "\\&");
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\\')
			buf_text(out, "\\e");
		else if (text.p[i] == '-')
			buf_text(out, "\\-");
		else
			buf_byte(out, text.p[i]);
}

void mdoc_line(struct str text, struct buf *out)
{
	mdoc_text(text, out);
	buf_byte(out, '\n');
}
