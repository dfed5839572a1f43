#include "agent/prometheus.h"

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

static struct str take_name(struct str *line)
{
	size_t n = 0;
	struct str name;

	while (n < line->n && is_name_byte(line->p[n]))
		n++;
	name = str_upto(*line, n);
	*line = str_from(*line, n);
	return name;
}

/* Behind the '{': where the '}' is that ends the labels and stands in no value; line->n where there is none. */
static size_t labels_end(struct str line)
{
	bool quoted = false;

	for (size_t i = 0; i < line.n; i++) {
		if (quoted && line.p[i] == '\\')
			i++;
		else if (line.p[i] == '"')
			quoted = !quoted;
		else if (!quoted && line.p[i] == '}')
			return i;
	}
	return line.n;
}

static struct str take_word(struct str *line)
{
	size_t n = 0;
	struct str word;

	*line = str_trim(*line);
	while (n < line->n && line->p[n] != ' ' && line->p[n] != '\t')
		n++;
	word = str_upto(*line, n);
	*line = str_from(*line, n);
	return word;
}

static bool take_labels(struct str *line, struct str *labels)
{
	size_t n;

	*line = str_trim(*line);
	*labels = STR("");
	if (!str_drop_prefix(line, STR("{")))
		return true;
	n = labels_end(*line);
	if (n == line->n)
		return false;
	*labels = str_upto(*line, n);
	*line = str_from(*line, n + 1);
	return true;
}

/* As they are written: NaN, Inf, +Inf, -Inf in any case. */
static bool is_not_finite(struct str word)
{
	if (!str_drop_prefix(&word, STR("+")))
		str_drop_prefix(&word, STR("-"));
	if (word.n != 3)
		return false;
	for (size_t i = 0; i < 2; i++) {
		struct str want = i == 0 ? STR("nan") : STR("inf");
		size_t same = 0;

		while (same < want.n && (word.p[same] | 0x20) == want.p[same])
			same++;
		if (same == want.n)
			return true;
	}
	return false;
}

enum line_kind { LINE_SAMPLE, LINE_OTHER, LINE_BAD };

static enum line_kind read_line(struct str line, struct prometheus_sample *out)
{
	struct str word;

	line = str_trim(line);
	if (line.n == 0 || line.p[0] == '#')
		return LINE_OTHER;
	out->name = take_name(&line);
	if (out->name.n == 0 || !take_labels(&line, &out->labels))
		return LINE_BAD;
	word = take_word(&line); /* a time, or an exemplar, may stand behind it */
	if (is_not_finite(word))
		return LINE_OTHER;
	return str_to_double(word, &out->value) == OK ? LINE_SAMPLE : LINE_BAD;
}

bool prometheus_next(struct str *rest, struct prometheus_sample *out, uint64_t *bad)
{
	while (rest->n > 0) {
		bool whole = str_find_byte(*rest, '\n') < rest->n;
		enum line_kind kind = read_line(str_split(rest, '\n'), out);

		if (kind == LINE_SAMPLE && whole)
			return true;
		*bad += kind == LINE_BAD || (kind == LINE_SAMPLE && !whole);
	}
	return false;
}
