#include "cli/progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/width.h"

enum { BAR = 20, COLUMNS_DEFAULT = 80, NAME_MIN = 8 };
#define QUIET_NS (2 * NS_PER_S)
#define PAUSE_NS (NS_PER_S / 5)

static size_t columns(void)
{
	size_t n = cli_columns(stderr);

	return n > 1 ? n : COLUMNS_DEFAULT;
}

/* ---- the line */
static void put_bytes(struct buf *out, double bytes)
{
	if (bytes >= 1e9)
		buf_fmt(out, "%.1f GB", bytes / 1e9);
	else
		buf_fmt(out, "%.0f MB", bytes / 1e6);
}

static void put_bar(struct buf *out, double share)
{
	size_t full = (size_t)(share * BAR);

	buf_byte(out, '[');
	buf_fill(out, '=', full);
	buf_fill(out, ' ', BAR - full);
	buf_fmt(out, "]  %3.0f %%  ", share * 100.0);
}

static void put_rest(struct buf *out, double done, double all, double seconds)
{
	char left[CLOCK_TEXT];
	double rate = seconds > 0 ? done / seconds : 0;

	if (all > 0)
		put_bar(out, done / all);
	put_bytes(out, done);
	if (all > 0) {
		buf_text(out, " of ");
		put_bytes(out, all);
	}
	buf_fmt(out, "  %.0f MB/s", rate / 1e6);
	if (all > 0 && rate > 0) {
		buf_text(out, "  ");
		buf_str(out, clock_human((int64_t)((all - done) / rate) * NS_PER_S, left));
		buf_text(out, " left");
	}
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
	put_rest(&rest, done, all, (double)elapsed_ns / 1e9);
	if (width_of(buf_view(&rest)) + 2 + NAME_MIN < room)
		put_name(out, name, room - width_of(buf_view(&rest)) - 2);
	buf_str(out, width_upto(buf_view(&rest), room));
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
