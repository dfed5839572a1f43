#include "json/pull.h"

#include <check.h>
#include <stdio.h>

#include "base/code.h"
#include "base/mem.h"
#include "tests/support/json_random.h"
#include "tests/support/json_tokens.h"
#include "tests/support/prop.h"
#include "tests/unit/json/cuts.h"

Suite *suite_pull(void);

/* Just the tokens of a document, without offsets, depths and counters: "[ 1 2 ]", and the error's code at the end. */
static void brief(enum json_mode mode, struct json_limits limits, struct str text, struct buf *out)
{
	struct json_reader *r = json_reader_new(mode, limits);
	struct json_value v;
	enum json_token t;

	buf_reset(out);
	json_feed(r, text.p, text.n);
	for (;;) {
		t = json_next(r, &v);
		if (t == JSON_MORE) {
			json_feed_end(r);
			continue;
		}
		if (out->n)
			buf_byte(out, ' ');
		if (t == JSON_KEY || t == JSON_STRING || t == JSON_NUMBER)
			buf_fmt(out,
				t == JSON_KEY		   ? "%.*s:"
					: t == JSON_STRING ? "'%.*s'"
							   : "%.*s",
				STR_ARG(v.raw));
		else if (t == JSON_ERROR)
			buf_fmt(out, "%s@%u", code_name(json_reader_error(r, NULL)),
				(unsigned)json_error_offset(r));
		else if (t != JSON_DONE)
			buf_text(out, json_token_names[t]);
		else
			buf_byte(out, '.');
		if (t == JSON_DONE || t == JSON_ERROR)
			break;
	}
	json_reader_free(r);
}

struct reading {
	const char *text, *tokens;
};

static void check_readings(enum json_mode mode, const struct reading *cases, size_t n)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < n; i++) {
		brief(mode, JSON_LIMITS_BODY, str_of(cases[i].text), &out);
		ck_assert_msg(strcmp(buf_view(&out).p, cases[i].tokens) == 0, "%s\n  gives  %s\n  not    %s",
			cases[i].text, out.p, cases[i].tokens);
	}
	buf_fini(&out);
}

static const struct reading sound[] = {
	{ "{}", "{ } ." },
	{ " [ ] ", "[ ] ." },
	{ "null", "null ." },
	{ "-12.5e+3", "-12.5e+3 ." },
	{ "\"\"", "'' ." },
	{ "[1,2.0 ,\"x\",true,false,null]", "[ 1 2.0 'x' true false null ] ." },
	{ "{\"a\":{\"b\":[{}]},\"c\":0}", "{ a: { b: [ { } ] } c: 0 } ." },
	{ "{\"a\\\"b\" : \"c\\\\\" , \"d\":\"\\u00e9\"}", "{ a\\\"b: 'c\\\\' d: '\\u00e9' } ." },
	{ "[\"a,b]\",\"}\",\"{\"]", "[ 'a,b]' '}' '{' ] ." },
	{ "{\"\":\"\"}", "{ : '' } ." },
	{ "{\"a\":\"x, \\\"b\\\": y\",\"c\":\"}\"}", "{ a: 'x, \\\"b\\\": y' c: '}' } ." },
	{ "[\"\x7f\xc3\xa9\xf0\x9f\x98\x80\"]", "[ '\x7f\xc3\xa9\xf0\x9f\x98\x80' ] ." },
	{ "\t\r\n{\n}\n", "{ } ." },
	/* what a quote behind a back-slash could be taken for */
	{ "{\"a\":\"x\\\",\",\"b\":\"y\"}", "{ a: 'x\\\",' b: 'y' } ." },
	{ "{\"a\":\"\\\", \",\"b\":1,\"\":\"\\\"}\"}", "{ a: '\\\", ' b: 1 : '\\\"}' } ." },
	{ "[{\"a\":\"\\\"}, {\",\":b\":[]},\"x\"]", "[ { a: '\\\"}, {' :b: [ ] } 'x' ] ." },
};

