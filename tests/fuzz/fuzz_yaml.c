/* Configuration and rules: any bytes give a tree within its ceilings or a sentence. */
#include "base/must.h"
#include "base/yaml.h"
#include "tests/fuzz/fuzz.h"

/* No deeper than yaml.h promises, so this may recurse. */
static size_t visit(const struct yaml_node *node, unsigned depth)
{
	size_t nodes = 1;

	must(depth <= 64);
	must(node->kind != YAML_SCALAR || node->n == 0);
	for (size_t i = 0; i < node->n; i++) {
		if (node->kind == YAML_MAP)
			must(yaml_get(node, node->items[i].key) == &node->items[i]);
		nodes += visit(&node->items[i], depth + 1);
	}
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct yaml_node *root = NULL;
	struct arena a;
	struct err e = { 0 };
	int rc;

	arena_init(&a, 64 << 20);
	rc = yaml_parse(&a, str_make(data, size), "input", &root, &e);
	if (rc == OK)
		must(root != NULL && visit(root, 0) <= 100001);
	else
		must(e.code == rc && e.text[0] != '\0');
	arena_fini(&a);
	return 0;
}
