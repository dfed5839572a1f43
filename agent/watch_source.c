#include "agent/watch_source.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"

enum { DIR_TEXT = PATH_MAX - 256, WATCH_SOURCE_MAGIC = 0x57415453 };

struct watch_source {
	uint32_t magic;
	const struct agent_conf *conf;
	const struct plan *plan;
	bool once;
	struct watch *watch;
	struct watch_folder *folders;
	char (*texts)[2][PATH_MAX]; /* done_dir, bad_dir where they are made up */
	struct watch_file out;	    /* the one that is being read */
	uint64_t key;		    /* of it; 0: none is */
	uint64_t last_key, stuck;
};

static struct watch_source *own(void *self)
{
	return MAGIC_CHECK((struct watch_source *)self, WATCH_SOURCE_MAGIC);
}

static const struct watch_source *own_const(const void *self)
{
	return MAGIC_CHECK((const struct watch_source *)self, WATCH_SOURCE_MAGIC);
}

static void on_close(void *self)
{
	struct watch_source *s = own(self);

	watch_close(s->watch);
	mem_free(s->folders);
	mem_free(s->texts);
	s->magic = MAGIC_DEAD;
	mem_free(s);
}

static int on_fd(void *self)
{
	return watch_fd(own(self)->watch);
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct watch_source *s = own(self);

	(void)wall_ns;
	watch_pause(s->watch, plan_paused(s->plan));
	watch_look(s->watch, now_ns);
}

static int64_t on_wake(const void *self, bool busy)
{
	return watch_wake_ns(own_const(self)->watch, busy);
}

static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct watch_source *s = own(self);
	const struct watch_conf *wc;

	must(s->key == 0);
	if (!watch_next(s->watch, now_ns, &s->out))
		return false;
	s->key = ++s->last_key;
	wc = agent_conf_watch(s->conf, s->out.folder);
	*out = (struct source_trace){ .file = s->out, .key = s->key, .service = str_of(wc->service),
		.deploy = str_of(wc->deploy), .worker = str_of(wc->worker) };
	return true;
}

/* The file can be neither removed nor moved; it comes again in a minute, which --once does not wait for. */
static void say_stuck(struct watch_source *s, const struct err *why)
{
	s->stuck++;
	log_error("trace.stuck", "file=\"%s\" err=\"%s\"", s->out.path, why->text);
	if (s->once)
		watch_leave(s->watch, &s->out);
}

static void on_back(void *self, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct watch_source *s = own(self);
	struct err e = { 0 };
	int rc = OK;

	must(key == s->key);
	s->key = 0;
	switch (r->end) {
	case SOURCE_KEPT: rc = watch_done(s->watch, &s->out, now_ns, &e); break;
	case SOURCE_EMPTY:
	case SOURCE_BAD: rc = watch_bad(s->watch, &s->out, now_ns, &e); break;
	case SOURCE_AGAIN:
		if (s->once && watch_same(&s->out))
			watch_leave(s->watch, &s->out);
		else
			watch_again(s->watch, &s->out, now_ns, r->delay_ns);
		break;
	case SOURCE_ENDS: must(false && "no end of a trace");
	}
	if (rc < 0)
		say_stuck(s, &e);
}

static bool on_idle(const void *self)
{
	return watch_idle(own_const(self)->watch);
}

static uint64_t on_stuck(const void *self)
{
	return own_const(self)->stuck;
}

static const struct source_type watch_source_type = {
	.name = "watch",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.idle = on_idle,
	.stuck = on_stuck,
	.keeps_empty = true,
};

/* What the configuration says, or a folder in the watched one. */
static void folder_beside(const char *dir, const char *named, const char *name, char out[PATH_MAX])
{
	if (named[0] != '\0')
		snprintf(out, PATH_MAX, "%s", named);
	else
		snprintf(out, PATH_MAX, "%s/%s", dir, name);
}

static int make_folders(struct watch_source *s, struct err *e)
{
	const struct agent_conf *cf = s->conf;
	size_t n = cf->watch.n;

	s->folders = mem_get_array(n, sizeof(*s->folders));
	s->texts = mem_get_array(n, sizeof(*s->texts));
	for (size_t i = 0; i < n; i++) {
		const struct watch_conf *wc = agent_conf_watch(cf, i);
		char *done = s->texts[i][0], *bad = s->texts[i][1];

		if (strlen(wc->dir) > DIR_TEXT)
			return err_set(e, E_USAGE, "watch: %s: path too long", wc->dir);
		folder_beside(wc->dir, wc->done_dir, "done", done);
		folder_beside(wc->dir, wc->bad_dir, "bad", bad);
		s->folders[i] = (struct watch_folder){
			.dir = wc->dir,
			.done_dir = wc->done == DONE_MOVE ? done : NULL,
			.bad_dir = bad,
			.keep_files = (size_t)cf->keep_files,
			.stable_ns = wc->stable_ns,
		};
	}
	return OK;
}

int watch_source_open(struct source *out, const struct agent_conf *cf, const struct plan *plan, bool once, struct err *e)
{
	struct watch_source *s = mem_get(sizeof(*s));
	int rc;

	*s = (struct watch_source){ .magic = WATCH_SOURCE_MAGIC, .conf = cf, .plan = plan, .once = once };
	rc = make_folders(s, e);
	if (rc == OK)
		rc = watch_open(&s->watch, s->folders, cf->watch.n, cf->rescan_ns, e);
	if (rc < 0) {
		on_close(s);
		return rc;
	}
	*out = (struct source){ &watch_source_type, s };
	return OK;
}
