#include "agent/xla_scan.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

enum { NET_MAX = 64 << 20, LISTENERS_MAX = 65536, PROCESSES_MAX = 1 << 20, FDS_MAX = 65536 };
enum { STATE_LISTEN = 0x0a };

struct xla_scan {
	char *proc;
	char (*sections)[XLA_ADDRESS];
	size_t n_sections;
	bool environ;
	struct xla_listeners listeners;
	uint64_t hash; /* of them, when the processes were walked last */
	bool walked;
	pid_t elsewhere;
	struct xla_jobs jobs;
};

/* ---- texts */

int xla_ports_parse(struct str s, struct xla_ports *out)
{
	struct str last = s, first = str_split(&last, '-');
	uint64_t from, to;

	if (str_to_u64(first, &from) < 0)
		return E_FORMAT;
	to = from;
	if (last.p != NULL && str_to_u64(last, &to) < 0)
		return E_FORMAT;
	if (from < 1 || to > 65535 || to < from || to - from >= XLA_PORTS_MAX)
		return E_FORMAT;
	*out = (struct xla_ports){ (uint16_t)from, (uint16_t)to };
	return OK;
}

static struct str next_word(struct str *line)
{
	*line = str_trim(*line);
	return str_split(line, ' ');
}

static bool hex_to(struct str s, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		int c = tolower((unsigned char)s.p[i]);

		if (!isxdigit(c) || i >= 16)
			return false;
		*out = *out << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return s.n > 0;
}

/* The kernel prints an address as numbers of 32 bits of this machine. */
static bool read_address(struct str hex, struct xla_listener *l)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, nothing[16];
	uint8_t bytes[16] = { 0 };
	const uint8_t *four = bytes;
	uint64_t word;

	if (hex.n != 8 && hex.n != 32)
		return false;
	for (size_t i = 0; i < hex.n / 8; i++) {
		uint32_t small;

		if (!hex_to(str_upto(str_from(hex, 8 * i), 8), &word))
			return false;
		small = (uint32_t)word;
		memcpy(bytes + 4 * i, &small, sizeof(small));
	}
	if (hex.n == 32) {
		l->six = memcmp(bytes, nothing, 15) == 0 && bytes[15] <= 1;
		l->four = l->six && bytes[15] == 0; /* gRPC's sockets are of both kinds */
		if (memcmp(bytes, mapped, sizeof(mapped)) != 0)
			return l->six;
		four = bytes + 12;
	}
	l->four = memcmp(four, nothing, 4) == 0 || four[0] == 127;
	if (four[0] == 127 && !(four[1] == 0 && four[2] == 0 && four[3] == 1))
		memcpy(&l->loopback, four, 4);
	return l->four;
}

/* "  0: 0100007F:2334 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 1 …" */
static bool read_listener(struct str line, struct xla_listener *l)
{
	struct str address, port, word;
	uint64_t n;

	*l = (struct xla_listener){ .port = 0 };
	next_word(&line);
	port = next_word(&line);
	address = str_split(&port, ':');
	if (port.p == NULL || !hex_to(port, &n) || n > 65535)
		return false;
	l->port = (uint16_t)n;
	next_word(&line);
	if (!hex_to(next_word(&line), &n) || n != STATE_LISTEN || !read_address(address, l))
		return false;
	for (int i = 0; i < 3; i++)
		next_word(&line);
	word = next_word(&line);
	if (str_to_u64(word, &n) < 0 || n > UINT32_MAX)
		return false;
	l->uid = (uid_t)n;
	next_word(&line);
	return str_to_u64(next_word(&line), &l->inode) == OK && l->inode != 0;
}

void xla_listeners_parse(struct str text, struct xla_listeners *out)
{
	while (text.p != NULL) {
		struct xla_listener l, *place;

		if (!read_listener(str_split(&text, '\n'), &l))
			continue;
		place = vec_push(out);
		if (place == NULL)
			return;
		*place = l;
	}
}

/* ---- what listens */

