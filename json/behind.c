#include "json/behind.h"

#include <string.h>

/* Where the look is: behind a value, at a depth that falls as brackets close. */
struct look {
	const struct json_behind *b;
	size_t i;
	unsigned depth;
	bool strict;
	bool beyond;	/* in the next object, or one behind that */
	bool wants_key; /* nothing is clear without one */
	struct str key; /* the last one that was met */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The next byte that is no white space; '\0' at the end, where i is end. */
static char next_byte(struct look *k)
{
	while (k->i < k->b->end && is_space(k->b->p[k->i]))
		k->i++;
	return k->i < k->b->end ? k->b->p[k->i] : '\0';
}

static bool at_end(const struct look *k)
{
	return k->i >= k->b->end;
}

static bool in_object(const struct look *k)
{
	return json_level_is_object(k->b->kinds, k->depth);
}

/* To the next quote that no back-slash stands before, or the end. */
static void find_quote(struct look *k)
{
	while (k->i < k->b->end && k->b->p[k->i] != '"')
		k->i += k->b->p[k->i] == '\\' ? 2 : 1;
	if (k->i > k->b->end)
		k->i = k->b->end;
}

/* At a quote: text, '"', ':'. The look stands behind the colon. */
static enum answer take_key(struct look *k)
{
	size_t from = ++k->i;
	char c;

	find_quote(k);
	if (at_end(k))
		return UNKNOWN;
	k->key = str_make(k->b->p + from, k->i - from);
	k->i++;
	c = next_byte(k);
	if (at_end(k))
		return UNKNOWN;
	k->i++;
	return c == ':' ? YES : NO;
}

/* Over a number or literal. */
static void pass_word(struct look *k)
{
	while (!at_end(k) && !is_space(k->b->p[k->i]) && strchr(",}]\":", k->b->p[k->i]) == NULL)
		k->i++;
}

/* Over a string up to its last quote. In another object it may hold raw ones, too: its last is one that a comma, colon or
 * bracket follows. */
static void pass_string(struct look *k)
{
	for (;;) {
		struct look behind;

		k->i++;
		find_quote(k);
		if (at_end(k) || (!k->beyond && k->depth == k->b->depth))
			return;
		behind = *k;
		behind.i++;
		if (strchr(",:}]", next_byte(&behind)) != NULL)
			return;
	}
}

/* Over a value, without a close look at it. */
static enum answer pass_value(struct look *k)
{
	unsigned nest = 0;

	do {
		char c = next_byte(k);

		if (c == '"') {
			pass_string(k);
		} else if (c == '[' || c == '{') {
			nest++;
		} else if (nest > 0 && (c == ']' || c == '}')) {
			nest--;
		} else if (nest == 0) {
			pass_word(k);
			return at_end(k) ? UNKNOWN : YES;
		}
		k->i++;
	} while (nest > 0 && !at_end(k));
	return at_end(k) ? UNKNOWN : YES;
}

/* The known keys, where they are asked: behind a string among them. Deeper ones have brackets that tell enough. */
static const struct json_keys *doubtful(const struct look *k)
{
	return k->strict && k->b->keys != NULL && k->b->depth == k->b->keys->depth ? k->b->keys : NULL;
}

/* Is it worth a further look, behind the value of the key that was met? Above the objects whose keys are known it is: few
 * keys stand there, and to end their list by mistake would cost all that follows. */
static bool tells_little(const struct look *k)
{
	const struct json_keys *keys = doubtful(k);

	if (keys == NULL || k->depth > keys->depth)
		return false;
	if (k->depth < keys->depth)
		return true;
	return k->beyond ? !keys->may_begin(k->key) : !keys->may_follow(keys->arg, k->key);
}

/* Behind a comma in an object, at a key. */
static enum answer at_key(struct look *k, bool *further)
{
	enum answer is_key = take_key(k);

	*further = is_key == YES && tells_little(k);
	return *further ? pass_value(k) : is_key;
}

/* In the array of the objects whose keys are known. */
static const struct json_keys *keys_of_items(const struct look *k)
{
	const struct json_keys *keys = doubtful(k);

	return keys != NULL && keys->depth == k->depth + 1 ? keys : NULL;
}

/* In an array, at an object's '{'. What is in it may be damaged: only where the text is not sound that is looked at. */
static enum answer at_object(struct look *k, bool *further)
{
	const struct json_keys *keys = keys_of_items(k);
	enum answer is_key;
	char c;

