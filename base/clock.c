#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

void clock_sleep_ns(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (ns > 0 && nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

struct str clock_rfc3339(int64_t wall_ns, char out[CLOCK_TEXT])
{
	time_t sec = (time_t)(wall_ns / NS_PER_S);
	int64_t rest = wall_ns % NS_PER_S;
	struct tm tm;
	size_t n;

	if (rest < 0) {
		rest += NS_PER_S;
		sec--;
	}
	gmtime_r(&sec, &tm);
	n = strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest % NS_PER_US != 0)
		n += (size_t)snprintf(out + n, CLOCK_TEXT - n, ".%09" PRId64, rest);
	else if (rest % NS_PER_MS != 0)
		n += (size_t)snprintf(out + n, CLOCK_TEXT - n, ".%06" PRId64, rest / NS_PER_US);
	else if (rest != 0)
		n += (size_t)snprintf(out + n, CLOCK_TEXT - n, ".%03" PRId64, rest / NS_PER_MS);
	n += (size_t)snprintf(out + n, CLOCK_TEXT - n, "Z");
	return (struct str){ out, n };
}

/* Reads exactly n digits. */
static bool digits(struct str *s, size_t n, int *out)
{
	uint64_t v;

	if (s->n < n || str_to_u64(str_upto(*s, n), &v) < 0)
		return false;
	*out = (int)v;
	*s = str_from(*s, n);
	return true;
}

/* ".123456789": up to nine decimals count, further ones are read and dropped. */
static bool fraction(struct str *s, int64_t *ns)
{
	int64_t unit = NS_PER_S / 10;
	size_t i = 1;

	*ns = 0;
	if (s->n == 0 || s->p[0] != '.')
		return true;
	for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++, unit /= 10)
		*ns += unit * (s->p[i] - '0');
	if (i == 1)
		return false;
	*s = str_from(*s, i);
	return true;
}

static int to_wall(int64_t sec, int64_t frac_ns, int64_t *wall_ns)
{
	if (sec < 0 || sec > INT64_MAX / NS_PER_S - 1)
		return E_LIMIT;
	*wall_ns = sec * NS_PER_S + frac_ns;
	return OK;
}

static bool offset_of(struct str s, int64_t *sec)
{
	int h, m, sign;

	*sec = 0;
	if (str_eq(s, STR("Z")) || str_eq(s, STR("z")))
		return true;
	if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':')
		return false;
	sign = s.p[0] == '-' ? -1 : 1;
	s = str_from(s, 1);
	if (!digits(&s, 2, &h) || !str_drop_prefix(&s, STR(":")) || !digits(&s, 2, &m) || h > 23 || m > 59)
		return false;
	*sec = (int64_t)sign * (h * 3600 + m * 60);
	return true;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static int parse_rfc3339(struct str s, int64_t *wall_ns)
{
	struct tm tm = { 0 };
	int64_t frac_ns, offset_s;

	if (!digits(&s, 4, &tm.tm_year) || !str_drop_prefix(&s, STR("-")) || !digits(&s, 2, &tm.tm_mon) ||
		!str_drop_prefix(&s, STR("-")) || !digits(&s, 2, &tm.tm_mday))
		return E_FORMAT;
	if (s.n == 0 || (s.p[0] != 'T' && s.p[0] != 't' && s.p[0] != ' '))
		return E_FORMAT;
	s = str_from(s, 1);
	if (!digits(&s, 2, &tm.tm_hour) || !str_drop_prefix(&s, STR(":")) || !digits(&s, 2, &tm.tm_min) ||
		!str_drop_prefix(&s, STR(":")) || !digits(&s, 2, &tm.tm_sec) || !fraction(&s, &frac_ns) ||
		!offset_of(s, &offset_s))
		return E_FORMAT;
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > days_in(tm.tm_year, tm.tm_mon) ||
		tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return E_FORMAT;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return to_wall((int64_t)timegm(&tm) - offset_s, frac_ns, wall_ns);
}

static int parse_relative(struct str s, int64_t now_ns, int64_t *wall_ns)
{
	int64_t d = 0;
	bool minus;
	int rc;

	if (s.n == 0) {
		*wall_ns = now_ns;
		return OK;
	}
	minus = s.p[0] == '-';
	if (!minus && s.p[0] != '+')
		return E_FORMAT;
	rc = clock_parse_duration(str_from(s, 1), &d);
	if (rc < 0)
		return rc;
	if (__builtin_add_overflow(now_ns, minus ? -d : d, wall_ns) || *wall_ns < 0)
		return E_LIMIT;
	return OK;
}