START_TEST(sound_documents_are_read_alike_in_both_modes)
{
	check_readings(JSON_STRICT, sound, COUNT(sound));
	check_readings(JSON_TOLERANT, sound, COUNT(sound));
}
END_TEST

START_TEST(strict_mode_refuses_what_rfc_8259_does_not_have)
{
	static const struct reading cases[] = {
		{ "", "format@0" },
		{ " ", "format@1" },
		{ "{", "{ format@1" },
		{ "[1", "[ format@2" },
		{ "[1,", "[ 1 format@3" },
		{ "[1,]", "[ 1 format@3" },
		{ "[,1]", "[ format@1" },
		{ "[1,,2]", "[ 1 format@3" },
		{ "[1 2]", "[ 1 format@3" },
		{ "{\"a\"}", "{ a: format@4" },
		{ "{\"a\":}", "{ a: format@5" },
		{ "{\"a\":1,}", "{ a: 1 format@7" },
		{ "{,}", "{ format@1" },
		{ "{1:2}", "{ format@1" },
		{ "{\"a\" 1}", "{ a: format@5" },
		{ "{\"a\":1 \"b\":2}", "{ a: 1 format@7" },
		{ "[1}", "[ 1 format@2" },
		{ "{]", "{ format@1" },
		{ "]", "format@0" },
		{ "1 2", "1 format@2" },
		{ "{}}", "{ } format@2" },
		{ "nul", "format@0" },
		{ "nulls", "format@0" },
		{ "True", "format@0" },
		{ "NaN", "format@0" },
		{ "-Infinity", "format@0" },
		{ "01", "format@0" },
		{ "1.", "format@0" },
		{ ".5", "format@0" },
		{ "+1", "format@0" },
		{ "-", "format@0" },
		{ "1e", "format@0" },
		{ "0x1", "format@0" },
		{ "'a'", "format@0" },
		{ "\"a", "format@2" },
		{ "\"\\", "format@2" },
		{ "\"\\w\"", "format@1" },
		{ "\"ab\\u12g4\"", "format@3" },
		{ "\"a\nb\"", "format@2" },
		{ "\"a\x1f\"", "format@2" },
		{ "\"\xff\"", "format@1" },
		{ "\"\xed\xa0\x80\"", "format@1" },
		{ "\xef\xbb\xbf{}", "format@0" },
		{ "// x", "format@0" },
		{ "[1]\x01", "[ 1 ] format@3" },
	};

	check_readings(JSON_STRICT, cases, COUNT(cases));
}
END_TEST

