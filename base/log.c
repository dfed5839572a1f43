#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"

enum {
	LINE_BYTES = 2048,	/* longer lines are cut */
	KEPT_LINES = 64,	/* for must() */
	SITE_LINES = 10,	/* printed a call site and period */
};
static const int64_t site_period_ns = 10 * NS_PER_S;

static const struct {
	const char *name, *journal; /* syslog's numbers */
} levels[] = {
	[LOG_ERROR] = { "error", "<3>" },
	[LOG_WARN] = { "warn", "<4>" },
	[LOG_INFO] = { "info", "<6>" },
	[LOG_DEBUG] = { "debug", "<7>" },
};
_Static_assert(COUNT(levels) == LOG_LEVELS, "name every level");

static _Atomic int level_now = LOG_INFO;

/* The ring is without locks: a slot that another thread is still writing is passed over, that line is not kept. */
struct kept_line {
	atomic_bool busy;
	char text[LINE_BYTES];
};
static struct kept_line kept[KEPT_LINES];
static _Atomic uint32_t kept_next;

void log_set_level(enum log_level level)
{
	atomic_store(&level_now, (int)level);
}

int log_level_parse(struct str word, enum log_level *out)
{
	for (size_t i = 0; i < COUNT(levels); i++)
		if (str_eq(word, str_of(levels[i].name))) {
			*out = (enum log_level)i;
			return OK;
		}
	return E_FORMAT;
}

/* May this call site print now? *held is how many lines before this one were not printed. */
static bool site_may_print(struct log_site *site, uint32_t *held)
{
	int64_t now = clock_mono_ns(), since = atomic_load(&site->since_ns);

	*held = 0;
	if (now - since >= site_period_ns && atomic_compare_exchange_strong(&site->since_ns, &since, now))
		atomic_store(&site->printed, 0);
	if (atomic_fetch_add(&site->printed, 1) < SITE_LINES) {
		*held = atomic_exchange(&site->held, 0);
		return true;
	}
	atomic_fetch_add(&site->held, 1);
	return false;
}

static void dump_kept(void)
{
	uint32_t next = atomic_load(&kept_next);

	for (uint32_t i = next < KEPT_LINES ? 0 : next - KEPT_LINES; i != next; i++) {
		struct kept_line *k = &kept[i % KEPT_LINES];

		if (!atomic_exchange(&k->busy, true))
			fprintf(stderr, "  before: %s", k->text);
	}
}

static void keep(const char *line, size_t n)
{
	uint32_t i = atomic_fetch_add(&kept_next, 1);
	struct kept_line *k = &kept[i % KEPT_LINES];

	if (i == 0)
		must_on_fail(dump_kept);
	if (atomic_exchange(&k->busy, true))
		return;
	memcpy(k->text, line, n + 1);
	atomic_store(&k->busy, false);
}

/* snprintf's answer as the number of bytes that are really there. */
static size_t clip(int printed, size_t room)
{
	if (printed < 0 || room == 0)
		return 0;
	return (size_t)printed < room ? (size_t)printed : room - 1;
}

static size_t put_start(char *line, enum log_level level)
{
	char time[CLOCK_TEXT];
	const char *stream = getenv("JOURNAL_STREAM");

	if (stream != NULL && *stream != '\0')
		return clip(snprintf(line, LINE_BYTES, "%s", levels[level].journal), LINE_BYTES);
	clock_rfc3339(clock_wall_ns() / NS_PER_MS * NS_PER_MS, time);
	return clip(snprintf(line, LINE_BYTES, "%s ", time), LINE_BYTES);
}

void log_line(struct log_site *site, enum log_level level, const char *event, const char *fmt, ...)
{
	const size_t room = LINE_BYTES - 32; /* the rest is for "held" and the newline */
	char line[LINE_BYTES];
	uint32_t held;
	ssize_t put;
	va_list ap;
	size_t n;

	if ((int)level > atomic_load_explicit(&level_now, memory_order_relaxed) || !site_may_print(site, &held))
		return;
	n = put_start(line, level);
	n += clip(snprintf(line + n, room - n, "%s %s ", levels[level].name, event), room - n);
	va_start(ap, fmt);
	n += clip(vsnprintf(line + n, room - n, fmt, ap), room - n);
	va_end(ap);
	while (n > 0 && line[n - 1] == ' ')
		n--;
	n = str_tame(line, n, line); /* a line stays a line whatever its texts hold */
	if (held > 0)
		n += clip(snprintf(line + n, LINE_BYTES - n, " held=%" PRIu32, held), LINE_BYTES - n);
	line[n++] = '\n';
	line[n] = '\0';
	keep(line, n);
	put = write(STDERR_FILENO, line, n); /* one write a line, so that threads do not mix */
	(void)put;
}
