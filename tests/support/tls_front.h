/* tls_front.h — TLS before a plain server on this machine: a certificate of its own making, and bytes passed on both ways. */
#ifndef TESTS_SUPPORT_TLS_FRONT_H
#define TESTS_SUPPORT_TLS_FRONT_H

struct tls_front;

/* For 127.0.0.1:port. Its certificate, of 127.0.0.1 and by itself, is written to ca_path as PEM. One connection at a time. */
struct tls_front *tls_front_open(int port, const char *ca_path);
void tls_front_close(struct tls_front *f);
int tls_front_port(const struct tls_front *f);

#endif