START_TEST(tolerant_mode_reads_what_real_traces_hold)
{
	static const struct reading cases[] = {
		{ "{\"name\":\"f(x=\"a\"\nb)\",\"n\":1}", "{ name: 'f(x=\"a\"\nb)' n: 1 } ." },
		{ "{\"name\":\"lib = make(\"demo\", \"X\")\", \"pid\":1}",
			"{ name: 'lib = make(\"demo\", \"X\")' pid: 1 } ." },
		{ "{\"name\":\"a\"\"}", "{ name: 'a\"' } ." },
		{ "{\"name\":\"\"\"\"\" }", "{ name: '\"\"\"' } ." },
		{ "{\"p\":\"C:\\work\\x\"}", "{ p: 'C:\\work\\x' } ." },
		{ "{\"p\":\"op\x01\x08name\"}", "{ p: 'op\x01\x08name' } ." },
		{ "{\"p\":\"op\xff\xfe\xc3name\"}", "{ p: 'op\xff\xfe\xc3name' } ." },
		{ "{\"a\"b\":1}", "{ a\"b: 1 } ." },
		{ "[\"a\"b\", \"c\" ]", "[ 'a\"b' 'c' ] ." },
		{ "[\"a]\"], \"b\"]", "[ 'a]\"], \"b' ] ." },
		{ "{\"name\":\"{\"op\":\"mm\"}\",\"n\":1}", "{ name: '{\"op\":\"mm\"}' n: 1 } ." },
		{ "[{\"name\":\"f([\"a\"], {\"b\": \"c\"})\",\"n\":1}]", "[ { name: 'f([\"a\"], {\"b\": \"c\"})' n: 1 } ] ." },
		{ "{\"a\":{\"b\":\"\"}\"},\"c\":1}", "{ a: { b: '\"}' } c: 1 } ." },
		{ "{\"p\":\"C:\\dir\\\",\"q\":{\"r\":\"D:\\\"},\"s\":1}", "{ p: 'C:\\dir\\' q: { r: 'D:\\' } s: 1 } ." },
		{ "[{\"p\":\"C:\\\"}, {\"q\":1}, {\"p\":\"\\\"}", "[ { p: 'C:\\' } { q: 1 } { p: ." },
		{ "[1,2,]", "[ 1 2 ] ." },
		{ "[,1,,2]", "[ 1 2 ] ." },
		{ "{,\"a\":\"x\",,\"b\":\"y\",}", "{ a: 'x' b: 'y' } ." },
		{ "{\"a\":NaN,\"b\":-Infinity,\"c\":nan,\"d\":-nan(ind),\"e\":1.#INF}",
			"{ a: NaN b: -Infinity c: nan d: -nan(ind) e: 1.#INF } ." },
		{ "\xef\xbb\xbf{}", "{ } ." },
		{ "[{\"a\":1},", "[ { a: 1 } ." },
		{ "[{\"a\":1", "[ { a: ." },
		{ "[{\"a\":\"x\"", "[ { a: 'x' ." },
		{ "[{\"a\":\"x\", \"b", "[ { a: 'x' ." },
		{ "[{\"a\":\"x", "[ { a: ." },
		{ "[{\"a\"", "[ { a: ." },
		{ "[tru", "[ ." },
	};
	static const struct reading refused[] = {
		{ "", "format@0" },
		{ "\xef\xbb\xbf", "format@3" },
		{ "\xef\xbb", "format@0" },
		{ "{\"a\":,\"b\":1}", "{ a: format@5" },
		{ "{\"a\":}", "{ a: format@5" },
		{ "[1}", "[ 1 format@2" },
		{ "{} x", "{ } format@3" },
		{ "{}{}", "{ } format@2" },
		{ "[None]", "[ format@1" },
		{ "[1 2]", "[ 1 format@3" },
		{ "hello", "format@0" },
	};

	check_readings(JSON_TOLERANT, cases, COUNT(cases));
	check_readings(JSON_TOLERANT, refused, COUNT(refused));
}
END_TEST

static void expect_counters(const char *text, const char *line)
{
	struct json_read how = { .mode = JSON_TOLERANT, .limits = { 64, 16 }, .quiet = true };
	struct buf out;

	buf_init(&out, 1 << 16);
	json_tokens(&how, str_of(text), &out);
	ck_assert_str_eq(buf_view(&out).p, line);
	buf_fini(&out);
}

START_TEST(what_tolerant_mode_mends_is_counted)
{
	expect_counters("\xef\xbb\xbf{\"a\":\"\"\n\\w\xff\",,\"b\":nan,",
		"quotes 1 controls 1 escapes 1 utf8 1 numbers 1 commas 1 mark 1 cut 0 recovered 0 open 1 "
		"inside 0\n");
	expect_counters("[\"12345678901234567\",12345678901234567",
		"quotes 0 controls 0 escapes 0 utf8 0 numbers 0 commas 0 mark 0 cut 2 recovered 0 open 1 "
		"inside 1\n");
	expect_counters("{\"a\":",
		"quotes 0 controls 0 escapes 0 utf8 0 numbers 0 commas 0 mark 0 cut 0 recovered 0 open 1 "
		"inside 1\n");
	expect_counters("[1]",
		"quotes 0 controls 0 escapes 0 utf8 0 numbers 0 commas 0 mark 0 cut 0 recovered 0 open 0 "
		"inside 0\n");
}
END_TEST

