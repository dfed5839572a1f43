/* yaml FILE [KEY…] — reads every document of a YAML file (base/yaml.h), split where a line is "---". Exits 0 when all are sound; with keys it
 * prints the text that stands under them, one inside the other, in each document that has it: items of a list are counted from 0.
 * Exits 1 where something is wrong (and says what), or nothing stands there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/yaml.h"

enum { FILE_MAX = 4 << 20, ARENA_MAX = 64 << 20 };

static const struct yaml_node *find(const struct yaml_node *n, char **keys)
{
	for (; n != NULL && *keys != NULL; keys++) {
		uint64_t i;

		if (n->kind == YAML_MAP)
			n = yaml_get(n, str_of(*keys));
		else if (n->kind == YAML_LIST && str_to_u64(str_of(*keys), &i) == OK && i < n->n)
			n = &n->items[i];
		else
			n = NULL;
	}
	return n;
}

/* The next document of *rest. */
static struct str next_document(struct str *rest)
{
	struct str from = *rest;

	while (rest->p != NULL) {
		struct str line = str_split(rest, '\n');

		if (str_eq(str_trim(line), STR("---")))
			return str_upto(from, (size_t)(line.p - from.p));
	}
	return from;
}

int main(int argc, char **argv)
{
	const struct yaml_node *root, *n;
	struct err e = { 0 };
	bool found = false;
	struct arena a;
	struct str rest;
	struct buf b;

	buf_init(&b, FILE_MAX);
	arena_init(&a, ARENA_MAX);
	if (argc < 2 || file_read_all(argv[1], &b, &e) < 0) {
		fprintf(stderr, "yaml: %s\n", argc < 2 ? "no file" : e.text);
		return 2;
	}
	for (rest = buf_view(&b); rest.p != NULL;) {
		struct str document = next_document(&rest);

		if (yaml_parse(&a, document, argv[1], &root, &e) < 0) {
			fprintf(stderr, "yaml: %s\n", e.text);
			return 1;
		}
		n = argc > 2 ? find(root, argv + 2) : NULL;
		found |= n != NULL;
		if (n != NULL && n->kind == YAML_SCALAR)
			printf("%.*s\n", STR_ARG(n->text));
	}
	arena_fini(&a);
	buf_fini(&b);
	return argc == 2 || found ? 0 : 1;
}
