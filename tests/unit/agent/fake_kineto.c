#include "tests/unit/agent/fake_kineto.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/enc.h"
#include "base/rand.h"

enum { SENDS = 10, WAITS = 9, HEADER = 40 };

static socklen_t name_socket(struct sockaddr_un *un, const char *dir, const char *name)
{
	size_t at = offsetof(struct sockaddr_un, sun_path);

	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	if (dir[0] == '\0') /* the NUL at the end is part of it */
		return (socklen_t)(at + 1 + (size_t)snprintf(un->sun_path + 1, sizeof(un->sun_path) - 1, "%s", name) + 1);
	return (socklen_t)(at + (size_t)snprintf(un->sun_path, sizeof(un->sun_path), "%s/%s", dir, name) + 1);
}

void fake_client_open(struct fake_client *c, const char *daemon_dir, const char *own_dir, const char *name)
{
	struct sockaddr_un own;
	char own_name[64];
	uint64_t id;
	socklen_t n;

	memset(c, 0, sizeof(*c));
	c->pid = (int32_t)getpid();
	c->can = 2;
	rand_os_bytes(&id, sizeof(id));
	snprintf(own_name, sizeof(own_name), "dynoconfigclient%016llx-0000-4000-8000", (unsigned long long)id);
	c->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(c->fd, 0);
	n = name_socket(&own, own_dir, own_name);
	ck_assert_msg(bind(c->fd, (struct sockaddr *)&own, n) == 0, "bind: %s", strerror(errno));
	c->daemon_len = name_socket(&c->daemon, daemon_dir, name);
}

void fake_client_close(struct fake_client *c)
{
	close(c->fd);
}

bool fake_client_send(struct fake_client *c, const void *p, size_t n)
{
	int64_t wait = 10 * NS_PER_MS;

	for (c->sends = 1; c->sends <= SENDS; c->sends++) {
		if (sendto(c->fd, p, n, MSG_DONTWAIT, (struct sockaddr *)&c->daemon, c->daemon_len) == (ssize_t)n)
			return true;
		if (errno != ECONNREFUSED && errno != EAGAIN)
			return false;
		clock_sleep_ns(wait);
		wait *= 2;
	}
	return false;
}

bool fake_client_answered(struct fake_client *c)
{
	char block[8192];

	for (int i = 0; i <= WAITS; i++) {
		ssize_t n = recv(c->fd, block, sizeof(block), MSG_DONTWAIT);

		if (n >= HEADER) {
			c->n_text = enc_get64((uint8_t *)block);
			ck_assert_uint_eq(c->n_text, (size_t)n - HEADER); /* the real one believes it */
			ck_assert_uint_lt(c->n_text, sizeof(c->text));
			memcpy(c->text, block + HEADER, c->n_text);
			c->text[c->n_text] = '\0';
			return true;
		}
		if (i < WAITS)
			clock_sleep_ns(10 * NS_PER_MS);
	}
	return false;
}

enum fake_answer fake_client_poll(struct fake_client *c)
{
	uint8_t d[HEADER + 16 + 8] = { 16 + 8 };
	int64_t sent;

	memcpy(d + 8, "req", 3);
	enc_put32(d + HEADER, c->can);
	enc_put32(d + HEADER + 4, 2);
	enc_put64(d + HEADER + 8, 4242);
	enc_put32(d + HEADER + 16, (uint32_t)c->pid);
	enc_put32(d + HEADER + 20, 1);
	if (!fake_client_send(c, d, sizeof(d)))
		return FAKE_NO_DAEMON;
	sent = clock_mono_ns();
	if (!fake_client_answered(c))
		return FAKE_SILENCE;
	c->waited_ns = clock_mono_ns() - sent;
	return c->n_text == 0 ? FAKE_NOTHING : FAKE_WINDOW;
}

const char *fake_client_value(const struct fake_client *c, const char *key)
{
	static char value[1024];

	for (struct str rest = str_make(c->text, c->n_text); rest.p != NULL;) {
		struct str v = str_split(&rest, '\n'), k = str_split(&v, '=');

		if (v.p != NULL && str_eq(k, str_of(key))) {
			ck_assert(str_copy_to(v, value, sizeof(value)));
			return value;
		}
	}
	return NULL;
}

const char *fake_client_path(const struct fake_client *c)
{
	static char path[PATH_MAX];
	const char *file = fake_client_value(c, "ACTIVITIES_LOG_FILE");

	ck_assert_ptr_nonnull(file);
	ck_assert(str_has_suffix(str_of(file), STR(".json")));
	snprintf(path, sizeof(path), "%.*s_%d.json", (int)strlen(file) - 5, file, c->pid);
	return path;
}

void fake_client_write(const struct fake_client *c, struct str trace)
{
	char path[PATH_MAX], tmp[PATH_MAX + 8];
	FILE *f;

	snprintf(path, sizeof(path), "%s", fake_client_path(c));
	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	f = fopen(tmp, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(trace.p, 1, trace.n, f), trace.n);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(rename(tmp, path), 0);
}