START_TEST(a_token_that_is_too_long_is_refused_or_cut)
{
	struct json_limits limits = { 4, 8 };
	struct buf out;

	buf_init(&out, 1000);
	brief(JSON_STRICT, limits, STR("[\"12345678\",\"123456789\"]"), &out);
	ck_assert_str_eq(out.p, "[ '12345678' limit@13");
	brief(JSON_STRICT, limits, STR("[12345678,123456789]"), &out);
	ck_assert_str_eq(out.p, "[ 12345678 limit@10");
	brief(JSON_TOLERANT, limits, STR("{\"123456789\":\"12345678\",\"b\":\"123456789\",\"c\":1234567890}"),
		&out);
	ck_assert_str_eq(out.p, "{ 12345678: '12345678' b: '12345678' c: 12345678 } .");
	brief(JSON_STRICT, limits, STR("[[[[1]]]]"), &out);
	ck_assert_str_eq(out.p, "[ [ [ [ 1 ] ] ] ] .");
	brief(JSON_STRICT, limits, STR("[[[[[1]]]]]"), &out);
	ck_assert_str_eq(out.p, "[ [ [ [ limit@4");
	buf_fini(&out);
}
END_TEST

START_TEST(an_error_tells_line_column_and_byte)
{
	struct json_reader *r = json_reader_new(JSON_STRICT, JSON_LIMITS_BODY);
	struct json_value v;
	struct err e = { 0 };

	json_feed(r, "{\n \"a\": 1,\n", 11);
	while (json_next(r, &v) != JSON_MORE)
		;
	json_feed(r, " \"b\" 2}", 7);
	while (json_next(r, &v) != JSON_ERROR)
		;
	ck_assert_int_eq(json_reader_error(r, &e), E_FORMAT);
	ck_assert_str_eq(e.text, "line 3, column 6 (byte 16): expected ':', found '2'");
	ck_assert_uint_eq(json_error_offset(r), 16);
	ck_assert_int_eq(json_next(r, &v), JSON_ERROR);
	json_reader_reset(r);
	json_feed(r, "[]", 2);
	ck_assert_int_eq(json_next(r, &v), JSON_ARRAY);
	json_reader_free(r);
}
END_TEST

/* ---- seams */

static const char *const nasty[] = {
	"{\"name\":\"f(x=\"a\"\nb)\",\"n\":1}",
	"{\"name\" : \"lib = make(\"demo\", \"X\")\" , \"pid\":1 , \"s\":\"\"}",
	"[{\"a\":\"\\\"\\\\\",\"b\":\"\\u00e9\\ud83d\\ude00\\n\"},{\"a\\\"\":\"x\"},[\"p\\\\\",\"q\"]]",
	"{\"a\":\"x\", , \"b\":[1,2,],\"c\":{\"d\":\"e\",},}",
	"\xef\xbb\xbf[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"\xff\xc3\",\"\x01\"]",
	"\xef\xbb[1]",
	"{\"a\":NaN,\"b\":-Infinity,\"c\":truth}",
	"[true,truthtruthtruthtruthtruth,{\"a\":1}]",
	"[1,-2.5e+10,true,false,null,\"\",{},[],{\"k\":[[[[1]]]]}]",
	"  [ {\n\"ph\" : \"X\" ,\n\"args\" : { \"x\" : [ \"y\" , { \"z\" : \"}\" } ] , \"w\" : -1 } } ,\n{ } "
	"]  ",
	"{\"ph\":\"X\",\"args\":{\"a\":[{\"b\":\"c\"},\"]\",\"d\"e\"],\"f\":12,\"g\":\"h\"i\"},\"end\":1}",
	"{\"odd\":{\"k\":\"v\",\"n\":{\"m\":[]}},\"even\":[1,[2]],\"one\":[\"s\"],\"tw\":7}",
	"{\"odd\":\"a string\",\"odd\":12,\"odd\":true,\"odd\":[],\"odd\":{}}",
	"[[1,[2,3]],[[\"]\"]],[]]",
	"{\"a\": \"0123456789abcdefghij0123456789\", \"0123456789abcdefghijklmn\": "
	"123456789012345678901234567890}",
	"{\"a\":[1}",
	"[{\"a\":1},{\"b\":bad},{\"c\":3}, {\"d\" 4}, {\"e\":[1 2]},{\"f\":6}]",
	"[{\"a\":{\"x\":[1}},{\"b\":2}],\"z\":1",
	"{\"e\":[{\"a\":@,\"args\":{\"i\":1}}\n],\n\"t\":{\"u\":1}}",
	"{\"e\":[{\"a\":@ {}x{\"\":1},{\"b\":2}]}",
	"[{\"a\":@,\"s\":\"{\\\"q\\\":1}\"},{ \"c\" : \"d\" }",
	"{\"s\":\"unfinished, \"k",
	"{\"s\":\"x\",\"k\"",
	"{\"s\":\"x\\",
	"[\"x\" , \"y\" ",
	"[12",
	"12",
	"\"top \xe2\x82",
	"\"top\" x",
	"{\"a\":1}}",
	"{\"args\":{\"x\"",
	"{\"args\":{\"x\":",
	"{\"args\":{\"x\":1,\"y\":\"z",
	"{\"args\":{\"x\" {",
	"[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
	"{\"args\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]],\"a\":1}",
	"\n\n {\"a\":\n1 \n\n\n, \n ? }",
	"",
	"   ",
};

