/* fake_http.h — stands in for net/http_client.c at link time: answers from a script, and remembers what was asked. */
#ifndef TESTS_UNIT_AGENT_FAKE_HTTP_H
#define TESTS_UNIT_AGENT_FAKE_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

enum { FAKE_ASKS_MAX = 200 };

struct fake_ask {
	size_t windows;	       /* in the body, 0 when it is no batch */
	uint8_t first_id[16];
	char url[256], content_type[64], content_encoding[16], token[64];
};

struct fake_http {
	/* The answers in turn: an HTTP status, 0 for a connection that fails. When they are used up: 200. */
	const int *script;
	size_t n_script;
	int64_t retry_after_ns;	   /* said with every answer but 200 */
	const char *good_body;	   /* NULL: {"accepted":…} with the number of windows */
	uint8_t never_first_byte;  /* a batch with a window whose id starts so gets 422; 0 for none */
	size_t max_windows;	   /* a batch with more gets 413; 0 for any */
	const char *store;	   /* file that gets the id of each window that was taken, a line each; NULL for none */
	struct fake_ask asks[FAKE_ASKS_MAX];
	_Atomic size_t n_asks; /* counted when the ask is noted and answered */
	int64_t backoff_ns;	   /* what http_backoff_ns says */
	unsigned attempts_max;	   /* the highest attempt it was asked for */
	/* What is posted to …/poll: answered with poll_status and poll_answer; not counted among the asks. */
	_Atomic int poll_status;   /* 0: a connection that fails */
	const char *_Atomic poll_answer;
	_Atomic size_t n_polls;
	char poll_body[8192], poll_url[256], poll_token[64]; /* the last one's; read them when n_polls has grown */
};

extern struct fake_http fake_http;

#endif
