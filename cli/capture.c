#include "cli/capture.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/table.h"

enum { PATH_BYTES = 4096 };
static const int64_t gap_ns = 30 * NS_PER_S; /* without an answer */

/* ---- counting */

static bool state_is(const struct json_node *o, const char *word)
{
	return str_eq(json_get_str(o, "state"), str_of(word));
}

struct capture_state_count capture_count(const struct json_node *capture)
{
	struct json_items targets = remote_items(capture, "targets");
	struct capture_state_count c = { .targets = targets.n,
		.over = state_is(capture, "done") || state_is(capture, "expired") };

	for (size_t i = 0; i < targets.n; i++) {
		c.taken += state_is(&targets.v[i], "taken");
		c.failed += state_is(&targets.v[i], "failed");
		c.expired += state_is(&targets.v[i], "expired");
		c.leased += state_is(&targets.v[i], "leased");
	}
	return c;
}

/* ---- following */

struct line {
	bool terminal, shown;
	int64_t start_ns;
};

static void line_show(struct line *l, const struct json_node *capture)
{
	struct capture_state_count c = capture_count(capture);
	char since[CLOCK_TEXT];

	if (!l->terminal)
		return;
	fprintf(stderr, "\rcapture  %zu of %zu taken, %zu under way", c.taken, c.targets, c.leased);
	if (c.failed + c.expired > 0)
		fprintf(stderr, ", %zu not", c.failed + c.expired);
	fputs("  ", stderr);
	cli_put(stderr, clock_human(clock_mono_ns() - l->start_ns, since));
	fputs("\033[K", stderr);
	fflush(stderr);
	l->shown = true;
}

static void line_over(struct line *l)
{
	if (l->shown)
		fputs("\r\033[K", stderr);
}

/* One question; a gap in which nobody answers is bridged. */
static int ask_once(const struct ask *a, const char *path, struct reply *r, int64_t *answered_ns, struct err *e)
{
	int rc;

	reply_close(r);
	rc = remote_get(a, path, r, e);
	if (rc == OK)
		*answered_ns = clock_mono_ns();
	return rc == E_NET && clock_mono_ns() - *answered_ns < gap_ns ? OK : rc;
}

int capture_follow(const struct ask *a, struct str id, int64_t pause_ns, int64_t most_ns, struct reply *r,
	struct err *e)
{
	struct line l = { .terminal = cli_terminal(stderr), .start_ns = clock_mono_ns() };
	int64_t answered_ns = l.start_ns;
	char path[PATH_BYTES];
	int rc;

	snprintf(path, sizeof(path), "/api/v1/captures/%.*s", STR_ARG(str_upto(id, 64)));
	for (;;) {
		rc = ask_once(a, path, r, &answered_ns, e);
		if (rc != OK || capture_count(r->root).over)
			break;
		if (r->root != NULL)
			line_show(&l, r->root);
		if (most_ns > 0 && clock_mono_ns() - l.start_ns + pause_ns > most_ns) {
			rc = err_set(e, E_BUSY,
				"capture %.*s has not ended yet; it goes on, and \"trainspotter capture %.*s\" waits for it",
				STR_ARG(str_upto(id, 64)), STR_ARG(str_upto(id, 64)));
			break;
		}
		clock_sleep_ns(pause_ns);
	}
	line_over(&l);
	return rc;
}

/* ---- showing */

static const struct table_column columns[] = {
	{ "host", TABLE_LEFT, 40 },   { "service", TABLE_LEFT, 40 }, { "source", TABLE_LEFT, 0 },
	{ "worker", TABLE_LEFT, 20 }, { "state", TABLE_LEFT, 0 },    { "end", TABLE_LEFT, 30 },
	{ "window", TABLE_LEFT, 0 },
};

static enum table_paint paint_of(const struct json_node *target)
{
	if (state_is(target, "taken"))
		return PAINT_GOOD;
	return state_is(target, "failed") || state_is(target, "expired") ? PAINT_BAD : PAINT_NONE;
}

static void put_word(struct table *t, const struct json_node *o, const char *key, enum table_paint paint)
{
	struct str word = json_get_str(o, key);

	table_cell(t, str_empty(word) ? STR("-") : word, paint);
}

void capture_show(const struct json_node *capture)
{
	struct json_items targets = remote_items(capture, "targets");
	struct capture_state_count c = capture_count(capture);
	struct table *t = table_new(columns, COUNT(columns));

	for (const struct json_node *i = targets.v; i < targets.v + targets.n; i++) {
		put_word(t, i, "host", PAINT_BOLD);
		put_word(t, i, "service", PAINT_NONE);
		put_word(t, i, "source", PAINT_NONE);
		put_word(t, i, "worker", PAINT_NONE);
		put_word(t, i, "state", paint_of(i));
		put_word(t, i, "end", PAINT_NONE);
		put_word(t, i, "window", PAINT_DIM);
	}
	if (targets.n > 0)
		table_print(t, stdout, cli_colour(stdout));
	table_free(t);
	printf("%scapture ", targets.n > 0 ? "\n" : "");
	cli_put(stdout, json_get_str(capture, "id"));
	fputs(": ", stdout);
	cli_put(stdout, json_get_str(capture, "state"));
	printf(", %zu of %zu taken\n", c.taken, c.targets);
}
