/* Texts: whatever is unescaped is UTF-8, and escaped it is the inside of a sound string that means the same. */
#include "base/must.h"
#include "json/tree.h"
#include "json/text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_node *root = NULL;
	struct buf text, document;
	struct arena a;

	buf_init(&text, 64 << 20);
	buf_init(&document, 64 << 20);
	arena_init(&a, 64 << 20);
	json_unescape(str_make(data, size), &text);
	must(json_utf8_valid(buf_view(&text)));
	must(str_eq(json_unescape_to(&a, str_make(data, size)), buf_view(&text)));
	buf_byte(&document, '"');
	json_escape(buf_view(&text), &document);
	buf_byte(&document, '"');
	must(json_parse(&a, buf_view(&document), &root, NULL) == OK);
	must(root->kind == JSON_K_STRING && str_eq(root->text, buf_view(&text)));
	arena_fini(&a);
	buf_fini(&text);
	buf_fini(&document);
	return 0;
}
