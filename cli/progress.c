#include "cli/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/width.h"

enum { BAR = 20, COLUMNS_DEFAULT = 80, NAME_MIN = 8, GAP = 2 };
#define QUIET_NS (2 * NS_PER_S)
#define PAUSE_NS (NS_PER_S / 5)

static size_t columns(void)
{
	size_t n = cli_columns(stderr);

	return n > 1 ? n : COLUMNS_DEFAULT;
}

/* ---- the line */
/* The line's parts from the left, as many as there is room for. */
struct parts {
	struct buf *out;
	size_t room;
	bool full;
};

static void put_part(struct parts *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put_part(struct parts *p, const char *fmt, ...)
{
	size_t gap = p->out->n > 0 ? GAP : 0;
	char text[80];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->full |= p->out->n + gap + strlen(text) > p->room;
	if (p->full)
		return;
	buf_fill(p->out, ' ', gap);
	buf_text(p->out, text);
}

static void put_share(struct parts *p, double share)
{
	static const char full[] = "====================";
	int n = (int)(share * (double)BAR);

	if (p->room >= BAR + 9) /* with the share behind it */
		put_part(p, "[%.*s%*s]", n, full, BAR - n, "");
	put_part(p, "%3.0f %%", share * 100.0);
}

static const char *bytes_text(char out[CLOCK_TEXT], double bytes)
{
	if (bytes >= 1e9)
		snprintf(out, CLOCK_TEXT, "%.1f GB", bytes / 1e9);
	else
		snprintf(out, CLOCK_TEXT, "%.0f MB", bytes / 1e6);
	return out;
}

static void put_left(struct parts *p, double seconds)
{
	char text[CLOCK_TEXT];

	if (seconds > 99)
		put_part(p, "%.*s left", STR_ARG(clock_human((int64_t)seconds * NS_PER_S, text)));
	else if (seconds > 0)
		put_part(p, "%.0f s left", ceil(seconds));
}

static void put_rest(struct buf *out, double done, double all, double seconds, size_t room)
{
	struct parts p = { out, room, false };
	char done_text[CLOCK_TEXT], all_text[CLOCK_TEXT];
	double rate = seconds > 0 ? done / seconds : 0;

	if (all > 0)
		put_share(&p, done / all);
	bytes_text(done_text, done);
	if (all > 0)
		put_part(&p, "%s of %s", done_text, bytes_text(all_text, all));
	else
		put_part(&p, "%s", done_text);
	put_part(&p, "%.0f MB/s", rate / 1e6);
	if (all > 0 && rate > 0)
		put_left(&p, (all - done) / rate);
}

/* The end of a name that is too long tells more than its start. */
static void put_name(struct buf *out, struct str name, size_t room)
{
	if (width_of(name) > room && room > 0) {
		buf_text(out, cli_cut_sign());
		name = width_ending(name, room - 1);
	}
	buf_str(out, name);
	buf_text(out, "  ");
}

void progress_line(struct buf *out, struct str name, uint64_t done_bytes, uint64_t all_bytes, int64_t elapsed_ns,
	size_t room)
{
	struct buf rest;
	double all = (double)all_bytes, done = all_bytes > 0 && done_bytes > all_bytes ? all : (double)done_bytes;

	buf_init(&rest, 4096);
	put_rest(&rest, done, all, (double)elapsed_ns / 1e9, room);
	if (rest.n + GAP + NAME_MIN < room)
		put_name(out, name, room - rest.n - GAP);
	buf_str(out, buf_view(&rest));
	buf_fini(&rest);
}

/* ---- the terminal */
static void show(struct progress *p, struct str line)
{
	fputs("\r", stderr);
	cli_put(stderr, line);
	fputs("\033[K", stderr);
	fflush(stderr);
	p->shown = true;
}

void progress_begin(struct progress *p, const char *name, const struct input *whole)
{
	*p = (struct progress){ .name = name, .whole = whole, .terminal = cli_terminal(stderr),
		.start_ns = clock_mono_ns() };
}

void progress_block(void *arg, const struct input *in)
{
	struct progress *p = arg;
	struct buf line;
	int64_t now_ns;

	if (!p->terminal)
		return;
	now_ns = clock_mono_ns();
	if (now_ns - p->start_ns < QUIET_NS || now_ns - p->last_ns < PAUSE_NS)
		return;
	p->last_ns = now_ns;
	in = p->whole != NULL ? p->whole : in;
	buf_init(&line, 64 << 10);
	progress_line(&line, str_of(p->name), input_raw_bytes(in), input_raw_size(in), now_ns - p->start_ns,
		columns() - 1);
	show(p, buf_view(&line));
	buf_fini(&line);
}

void progress_say(struct progress *p, const char *what)
{
	struct buf line;

	if (!p->terminal || clock_mono_ns() - p->start_ns < QUIET_NS)
		return;
	buf_init(&line, 64 << 10);
	put_name(&line, str_of(p->name), columns() / 2);
	buf_text(&line, what);
	show(p, buf_view(&line));
	buf_fini(&line);
}

void progress_over(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