START_TEST(a_document_cut_at_any_byte_gives_the_same_tokens)
{
	struct str text = str_of(nasty[_i]);
	struct buf why;

	buf_init(&why, 1 << 20);
	ck_assert_msg(cuts_alike(text, 0, text.n, &why), "%s", why.p);
	buf_fini(&why);
}
END_TEST

/* Around the distance that is looked ahead, and the pieces that the carry grows by. */
START_TEST(a_long_look_ahead_is_the_same_however_it_is_cut)
{
	static const struct json_read how_whole = { .mode = JSON_TOLERANT, .limits = { 16, 1 << 20 } };
	struct json_read how = how_whole;
	struct buf text, whole, parts;

	buf_init(&text, 1 << 20);
	buf_init(&whole, 1 << 20);
	buf_init(&parts, 1 << 20);
	for (size_t spaces = 4086; spaces < 4100; spaces++) {
		buf_reset(&text);
		buf_text(&text, "{\"a\":\"x\"");
		buf_fill(&text, ' ', spaces);
		buf_text(&text, ",\"b\"c\",\"d\":\"e\"}");
		json_tokens(&how_whole, buf_view(&text), &whole);
		how.cut = cut_once;
		for (size_t at = 1; at < text.n; at += at < 12 || at > 4080 ? 1 : 97) {
			how.arg = &at;
			json_tokens(&how, buf_view(&text), &parts);
			ck_assert_msg(str_eq(buf_view(&whole), buf_view(&parts)),
				"%zu spaces, cut at %zu\n%s%s", spaces, at, whole.p, parts.p);
		}
	}
	buf_fini(&text);
	buf_fini(&whole);
	buf_fini(&parts);
}
END_TEST

/* ---- skipping */

static size_t random_cut(size_t offset, void *arg)
{
	(void)offset;
	return 1 + rand_below(arg, 40);
}

static bool sound_documents_are_alike(struct rand_gen *g, size_t size, void *arg)
{
	struct json_read how = { .mode = JSON_STRICT, .limits = JSON_LIMITS_BODY };
	struct buf text, strict, other;
	bool good;

	(void)arg;
	buf_init(&text, 1 << 24);
	buf_init(&strict, 1 << 26);
	buf_init(&other, 1 << 26);
	json_random(g, size, 0, &text);
	json_tokens(&how, buf_view(&text), &strict);
	how.mode = JSON_TOLERANT;
	json_tokens(&how, buf_view(&text), &other);
	good = str_eq(buf_view(&strict), buf_view(&other)) && buf_finish(&strict, "tokens", NULL) == OK;
	how.cut = random_cut;
	how.arg = g;
	json_tokens(&how, buf_view(&text), &other);
	good = good && str_eq(buf_view(&strict), buf_view(&other));
	good = good && !str_contains(buf_view(&strict), STR("-4 ")); /* E_FORMAT */
	buf_fini(&text);
	buf_fini(&strict);
	buf_fini(&other);
	return good;
}

