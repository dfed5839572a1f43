/* log.h — one line an event on standard error: "level event key=value …".
 * Events are stable dotted words ("ship.retry"); the rest is key=value, texts quoted, never a secret. Under systemd
 * (JOURNAL_STREAM set) lines start with "<n>", elsewhere with an RFC 3339 time. Each call site prints at most 10
 * lines in 10 seconds; the next one tells how many were held back (held=N). The last 64 lines are kept and printed
 * when a must() fails. Only programs and floors 4 to 6 log; lower floors return errors and count metrics.
 * Runs on: any thread. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/code.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

struct log_site { /* one a call site, static, zero */
	_Atomic int64_t since_ns;
	_Atomic uint32_t printed, held;
};

void log_set_level(enum log_level level); /* the only global: LOG_INFO at start */
int log_level_parse(struct str word, enum log_level *out) MUST_USE;

#define log_error(event, ...) LOG_AT(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, __VA_ARGS__)

#define LOG_AT(level, event, ...)                                                                                   \
	do {                                                                                                        \
		static struct log_site log_site_here;                                                               \
		log_line(&log_site_here, level, event, __VA_ARGS__);                                                \
	} while (0)

void log_line(struct log_site *site, enum log_level level, const char *event, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

#endif