	if (keys == NULL && !k->wants_key)
		return YES;
	k->i++;
	c = next_byte(k);
	if (at_end(k))
		return UNKNOWN;
	*further = c == '}';
	k->i += c == '}';
	if (c != '"')
		return *further ? YES : NO;
	is_key = take_key(k);
	*further = is_key == YES && keys != NULL && !keys->may_begin(k->key);
	if (!*further)
		return is_key;
	k->beyond = true;
	k->depth++; /* an object like the one that was left */
	return pass_value(k);
}

/* In an array, at a string: as it seems, for this one may hold quotes, too. */
static enum answer at_string(struct look *k)
{
	char c;

	k->i++;
	find_quote(k);
	k->i += !at_end(k);
	c = next_byte(k);
	return at_end(k) ? UNKNOWN : c == ',' || c == ']' ? YES : NO;
}

/* Over a comma and what should not be there: more of them, or a bracket behind. */
static char pass_commas(struct look *k)
{
	unsigned commas = 0;
	char c;

	while ((c = next_byte(k)) == ',') {
		k->i++;
		commas++;
	}
	k->strict |= commas > 1 || c == ']' || c == '}';
	return c;
}

/* Behind a comma, where no bracket closes. */
static enum answer at_item(struct look *k, char c, bool *further)
{
	if (in_object(k))
		return c == '"' ? at_key(k, further) : NO;
	if (c == '{')
		return at_object(k, further);
	*further = k->b->strict && keys_of_items(k) != NULL; /* no object among objects: does it go on like that? */
	if (*further)
		return pass_value(k);
	return c == '"' ? at_string(k) : YES;
}

/* Neither comma nor bracket: this is damaged, or the string goes on. A quote before, or one here, speaks for that. */
static enum answer at_other(const struct look *k, char c)
{
	return k->depth < k->b->depth && !k->b->strict && c != '"' ? YES : NO;
}

/* Behind the outermost value should be nothing, least of all what goes on behind a string that ended too early. */
static enum answer behind_all(const struct look *k, char c)
{
	if (at_end(k))
		return YES;
	return k->strict || c == '"' || c == ',' || c == '}' || c == ']' ? NO : YES;
}

static enum answer look_through(struct look *k)
{
	for (;;) {
		const char close = in_object(k) ? '}' : ']';
		bool further = false, comma;
		enum answer answer;
		char c = next_byte(k);

		if (k->depth == 0 && (!at_end(k) || k->b->whole))
			return behind_all(k, c);
		comma = c == ',';
		if (comma)
			c = pass_commas(k);
		if (at_end(k))
			return UNKNOWN;
		if (c == close) {
			k->i++;
			k->depth--;
			continue;
		}
		if (!comma)
			return at_other(k, c);
		answer = at_item(k, c, &further);
		if (!further || answer != YES)
			return answer;
	}
}

/* In another object than the string's nothing speaks against an end: that one may be damaged, or hold raw quotes. */
static enum answer look_on(struct look *k)
{
	enum answer answer = look_through(k);

	return answer == NO && k->beyond && k->depth == k->b->keys->depth ? YES : answer;
}

enum answer json_behind_value(const struct json_behind *b, size_t i)
{
	struct look k = { .b = b, .i = i, .depth = b->depth, .strict = b->strict };

	return look_on(&k);
}

/* Letters, digits and what may stand between them. */
static bool is_word(struct str key)
{
	for (size_t i = 0; i < key.n; i++)
		if (strchr(" _-.", key.p[i]) == NULL && !(key.p[i] >= '0' && key.p[i] <= '9') &&
			!((key.p[i] | 0x20) >= 'a' && (key.p[i] | 0x20) <= 'z'))
			return false;
	return str_trim(key).n > 0;
}

/* In a sound document the quote in front of the key would end the string, and its first letter could not stand there. */
enum answer json_behind_back_slash(const struct json_behind *b, size_t i)
{
	struct look k = { .b = b, .i = i, .depth = b->depth, .strict = true, .wants_key = true };
	enum answer answer = look_on(&k);

	return answer == YES && !is_word(k.key) ? NO : answer;
}
