#include "agent/schedule.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/must.h"

enum { OFFSET_SEED = 0 };

/* Rounded down, before 1970 too. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

void schedule_init(struct schedule *s, int64_t interval_ns, struct str host)
{
	must(interval_ns > 0);
	*s = (struct schedule){ .interval_ns = interval_ns };
	s->offset_ns = (int64_t)(hash64(host.p, host.n, OFFSET_SEED) % (uint64_t)interval_ns);
}

/* "HH:MM", 24:00 included. */
static int parse_minute(struct str s, int64_t *ns)
{
	struct str rest = s, hours = str_split(&rest, ':');
	uint64_t h, m;

	if (rest.p == NULL || hours.n != 2 || rest.n != 2 || str_to_u64(hours, &h) < 0 || str_to_u64(rest, &m) < 0 ||
		m > 59 || h * 60 + m > 24 * 60)
		return E_FORMAT;
	*ns = (int64_t)(h * 60 + m) * NS_PER_MIN;
	return OK;
}

int schedule_add_quiet(struct schedule *s, struct str hours, struct err *e)
{
	struct schedule_quiet q;
	struct str to = hours, from = str_split(&to, '-');

	if (s->n_quiet == SCHEDULE_QUIET_MAX)
		return err_set(e, E_LIMIT, "more than %d quiet hours", SCHEDULE_QUIET_MAX);
	if (to.p == NULL || parse_minute(from, &q.from_ns) < 0 || parse_minute(to, &q.to_ns) < 0 ||
		q.from_ns == q.to_ns)
		return err_set(e, E_USAGE, "\"%.*s\": want HH:MM-HH:MM in UTC, as in 22:00-06:00", STR_ARG(hours));
	s->quiet[s->n_quiet++] = q;
	return OK;
}

int64_t schedule_slot(const struct schedule *s, int64_t now_wall_ns)
{
	return floor_div(now_wall_ns - s->offset_ns, s->interval_ns);
}

bool schedule_is_quiet(const struct schedule *s, int64_t now_wall_ns)
{
	int64_t day = now_wall_ns - floor_div(now_wall_ns, NS_PER_DAY) * NS_PER_DAY;

	for (size_t i = 0; i < s->n_quiet; i++) {
		const struct schedule_quiet *q = &s->quiet[i];
		bool in = day >= q->from_ns, before = day < q->to_ns;

		if (q->from_ns < q->to_ns ? in && before : in || before)
			return true;
	}
	return false;
}