int clock_parse(struct str s, int64_t now_wall_ns, int64_t *wall_ns)
{
	int64_t frac_ns;
	uint64_t sec;
	size_t n = 0;
	int rc;

	if (str_drop_prefix(&s, STR("now")))
		return parse_relative(s, now_wall_ns, wall_ns);
	if (s.n > 4 && s.p[4] == '-')
		return parse_rfc3339(s, wall_ns);
	while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	rc = str_to_u64(str_upto(s, n), &sec);
	if (rc < 0)
		return rc;
	s = str_from(s, n);
	if (!fraction(&s, &frac_ns) || s.n != 0)
		return E_FORMAT;
	return sec > INT64_MAX ? E_LIMIT : to_wall((int64_t)sec, frac_ns, wall_ns);
}

static const struct {
	struct str suffix;
	int64_t ns;
} units[] = {
	{ STR("ms"), NS_PER_MS }, { STR("us"), NS_PER_US }, { STR("ns"), 1 }, { STR("s"), NS_PER_S },
	{ STR("m"), NS_PER_MIN }, { STR("h"), NS_PER_HOUR }, { STR("d"), NS_PER_DAY }, { STR("w"), 7 * NS_PER_DAY },
};

static int64_t take_unit(struct str *s)
{
	for (size_t i = 0; i < COUNT(units); i++)
		if (str_drop_prefix(s, units[i].suffix))
			return units[i].ns;
	return 0;
}

int clock_parse_duration(struct str s, int64_t *ns)
{
	int64_t total = 0;
	bool bare = true;

	if (s.n == 0)
		return E_FORMAT;
	while (s.n > 0) {
		size_t n = 0;
		uint64_t v;
		int64_t unit, part;
		int rc;

		while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
			n++;
		rc = str_to_u64(str_upto(s, n), &v);
		if (rc < 0)
			return rc;
		s = str_from(s, n);
		unit = s.n == 0 && bare ? NS_PER_S : take_unit(&s);
		if (unit == 0)
			return E_FORMAT;
		if (v > INT64_MAX || __builtin_mul_overflow((int64_t)v, unit, &part) ||
			__builtin_add_overflow(total, part, &total))
			return E_LIMIT;
		bare = false;
	}
	*ns = total;
	return OK;
}

struct str clock_duration(int64_t ns, char out[CLOCK_TEXT])
{
	size_t best = 0; /* milliseconds, or whatever is larger and divides */

	if (ns == 0)
		return (struct str){ out, (size_t)snprintf(out, CLOCK_TEXT, "0s") };
	for (size_t i = 0; i < COUNT(units); i++)
		if (ns % units[i].ns == 0 && (ns % units[best].ns != 0 || units[i].ns > units[best].ns))
			best = i;
	return (struct str){ out, (size_t)snprintf(out, CLOCK_TEXT, "%" PRId64 "%s", ns / units[best].ns,
					  units[best].suffix.p) };
}

static struct str human(char out[CLOCK_TEXT], double v, const char *unit)
{
	double a = v < 0 ? -v : v;
	int decimals = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	int n = snprintf(out, CLOCK_TEXT, "%.*f %s", decimals, v, unit);

	return (struct str){ out, (size_t)n };
}

struct str clock_human(int64_t ns, char out[CLOCK_TEXT])
{
	int64_t a = ns < 0 ? -ns : ns;
	double v = (double)ns;

	if (a < NS_PER_US)
		return (struct str){ out, (size_t)snprintf(out, CLOCK_TEXT, "%" PRId64 " ns", ns) };
	if (a < NS_PER_MS)
		return human(out, v / 1e3, "µs");
	if (a < NS_PER_S)
		return human(out, v / 1e6, "ms");
	if (a < 2 * NS_PER_MIN)
		return human(out, v / 1e9, "s");
	if (a < 2 * NS_PER_HOUR)
		return human(out, v / 60e9, "min");
	if (a < 2 * NS_PER_DAY)
		return human(out, v / 3600e9, "h");
	return human(out, v / 86400e9, "d");
}
