/* fake_http.h — net/http_client.h without a network: the test says what the server answers and sees what was asked. */
#ifndef TESTS_UNIT_CLI_FAKE_HTTP_H
#define TESTS_UNIT_CLI_FAKE_HTTP_H

#include "net/http_client.h"

enum { FAKE_ANSWERS = 4 };

struct fake_http {
	int rc; /* of the exchange; E_NET for no answer */
	int status;
	const char *bodies[FAKE_ANSWERS]; /* of one exchange after the other */
	size_t asked;
	char urls[FAKE_ANSWERS][2000], methods[FAKE_ANSWERS][8], sent[FAKE_ANSWERS][2000];
	char token[200];
	unsigned open; /* clients that were not closed */
};
extern struct fake_http fake_http;

#endif
