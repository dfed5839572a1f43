/* raw.h — a peer without manners: bytes over a socket to the server under test, and what came back. */
#ifndef TESTS_UNIT_NET_RAW_H
#define TESTS_UNIT_NET_RAW_H

#include <stdatomic.h>

#include "base/buf.h"
#include "net/http_server.h"

/* A server on a free loopback port. Its handler: /echo gives the body back, /slow waits 300 ms, /big gives 1 MiB, /huge 16,
 * /empty is 204, /who tells loopback and peer, /path/… gives the path and query; anything else is 404. */
struct http_server *raw_server(struct http_server_settings set);
struct http_server_settings raw_settings(void);
extern atomic_int raw_slow; /* how often /slow was begun */

int raw_connect(const struct http_server *srv);
void raw_send(int fd, struct str bytes);
/* Reads until the peer closes or ms have passed without a byte; true when it was closed. */
bool raw_read(int fd, int ms, struct buf *out);
/* What comes first, within ms. */
void raw_read_some(int fd, int ms, struct buf *out);
/* Sends, shuts the own side down, reads all. */
struct buf raw_exchange(const struct http_server *srv, struct str bytes);
int raw_status(const struct buf *b); /* of the first reply; 0 for none */
struct str raw_body(const struct buf *b); /* behind the first empty line */

#endif
