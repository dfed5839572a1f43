/* What a container may write where the agent looks for who it is: a cgroup file, labels of the downward API, a step counter. Any bytes give
 * texts that keep their promises. */
#include "agent/cgroup.h"
#include "agent/cost.h"
#include "agent/podinfo.h"
#include "base/must.h"
#include "tests/fuzz/fuzz.h"

static void one_cgroup(struct str in)
{
	struct cgroup c;
	size_t id, uid;

	cgroup_parse(&c, in);
	id = strlen(c.container);
	uid = strlen(c.pod_uid);
	must(id == 0 || id == CGROUP_ID_TEXT - 1);
	must(uid == 0 || uid == CGROUP_UID_TEXT - 1 || uid == 32);
	must(c.runtime == CGROUP_NO_RUNTIME || id > 0);
	must(strspn(c.container, "0123456789abcdef") == id && strspn(c.pod_uid, "0123456789abcdef-") == uid);
}

static void one_label(struct str in, struct str key)
{
	char out[64];
	bool found = podinfo_get(in, key, out, sizeof(out));

	must(memchr(out, '\0', sizeof(out)) != NULL);
	must(found || out[0] == '\0');
	must(!found || str_contains(in, key));
}

static void one_counter(struct str in)
{
	struct cost_steps s;

	if (in.n >= COST_STEPS_BYTES && cost_steps_parse((const uint8_t *)in.p, &s)) {
		must(s.ended <= s.begun && s.steps_inside <= s.steps);
		must(s.first_ns <= s.last_ns && s.inside_ns >= 0);
	}
}

/* The book takes any two readings, one behind the other. */
static void two_counters(struct str in)
{
	const struct cost_settings settings = { .budget_ppm = 1000, .restore_ns = 1 };
	struct cost *c = cost_new(&settings);
	struct cost_steps s;

	for (; in.n >= COST_STEPS_BYTES; in = str_from(in, COST_STEPS_BYTES))
		if (cost_steps_parse((const uint8_t *)in.p, &s))
			cost_add_steps(c, 1, &s, s.steps & 1);
	must(cost_of(c, 1).cost_ppm <= 1000000);
	cost_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = str_make(data, size);

	one_cgroup(in);
	one_label(in, STR("a"));
	one_label(in, STR("app.kubernetes.io/name"));
	one_counter(in);
	two_counters(in);
	return 0;
}
