/* notify.h — tells others of alerts: a bounded queue, a thread, and a webhook behind it.
 * Each alert is told once in each of its turns (firing at …, resolved at …): what was delivered stands in a file, so that a
 * restart does not tell it again. A crash between delivery and that line tells it twice; the Idempotency-Key is the same then.
 * A resolution (or expiry) is told to whom its firing was told.
 *
 * The file: one line a delivery, newest last, at most NOTIFY_SEEN_MAX of them; replaced whole (base/file.h).
 *
 *	<alert id> <state> <ns of that turn> LF
 */
#ifndef NOTIFY_NOTIFY_H
#define NOTIFY_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "profile/alert.h"

enum { NOTIFY_QUEUE = 256, NOTIFY_SEEN_MAX = 10000 };

struct notify;

struct notify_settings { /* texts are copied */
	const char *url;	/* "" for nobody: alerts are dropped */
	const char *token_file; /* "" for none; read when the settings are given */
	const char *ca_file;	/* "" for the system's */
	int64_t timeout_ns;
	int64_t first_wait_ns, max_wait_ns; /* between tries: full jitter */
	int64_t tries;
};

/* seen_path: the file above; its folder is there. */
int notify_open(struct notify **out, const struct notify_settings *s, const char *seen_path, struct metrics *metrics,
	struct err *e) MUST_USE;
void notify_close(struct notify *n); /* what still waits is told after the next start; NULL is fine */

/* Other settings from the next try on. E_USAGE, E_NOT_FOUND…: the old ones stay. Any thread. */
int notify_set(struct notify *n, const struct notify_settings *s, struct err *e) MUST_USE;

/* Is there little to tell, so that what was perhaps told already may be queued once more? A receiver that is down for hours
 * must not fill the queue with that. Any thread. */
bool notify_has_room(const struct notify *n);

/* Queues the alert as it is now. E_BUSY when the queue is full. Any thread. */
int notify_push(struct notify *n, const struct alert *al, struct err *e) MUST_USE;

#endif
