/* hook — a receiver of webhooks for tests in shell: prints its port, appends each body as a line to FILE, until it is killed.
 *
 *	hook FILE
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "net/http_server.h"

static void receive(void *env, const struct http_request *rq, struct http_reply *rp)
{
	const char *path = env;
	struct err e = { 0 };
	struct buf line;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	buf_init(&line, 8 << 20);
	buf_str(&line, rq->body);
	buf_byte(&line, '\n');
	if (fd < 0 || file_write_all(fd, line.p, line.n, path, &e) != OK)
		rp->status = 500;
	if (fd >= 0)
		close(fd);
	buf_fini(&line);
}

int main(int argc, char **argv)
{
	struct http_server_settings s = { .address = "127.0.0.1", .max_header_bytes = 8192, .max_body_bytes = 8 << 20, .threads = 1,
		.queue = 16, .connections = 16, .request_ns = 10 * NS_PER_S };
	struct http_server *srv = NULL;
	struct err e = { 0 };

	if (argc != 2) {
		fputs("usage: hook FILE\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (http_server_open(&srv, &s, receive, argv[1], &e) != OK) {
		fprintf(stderr, "hook: %s\n", e.text);
		return 1;
	}
	printf("%d\n", http_server_port(srv));
	fflush(stdout);
	for (;;)
		pause();
}
