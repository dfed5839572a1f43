/* http — one request, for tests in shell: net/http_client with words around it.
 *
 *	http METHOD URL [-t CONTENT-TYPE] [-e CONTENT-ENCODING] [-k TOKEN] [-f FILE]
 *
 * Prints the status in the first line and the body behind it. Exit 0: there was an answer; 1: none; 2: usage. */
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "net/http_client.h"

static int usage(void)
{
	fputs("usage: http METHOD URL [-t TYPE] [-e ENCODING] [-k TOKEN] [-f FILE]\n", stderr);
	return 2;
}

static int ask(struct http_ask *a, const char *token, struct err *e)
{
	struct http_client_settings s = { .token = token, .connect_ns = 5 * NS_PER_S, .total_ns = 30 * NS_PER_S };
	const struct http_answer *an = NULL;
	struct http_client *c = NULL;
	int rc = http_client_open(&c, &s, e);

	if (rc == OK)
		rc = http_exchange(c, a, &an, e);
	if (rc == OK) {
		printf("%d\n", an->status);
		fwrite(an->body.p, 1, an->body.n, stdout);
	}
	http_client_close(c);
	return rc;
}

int main(int argc, char **argv)
{
	struct http_ask a = { 0 };
	const char *token = NULL, *file = NULL;
	struct err e = { 0 };
	struct buf body;
	int rc = OK;

	if (argc < 3 || argc % 2 == 0)
		return usage();
	a.method = argv[1];
	a.url = argv[2];
	for (int i = 3; i < argc; i += 2) {
		const char *value = argv[i + 1];

		switch (argv[i][0] == '-' ? argv[i][1] : 0) {
		case 't': a.content_type = value; break;
		case 'e': a.content_encoding = value; break;
		case 'k': token = value; break;
		case 'f': file = value; break;
		default: return usage();
		}
	}
	buf_init(&body, 64 << 20);
	if (file != NULL)
		rc = file_read_all(file, &body, &e);
	a.body = buf_view(&body);
	if (rc == OK)
		rc = ask(&a, token, &e);
	if (rc != OK)
		fprintf(stderr, "http: %s\n", e.text);
	buf_fini(&body);
	return rc == OK ? 0 : 1;
}