START_TEST(any_sound_document_gives_the_same_tokens_in_every_way)
{
	prop_check("sound documents", 400, 24, sound_documents_are_alike, NULL);
}
END_TEST

/* Reads on until depth is reached, as a skip would. */
static enum json_token read_over(struct json_reader *r, unsigned depth)
{
	struct json_value v;
	enum json_token t;

	do
		t = json_next(r, &v);
	while (t != JSON_ERROR && t != JSON_DONE && json_depth(r) > depth);
	return t;
}

/* Two readers go in step; where the dice say so one skips and the other reads over. */
static bool skipping_is_reading_over(struct rand_gen *g, size_t size, void *arg)
{
	enum json_mode mode = rand_below(g, 2) ? JSON_STRICT : JSON_TOLERANT;
	struct json_reader *a = json_reader_new(mode, JSON_LIMITS_BODY),
			   *b = json_reader_new(mode, JSON_LIMITS_BODY);
	struct json_value va, vb;
	struct buf text;
	enum json_token ta, tb;
	bool good = true;

	(void)arg;
	buf_init(&text, 1 << 24);
	json_random(g, size, 0, &text);
	json_feed(a, text.p, text.n);
	json_feed_end(a);
	json_feed(b, text.p, text.n);
	json_feed_end(b);
	do {
		unsigned depth = json_depth(b); /* a may be about to skip */

		ta = json_next(a, &va);
		tb = json_next(b, &vb);
		good = ta == tb && str_eq(va.raw, vb.raw) && va.offset == vb.offset &&
			json_depth(a) == json_depth(b);
		if (rand_below(g, 3) != 0)
			continue;
		if (ta == JSON_KEY) {
			json_skip(a);
			read_over(b, json_depth(b));
		} else if (ta == JSON_OBJECT || ta == JSON_ARRAY) {
			json_skip(a);
			read_over(b, depth);
		}
	} while (good && ta != JSON_DONE && ta != JSON_ERROR);
	buf_fini(&text);
	json_reader_free(a);
	json_reader_free(b);
	return good && ta == JSON_DONE;
}

START_TEST(skipping_a_value_is_reading_over_it)
{
	prop_check("skip", 500, 24, skipping_is_reading_over, NULL);
}
END_TEST

START_TEST(an_element_of_an_array_is_skipped_and_its_end_is_not)
{
	struct json_reader *r = json_reader_new(JSON_STRICT, JSON_LIMITS_BODY);
	struct json_value v;

	json_feed(r, "[1,{\"a\":[2]},3]", 15);
	ck_assert_int_eq(json_next(r, &v), JSON_ARRAY);
	ck_assert_int_eq(json_next(r, &v), JSON_NUMBER);
	json_skip(r);
	ck_assert_int_eq(json_next(r, &v), JSON_NUMBER);
	ck_assert(str_eq(v.raw, STR("3")));
	json_skip(r);
	ck_assert_int_eq(json_next(r, &v), JSON_ARRAY_END);
	json_reader_free(r);
}
END_TEST

START_TEST(no_memory_for_what_straddles_blocks_is_an_error)
{
	static const char *const cut[] = { "[\"a string", "{\"key\":{\"x\":\"y\"}", "[[12", "{\"a\":@ {\"x" };

	for (size_t i = 0; i < COUNT(cut); i++) {
		struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
		struct json_value v;
		enum json_token t = JSON_MORE;

		json_feed(r, cut[i], strlen(cut[i]));
		mem_fail_at(1);
		for (unsigned n = 0; n < 20 && t != JSON_DONE; n++) {
			t = json_next(r, &v);
			if (t == JSON_ERROR && json_reader_error(r, NULL) != E_NOMEM)
				json_recover(r, 1);
		}
		mem_fail_at(0);
		ck_assert_int_eq(t, JSON_ERROR);
		ck_assert_int_eq(json_reader_error(r, NULL), E_NOMEM);
		json_reader_free(r);
	}
}
END_TEST

