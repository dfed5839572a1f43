// peer_simdjson FILE: reads a file and parses it with simdjson's DOM parser, nothing more. bench_summarize runs it as a
// peer; "make bench" builds it where a C++ compiler and libsimdjson are found.
#include <cstdio>
#include <simdjson.h>

int main(int argc, char **argv)
{
	simdjson::dom::parser parser;
	simdjson::padded_string text;
	simdjson::dom::element root;

	if (argc != 2)
		return 2;
	auto error = simdjson::padded_string::load(argv[1]).get(text);
	if (!error)
		error = parser.parse(text).get(root);
	if (error)
		fprintf(stderr, "peer_simdjson: %s: %s\n", argv[1], simdjson::error_message(error));
	else
		printf("%zu bytes\n", text.size());
	return error ? 1 : 0;
}
