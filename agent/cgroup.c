#include "agent/cgroup.h"

#include "base/must.h"

enum { ID = CGROUP_ID_TEXT - 1, UUID = CGROUP_UID_TEXT - 1, STATIC_UID = 32 };

static const char *const runtime_names[] = {
	[CGROUP_NO_RUNTIME] = "",
	[CGROUP_CONTAINERD] = "containerd",
	[CGROUP_CRIO] = "cri-o",
	[CGROUP_DOCKER] = "docker",
	[CGROUP_PODMAN] = "podman",
};
_Static_assert(COUNT(runtime_names) == CGROUP_RUNTIMES, "name every runtime");

const char *cgroup_runtime_name(enum cgroup_runtime r)
{
	return runtime_names[r];
}

/* What stands before an id, with '-' behind it in a name of systemd's and between colons in a nested one. */
static const struct {
	struct str name;
	enum cgroup_runtime runtime;
} prefixes[] = {
	{ { "cri-containerd", 14 }, CGROUP_CONTAINERD },
	{ { "containerd", 10 }, CGROUP_CONTAINERD },
	{ { "crio", 4 }, CGROUP_CRIO },
	{ { "docker", 6 }, CGROUP_DOCKER },
	{ { "libpod", 6 }, CGROUP_PODMAN },
};

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	return true;
}

static bool is_id(struct str s)
{
	return s.n == ID && is_hex(s);
}

static enum cgroup_runtime runtime_of(struct str name)
{
	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_eq(name, prefixes[i].name))
			return prefixes[i].runtime;
	return CGROUP_NO_RUNTIME;
}

static void set_container(struct cgroup *c, enum cgroup_runtime r, struct str id)
{
	c->runtime = r;
	must(str_copy_to(id, c->container, sizeof(c->container)));
}

/* before: the part of the path outside of this one. */
static void take_container(struct cgroup *c, struct str part, struct str before)
{
	struct str name, rest = part;

	str_drop_suffix(&rest, STR(".scope"));
	if (is_id(rest)) {
		set_container(c, runtime_of(before), rest);
		return;
	}
	if (rest.n <= ID || !is_id(str_from(rest, rest.n - ID)))
		return;
	name = str_upto(rest, rest.n - ID - 1);
	if (part.p[name.n] == ':')
		while (str_find_byte(name, ':') < name.n)
			str_split(&name, ':');
	else if (part.p[name.n] != '-')
		return;
	if (runtime_of(name) != CGROUP_NO_RUNTIME)
		set_container(c, runtime_of(name), str_from(rest, rest.n - ID));
}

static bool copy_uid(struct str uid, char out[CGROUP_UID_TEXT])
{
	char text[CGROUP_UID_TEXT];

	if (uid.n != STATIC_UID && uid.n != UUID)
		return false;
	for (size_t i = 0; i < uid.n; i++) {
		bool dash = uid.n == UUID && (i == 8 || i == 13 || i == 18 || i == 23);

		if (dash ? uid.p[i] != '-' && uid.p[i] != '_' : !is_hex(str_make(uid.p + i, 1)))
			return false;
		text[i] = dash ? '-' : uid.p[i];
	}
	return str_copy_to(str_make(text, uid.n), out, CGROUP_UID_TEXT);
}

/* "pod" stands at the start, or behind the '-' of a slice. */
static void take_pod(struct cgroup *c, struct str part)
{
	struct str name = str_upto(part, str_find_byte(part, ':'));

	str_drop_suffix(&name, STR(".slice"));
	for (size_t i = name.n; i >= 3; i--)
		if (str_eq(str_make(name.p + i - 3, 3), STR("pod")) && (i == 3 || name.p[i - 4] == '-') &&
			copy_uid(str_from(name, i), c->pod_uid))
			return;
}

static void take_path(struct cgroup *c, struct str path)
{
	struct str before = STR("");

	while (path.p != NULL) {
		struct str part = str_split(&path, '/');

		take_pod(c, part);
		take_container(c, part, before);
		before = part;
	}
}

/* Version 1 says the same a dozen times, and in a mixture some say nothing: the line that knows most counts. */
void cgroup_parse(struct cgroup *out, struct str text)
{
	*out = (struct cgroup){ .runtime = CGROUP_NO_RUNTIME };
	while (text.p != NULL) {
		struct str line = str_split(&text, '\n');
		struct cgroup c = { .runtime = CGROUP_NO_RUNTIME };

		str_split(&line, ':');
		if (line.p != NULL)
			str_split(&line, ':');
		if (line.p == NULL)
			continue;
		take_path(&c, line);
		if ((c.container[0] != '\0') + (c.pod_uid[0] != '\0') > (out->container[0] != '\0') + (out->pod_uid[0] != '\0'))
			*out = c;
	}
}