START_TEST(any_word_or_none_may_stand_where_nobody_wants_the_value)
{
	static const char text[] = "{\"a\":None,\"b\": ,\"c\":(x),\"d\":}";
	struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
	struct json_value v;

	json_feed(r, text, sizeof(text) - 1);
	ck_assert_int_eq(json_next(r, &v), JSON_OBJECT);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(json_next(r, &v), JSON_KEY);
		json_skip(r);
	}
	ck_assert_int_eq(json_next(r, &v), JSON_OBJECT_END);
	ck_assert_uint_eq(json_oddities(r)->non_numbers, 4);
	json_reader_free(r);
}
END_TEST

START_TEST(reading_goes_on_at_a_key_behind_damage)
{
	static const char text[] = "{\"a\":[1 2,{\"k\"],\"k\" x, \"\\\"k\":\"k\",\n\"k\"\n:3}";

	for (size_t block = 1; block < sizeof(text); block++) {
		struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
		struct json_value v;
		enum json_token t;
		size_t at = 0;
		struct buf said;

		buf_init(&said, 1000);
		while ((t = json_next(r, &v)) != JSON_DONE) {
			if (t == JSON_MORE && at < sizeof(text) - 1) {
				json_feed(r, text + at, str_upto(str_of(text + at), block).n);
				at += block;
			} else if (t == JSON_MORE) {
				json_feed_end(r);
			} else if (t == JSON_ERROR) {
				json_recover_at_key(r, 1, STR("k"));
			} else {
				buf_fmt(&said, "%s %.*s ", json_token_names[t], STR_ARG(v.raw));
			}
		}
		ck_assert_str_eq(buf_view(&said).p, "{  key a [  num 1 key k num 3 }  ");
		buf_fini(&said);
		json_reader_free(r);
	}
}
END_TEST

START_TEST(damage_inside_what_is_skipped_is_passed_over_tolerantly)
{
	static const char text[] = "{\"args\":{\"a\":bad bad,\"b\":\"x\"y\",\"c\":[1 2 @]},\"b\":1}";
	struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_BODY);
	struct json_value v;

	json_feed(r, text, sizeof(text) - 1);
	ck_assert_int_eq(json_next(r, &v), JSON_OBJECT);
	ck_assert_int_eq(json_next(r, &v), JSON_KEY);
	json_skip(r);
	ck_assert_int_eq(json_next(r, &v), JSON_KEY);
	ck_assert(str_eq(v.raw, STR("b")));
	json_reader_free(r);
}
END_TEST

/* ---- recovery */

static void check_recovery(const char *text, unsigned depth, const char *tokens)
{
	struct json_reader *r = json_reader_new(JSON_TOLERANT, JSON_LIMITS_TRACE);
	struct json_value v;
	enum json_token t;
	struct buf out;

	buf_init(&out, 1 << 16);
	json_feed(r, text, strlen(text));
	while ((t = json_next(r, &v)) != JSON_DONE) {
		if (t == JSON_MORE) {
			json_feed_end(r);
		} else if (t == JSON_ERROR) {
			buf_fmt(&out, "!%u ", (unsigned)json_error_offset(r));
			if (json_depth(r) < depth)
				break;
			json_recover(r, depth);
		} else if (t == JSON_KEY || t == JSON_STRING || t == JSON_NUMBER) {
			buf_fmt(&out, "%.*s ", STR_ARG(v.raw));
		} else {
			buf_fmt(&out, "%s ", json_token_names[t]);
		}
	}
	ck_assert_str_eq(buf_view(&out).p, tokens);
	buf_fini(&out);
	json_reader_free(r);
}

