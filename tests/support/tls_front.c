#include "tests/support/tls_front.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/thread.h"

struct tls_front {
	SSL_CTX *ctx;
	int listener, port, behind;
	struct thread *thread;
};

enum { LOOK_MS = 50, CHUNK = 16384 };

static void add_extension(X509 *cert, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ck_assert_ptr_nonnull(ext);
	X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
}

static X509 *make_certificate(EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_NAME *name = X509_get_subject_name(cert);

	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"tls_front", -1, -1, 0);
	X509_set_issuer_name(cert, name);
	X509_set_pubkey(cert, key);
	add_extension(cert, NID_basic_constraints, "critical,CA:TRUE");
	add_extension(cert, NID_subject_alt_name, "IP:127.0.0.1");
	ck_assert_int_gt(X509_sign(cert, key, EVP_sha256()), 0);
	return cert;
}

static void make_context(struct tls_front *f, const char *ca_path)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = make_certificate(key);
	FILE *pem = fopen(ca_path, "w");

	ck_assert_ptr_nonnull(pem);
	ck_assert_int_eq(PEM_write_X509(pem, cert), 1);
	fclose(pem);
	f->ctx = SSL_CTX_new(TLS_server_method());
	ck_assert_int_eq(SSL_CTX_use_certificate(f->ctx, cert), 1);
	ck_assert_int_eq(SSL_CTX_use_PrivateKey(f->ctx, key), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
}

static int loopback(int port, struct sockaddr_in *sa)
{
	*sa = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	sa->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* One way each, as long as both ends are there. */
static bool pass_in(SSL *ssl, int plain)
{
	char chunk[CHUNK];
	int n = SSL_read(ssl, chunk, sizeof(chunk));

	return n > 0 && send(plain, chunk, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool pass_out(SSL *ssl, int plain)
{
	char chunk[CHUNK];
	ssize_t n = recv(plain, chunk, sizeof(chunk), 0);

	return n > 0 && SSL_write(ssl, chunk, (int)n) == n;
}

static void pump(struct thread *thread, SSL *ssl, int tls, int plain)
{
	bool going = true;

	while (going && !thread_stopping(thread)) {
		struct pollfd fds[] = { { .fd = tls, .events = POLLIN }, { .fd = plain, .events = POLLIN } };

		poll(fds, 2, LOOK_MS);
		if (fds[0].revents != 0 || SSL_pending(ssl) > 0)
			going = pass_in(ssl, plain);
		if (going && fds[1].revents != 0)
			going = pass_out(ssl, plain);
	}
}

static void serve(struct thread *thread, struct tls_front *f, int fd)
{
	struct sockaddr_in sa;
	int plain = loopback(f->behind, &sa);
	SSL *ssl = SSL_new(f->ctx);

	SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) == 1 && connect(plain, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		pump(thread, ssl, fd, plain);
	SSL_free(ssl);
	close(plain);
	close(fd);
}

static void front_run(struct thread *thread, void *arg)
{
	struct tls_front *f = arg;

	while (!thread_stopping(thread)) {
		struct pollfd fds = { .fd = f->listener, .events = POLLIN };
		int fd = poll(&fds, 1, LOOK_MS) > 0 ? accept(f->listener, NULL, NULL) : -1;

		if (fd >= 0)
			serve(thread, f, fd);
	}
}

struct tls_front *tls_front_open(int port, const char *ca_path)
{
	struct tls_front *f = mem_get(sizeof(*f));
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	f->behind = port;
	make_context(f, ca_path);
	f->listener = loopback(0, &sa);
	ck_assert_int_eq(bind(f->listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(f->listener, 4), 0);
	ck_assert_int_eq(getsockname(f->listener, (struct sockaddr *)&sa, &len), 0);
	f->port = ntohs(sa.sin_port);
	ck_assert_int_eq(thread_start(&f->thread, "tls", front_run, f, NULL), OK);
	return f;
}

void tls_front_close(struct tls_front *f)
{
	if (f == NULL)
		return;
	thread_join(f->thread);
	close(f->listener);
	SSL_CTX_free(f->ctx);
	mem_free(f);
}

int tls_front_port(const struct tls_front *f)
{
	return f->port;
}