static int by_inode(const void *a, const void *b)
{
	const struct xla_listener *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* Of ports and sockets: the rest of a line does not change while a socket listens. */
static uint64_t hash_listeners(const struct xla_listeners *ls)
{
	uint64_t h = 0;

	vec_each(l, ls) {
		const uint64_t pair[] = { l->inode, l->port };

		h = hash64(pair, sizeof(pair), h);
	}
	return h;
}

static void read_listeners(struct xla_scan *s)
{
	static const char *const names[] = { "tcp", "tcp6" };
	char path[PATH_MAX];
	struct buf b;

	buf_init(&b, NET_MAX);
	s->listeners.n = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		buf_reset(&b);
		if (snprintf(path, sizeof(path), "%s/self/net/%s", s->proc, names[i]) < PATH_MAX &&
			file_read_all(path, &b, NULL) == OK)
			xla_listeners_parse(buf_view(&b), &s->listeners);
	}
	buf_fini(&b);
	if (s->listeners.n > 0)
		qsort(s->listeners.v, s->listeners.n, sizeof(*s->listeners.v), by_inode);
}

static const struct xla_listener *find_inode(const struct xla_scan *s, uint64_t inode)
{
	const struct xla_listener key = { .inode = inode };

	return s->listeners.n == 0 ? NULL
		: bsearch(&key, s->listeners.v, s->listeners.n, sizeof(key), by_inode);
}

static void address_of(const struct xla_listener *l, char out[XLA_ADDRESS])
{
	char four[INET_ADDRSTRLEN] = "127.0.0.1";

	if (l->loopback != 0)
		inet_ntop(AF_INET, &l->loopback, four, sizeof(four));
	if (l->four)
		snprintf(out, XLA_ADDRESS, "%s:%u", four, l->port);
	else
		snprintf(out, XLA_ADDRESS, "[::1]:%u", l->port);
}

/* Does a connection to the section's address end there? */
static bool is_for(const struct xla_listener *l, const char *section)
{
	char address[XLA_ADDRESS];
	struct xla_listener six = *l;

	address_of(l, address);
	if (strcmp(address, section) == 0)
		return true;
	six.four = false;
	address_of(&six, address);
	return l->six && strcmp(address, section) == 0;
}

/* ---- whose it is */

static struct xla_job *job_of(struct xla_scan *s, const struct xla_listener *l)
{
	char address[XLA_ADDRESS];

	address_of(l, address);
	vec_each(j, &s->jobs)
		if (j->section == XLA_NO_SECTION ? strcmp(j->address, address) == 0 : is_for(l, j->address))
			return j;
	return NULL;
}

static void take_owner(struct xla_scan *s, const struct xla_listener *l, pid_t pid, bool by_variable)
{
	struct xla_job *j = job_of(s, l);

	if (j == NULL) {
		j = by_variable ? vec_push(&s->jobs) : NULL;
		if (j == NULL)
			return;
		j->section = XLA_NO_SECTION;
		address_of(l, j->address);
	}
	if (j->known)
		return; /* a child has the same socket */
	j->listens = true;
	j->uid = l->uid;
	j->known = worker_read(&j->who, s->proc, pid, NULL) == OK;
}

static bool is_wanted(const struct xla_scan *s, const struct xla_listener *l, const struct xla_ports *ports)
{
	if (ports != NULL && l->port >= ports->first && l->port <= ports->last)
		return true;
	for (size_t i = 0; i < s->n_sections; i++)
		if (is_for(l, s->sections[i]))
			return true;
	return false;
}

/* ports: what its variable says; NULL where it has none. False when none of its sockets is wanted. */
static bool walk_sockets(struct xla_scan *s, pid_t pid, const struct xla_ports *ports)
{
	char path[PATH_MAX], to[64];
	int left = FDS_MAX;
	bool found = false;
	DIR *d;

	if (snprintf(path, sizeof(path), "%s/%ld/fd", s->proc, (long)pid) >= PATH_MAX || (d = opendir(path)) == NULL)
		return false;
	for (struct dirent *ent; left-- > 0 && (ent = readdir(d)) != NULL;) {
		ssize_t n = readlinkat(dirfd(d), ent->d_name, to, sizeof(to));
		struct str link = str_make(to, n > 0 ? (size_t)n : 0);
		const struct xla_listener *l;
		uint64_t inode;

		if (!str_drop_prefix(&link, STR("socket:[")) || !str_drop_suffix(&link, STR("]")) ||
			str_to_u64(link, &inode) < 0 || (l = find_inode(s, inode)) == NULL || !is_wanted(s, l, ports))
			continue;
		take_owner(s, l, pid, ports != NULL && l->port >= ports->first && l->port <= ports->last);
		found = true;
	}
	closedir(d);
	return found;
}