START_TEST(reading_goes_on_at_the_next_object_behind_damage)
{
	check_recovery("[{\"a\":bad,\"args\":{\"b\":1}},{\"c\":3}]", 1, "[ { a !6 { c 3 } ] ");
	check_recovery("[{\"a\":1} {\"b\":2}, {}]", 1, "[ { a 1 } !9 { b 2 } { } ] ");
	check_recovery("[{\"a\":[1}, {\"b\":2}]", 1, "[ { a [ 1 !8 { b 2 } ] ");
	check_recovery("{\"e\":[{\"a\":@}, x {\"b\":\"{\"}, {\"c\":1}],\"n\":2}", 2,
		"{ e [ { a !11 { c 1 } ] n 2 } ");
}
END_TEST

START_TEST(the_arrays_end_is_found_behind_damage_in_its_last_object)
{
	check_recovery("{\"e\":[{\"a\":@,\"x\":[{\"y\":1}],\"z\":{}}\n],\n\"n\":{\"k\":2}}", 2,
		"{ e [ { a !11 ] n { k 2 } } ");
}
END_TEST

START_TEST(damage_without_an_end_ends_the_document)
{
	check_recovery("[{\"a\":@ and so on", 1, "[ { a !6 ");
	check_recovery("[{\"a\":@ {", 1, "[ { a !6 ");
}
END_TEST

START_TEST(twenty_thousand_levels_are_read_without_recursion)
{
	struct json_read how = { .mode = JSON_TOLERANT, .limits = JSON_LIMITS_TRACE, .quiet = true };
	struct buf text, out;

	buf_init(&text, 1 << 20);
	buf_init(&out, 1 << 20);
	buf_text(&text, "{\"x\":");
	buf_fill(&text, '[', 90000);
	buf_fill(&text, ']', 90000);
	buf_text(&text, "}");
	json_tokens(&how, buf_view(&text), &out);
	ck_assert_ptr_nonnull(strstr(out.p, "open 0 inside 0"));
	ck_assert_ptr_null(strstr(out.p, "line"));
	how.skips = cuts_skip_odd_keys;
	json_tokens(&how, buf_view(&text), &out);
	ck_assert_ptr_null(strstr(out.p, "line"));
	how.limits.depth = 90000;
	json_tokens(&how, buf_view(&text), &out);
	ck_assert_ptr_nonnull(strstr(out.p, "more than 90000 objects and arrays in each other"));
	buf_fini(&text);
	buf_fini(&out);
}
END_TEST

Suite *suite_pull(void)
{
	Suite *s = suite_create("json/pull");
	TCase *tc = tcase_create("pull");

	tcase_add_test(tc, sound_documents_are_read_alike_in_both_modes);
	tcase_add_test(tc, strict_mode_refuses_what_rfc_8259_does_not_have);
	tcase_add_test(tc, tolerant_mode_reads_what_real_traces_hold);
	tcase_add_test(tc, what_tolerant_mode_mends_is_counted);
	tcase_add_test(tc, a_token_that_is_too_long_is_refused_or_cut);
	tcase_add_test(tc, an_error_tells_line_column_and_byte);
	tcase_add_loop_test(tc, a_document_cut_at_any_byte_gives_the_same_tokens, 0, (int)COUNT(nasty));
	tcase_add_test(tc, a_long_look_ahead_is_the_same_however_it_is_cut);
	tcase_add_test(tc, any_sound_document_gives_the_same_tokens_in_every_way);
	tcase_add_test(tc, skipping_a_value_is_reading_over_it);
	tcase_add_test(tc, an_element_of_an_array_is_skipped_and_its_end_is_not);
	tcase_add_test(tc, no_memory_for_what_straddles_blocks_is_an_error);
	tcase_add_test(tc, any_word_or_none_may_stand_where_nobody_wants_the_value);
	tcase_add_test(tc, reading_goes_on_at_a_key_behind_damage);
	tcase_add_test(tc, damage_inside_what_is_skipped_is_passed_over_tolerantly);
	tcase_add_test(tc, reading_goes_on_at_the_next_object_behind_damage);
	tcase_add_test(tc, the_arrays_end_is_found_behind_damage_in_its_last_object);
	tcase_add_test(tc, damage_without_an_end_ends_the_document);
	tcase_add_test(tc, twenty_thousand_levels_are_read_without_recursion);
	suite_add_tcase(s, tc);
	return s;
}