static bool link_of(const struct xla_scan *s, const char *pid, const char *name, char out[64])
{
	char path[PATH_MAX];
	ssize_t n = snprintf(path, sizeof(path), "%s/%s/%s", s->proc, pid, name) < PATH_MAX ? readlink(path, out, 63) : -1;

	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool is_elsewhere(const struct xla_scan *s, const char *pid)
{
	char its[64], ours[64];

	return link_of(s, pid, "ns/net", its) && link_of(s, "self", "ns/net", ours) && strcmp(its, ours) != 0;
}

/* Only the socket's own user can have it open, short of root. */
static bool may_own_section(const struct xla_scan *s, uid_t uid)
{
	vec_each(j, &s->jobs)
		if (j->section != XLA_NO_SECTION && j->listens && !j->known && (j->uid == uid || uid == 0))
			return true;
	return false;
}

static void walk_process(struct xla_scan *s, const char *name, pid_t pid, uid_t uid)
{
	char value[32];
	struct xla_ports ports;
	bool has = s->environ && worker_variable(s->proc, pid, STR(XLA_PORT_VARIABLE), value, sizeof(value)) &&
		xla_ports_parse(str_of(value), &ports) == OK;

	if (!has && !may_own_section(s, uid))
		return;
	if (!walk_sockets(s, pid, has ? &ports : NULL) && has && s->elsewhere == 0 && is_elsewhere(s, name))
		s->elsewhere = pid;
}

static void walk(struct xla_scan *s)
{
	DIR *d = opendir(s->proc);
	int left = PROCESSES_MAX;

	s->elsewhere = 0;
	for (struct dirent *ent; d != NULL && left-- > 0 && (ent = readdir(d)) != NULL;) {
		struct stat st;
		int64_t pid;

		if (str_to_i64(str_of(ent->d_name), &pid) == OK && pid > 0 && pid <= INT_MAX &&
			fstatat(dirfd(d), ent->d_name, &st, 0) == 0)
			walk_process(s, ent->d_name, (pid_t)pid, st.st_uid);
	}
	if (d != NULL)
		closedir(d);
}

/* ---- the look */

static void begin_sections(struct xla_scan *s)
{
	s->jobs.n = 0;
	for (size_t i = 0; i < s->n_sections; i++) {
		struct xla_job *j = vec_push(&s->jobs);

		if (j == NULL)
			return;
		j->section = i;
		memcpy(j->address, s->sections[i], sizeof(j->address));
		vec_each(l, &s->listeners)
			if (!j->listens && is_for(l, j->address)) {
				j->listens = true;
				j->uid = l->uid;
			}
	}
}

static bool all_live(const struct xla_scan *s)
{
	vec_each(j, &s->jobs)
		if (j->known && !worker_lives(&j->who, s->proc))
			return false;
	return true;
}

bool xla_scan_look(struct xla_scan *s)
{
	uint64_t hash;

	read_listeners(s);
	hash = hash_listeners(&s->listeners);
	if (s->walked && hash == s->hash && all_live(s))
		return false;
	s->walked = true;
	s->hash = hash;
	begin_sections(s);
	walk(s);
	return true;
}

const struct xla_jobs *xla_scan_jobs(const struct xla_scan *s)
{
	return &s->jobs;
}

pid_t xla_scan_elsewhere(const struct xla_scan *s)
{
	return s->elsewhere;
}

struct xla_scan *xla_scan_new(const char *proc, const char *const *sections, size_t n_sections, bool with_environ)
{
	struct xla_scan *s = mem_get(sizeof(*s));

	s->proc = mem_dup_text(proc);
	s->environ = with_environ;
	s->listeners.cap = LISTENERS_MAX;
	s->jobs.cap = XLA_JOBS_MAX;
	s->n_sections = n_sections;
	s->sections = mem_get_array(n_sections, sizeof(*s->sections));
	for (size_t i = 0; i < n_sections; i++)
		snprintf(s->sections[i], sizeof(s->sections[i]), "%s", sections[i]);
	return s;
}

void xla_scan_free(struct xla_scan *s)
{
	if (s == NULL)
		return;
	vec_fini(&s->listeners);
	vec_fini(&s->jobs);
	mem_free(s->sections);
	mem_free(s->proc);
	mem_free(s);
}
