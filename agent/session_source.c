#include "agent/session_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/errand.h"
#include "agent/harvest.h"
#include "agent/identity.h"
#include "agent/keep.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/tree.h"

enum { SESSION_MAGIC = 0x53455353, KNOWN_MAX = 256, UNFINISHED_FACTOR = 12, KEY_SHIFT = 10 };
_Static_assert(HARVEST_FILES_MAX < 1 << KEY_SHIFT, "a harvest's key fits into its part of ours");

static const int64_t look_every_ns = NS_PER_S, again_ns = 10 * NS_PER_MIN, empty_ns = NS_PER_DAY;

enum state { CHANGING, DECODING, READING, ENDING };

struct folder_session {
	struct errand errand;
	struct session_source *from;
	enum state state;
	bool out; /* the thread has it */
	uint64_t id;
	size_t folder;
	struct session session; /* as it was when it was last looked at */
	int64_t same_since_ns, due_ns; /* mono */
	unsigned tries; /* that could not begin */
	char work_dir[PATH_MAX];
	char service[WORKER_TEXT], deploy[WORKER_TEXT], worker[WORKER_TEXT];
	/* what came of it */
	struct identity identity;
	struct harvest *harvest; /* NULL: changed meanwhile, or the agent ends */
	bool good;		 /* a window came of it */
	char why[480];
};

VEC(known, struct folder_session *);

struct session_source {
	uint32_t magic;
	const struct agent_conf *conf;
	struct identities *identities;
	char *proc, *lock, *dir; /* dir: STATE_DIR/decode */
	struct decode_settings decode;
	struct errands *errands;
	struct known known;
	uint64_t last_id;
	int64_t scan_ns;
	bool scanned;
	uint64_t taken, empty, bad, later, stuck;
	uint64_t counts[DECODE_ENDS];
};

static struct session_source *own(void *self)
{
	return MAGIC_CHECK((struct session_source *)self, SESSION_MAGIC);
}

static const struct session_source *own_const(const void *self)
{
	return MAGIC_CHECK((const struct session_source *)self, SESSION_MAGIC);
}

/* ---- on the thread */

static void do_decode(struct folder_session *f, struct thread *t)
{
	struct label labels[IDENTITY_LABELS_MAX];
	const struct harvest_settings s = {
		.decode = &f->from->decode,
		.service = f->service,
		.deploy = f->deploy,
		.worker = f->worker,
		.labels = labels,
		.n_labels = identity_labels(&f->identity, labels),
		.top = agent_conf_watch(f->from->conf, f->folder)->dir,
	};
	struct session now;
	struct err e = { 0 };
	int rc = file_make_dirs(f->work_dir, 0700, &e);

	if (rc == OK)
		rc = harvest_make(&f->harvest, &s, f->session.dir, f->work_dir, t, &e);
	if (rc < 0) {
		snprintf(f->why, sizeof(f->why), "%s", e.text);
		return;
	}
	if (session_read(f->session.dir, &now) && now.print == f->session.print)
		return;
	harvest_free(f->harvest); /* it was not whole */
	f->harvest = NULL;
	(void)!tree_remove(f->work_dir, NULL);
}

static void folder_beside(const char *dir, const char *named, const char *name, char out[PATH_MAX])
{
	if (named[0] != '\0')
		snprintf(out, PATH_MAX, "%s", named);
	else
		snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 64, dir, name);
}

static bool is_session(const char *path)
{
	struct session s;

	return session_read(path, &s);
}

/* Into the folder for it, where the last ones stay. What else the folder holds is not ours. */
static int put_aside(const struct folder_session *f, struct err *e)
{
	const struct watch_conf *wc = agent_conf_watch(f->from->conf, f->folder);
	int64_t keep = f->from->conf->decode.keep;
	char from[PATH_MAX], to[PATH_MAX];
	int fd = tree_hold(wc->dir, f->session.dir, from, e), rc;

	if (fd < 0)
		return fd;
	if (f->good)
		folder_beside(wc->dir, wc->done_dir, "done", to);
	else
		folder_beside(wc->dir, wc->bad_dir, "bad", to);
	rc = keep_move(from, to, "", e);
	if (rc == OK)
		keep_trim_folders(to, keep > 0 ? (size_t)keep : 1, is_session);
	close(fd);
	return rc;
}

static void do_end(struct folder_session *f)
{
	const struct watch_conf *wc = agent_conf_watch(f->from->conf, f->folder);
	struct err e = { 0 };
	int rc;

	if (f->good && wc->done == DONE_REMOVE)
		rc = tree_remove_below(wc->dir, f->session.dir, &e);
	else
		rc = put_aside(f, &e);
	crash_point("session.ended");
	if (rc == OK)
		rc = tree_remove(f->work_dir, &e);
	snprintf(f->why, sizeof(f->why), "%s", rc < 0 ? e.text : "");
}

static void run(struct errand *er, struct thread *t)
{
	struct folder_session *f = (struct folder_session *)er;

	if (f->state == DECODING)
		do_decode(f, t);
	else
		do_end(f);
}

static void session_free(struct folder_session *f)
{
	harvest_free(f->harvest);
	mem_free(f);
}

static void free_errand(struct errand *er)
{
	session_free((struct folder_session *)er);
}

/* ---- which sessions are there */

static struct folder_session *find(const struct session_source *s, const char *dir)
{
	vec_each(p, &s->known)
		if (strcmp((*p)->session.dir, dir) == 0)
			return *p;
	return NULL;
}

static void drop(struct session_source *s, struct folder_session *f)
{
	vec_each(p, &s->known)
		if (*p == f) {
			*p = s->known.v[--s->known.n];
			break;
		}
	session_free(f);
}

static void seen(struct session_source *s, size_t folder, const struct session *found, int64_t now_ns)
{
	struct folder_session *f = find(s, found->dir), **place;

	if (f == NULL) {
		place = vec_push(&s->known);
		if (place == NULL)
			return; /* when there is room again */
		f = *place = mem_get(sizeof(*f));
		f->errand = (struct errand){ run, free_errand };
		f->from = s;
		f->id = ++s->last_id;
		f->folder = folder;
		snprintf(f->work_dir, sizeof(f->work_dir), "%s/%016" PRIx64, s->dir, hash64(found->dir, strlen(found->dir), 0));
	}
	if (f->state == CHANGING && (f->same_since_ns == 0 || f->session.print != found->print)) {
		f->session = *found;
		f->same_since_ns = now_ns;
	}
}

static bool is_below(const char *path, const char *folder)
{
	struct str rest = str_of(path);

	return str_drop_prefix(&rest, str_of(folder)) && (str_empty(rest) || rest.p[0] == '/');
}

/* What was put aside, and the watched folder itself, are no sessions to take. */
static bool is_ours(const struct watch_conf *wc, const char *dir)
{
	char done[PATH_MAX], bad[PATH_MAX];

	folder_beside(wc->dir, wc->done_dir, "done", done);
	folder_beside(wc->dir, wc->bad_dir, "bad", bad);
	return strcmp(dir, wc->dir) == 0 || is_below(dir, done) || is_below(dir, bad);
}

/* JSON of sessions that are gone: an earlier agent was ended between the two. */
static void remove_leftovers(const struct session_source *s)
{
	DIR *d = opendir(s->dir);

	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;) {
		char path[PATH_MAX];
		bool wanted = ent->d_name[0] == '.';

		vec_each(p, &s->known)
			wanted = wanted || strcmp(strrchr((*p)->work_dir, '/') + 1, ent->d_name) == 0;
		if (!wanted && snprintf(path, sizeof(path), "%s/%s", s->dir, ent->d_name) < PATH_MAX)
			(void)!tree_remove(path, NULL);
	}
	if (d != NULL)
		closedir(d);
}

/* The folders of processes, long after their last session: a process that still runs may be about to make one in it. */
static void remove_empty(const char *dir, int64_t wall_ns)
{
	DIR *d = opendir(dir);

	for (struct dirent *ent; d != NULL && (ent = readdir(d)) != NULL;) {
		struct stat st;

		if (strstr(ent->d_name, "_pid_") != NULL && fstatat(dirfd(d), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode) && wall_ns - st.st_mtim.tv_sec * NS_PER_S > empty_ns)
			unlinkat(dirfd(d), ent->d_name, AT_REMOVEDIR); /* fails where it is not empty */
	}
	if (d != NULL)
		closedir(d);
}

static void scan(struct session_source *s, int64_t now_ns, int64_t wall_ns)
{
	for (size_t i = 0; i < s->conf->watch.n; i++) {
		const struct watch_conf *wc = agent_conf_watch(s->conf, i);
		struct sessions all = { .v = NULL };

		if (!wc->decode)
			continue;
		sessions_find(wc->dir, &all);
		vec_each(found, &all)
			if (!is_ours(wc, found->dir))
				seen(s, i, found, now_ns);
		vec_fini(&all);
		remove_empty(wc->dir, wall_ns);
	}
	if (!s->scanned)
		remove_leftovers(s);
	s->scanned = true;
	s->scan_ns = now_ns + s->conf->rescan_ns;
}

/* ---- decoding */

/* A pid means nothing in another name space, and a number may be another process's by now. */
static void identify(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	const struct watch_conf *wc = agent_conf_watch(s->conf, f->folder);
	const struct identity_section section = { wc->service, wc->deploy, wc->worker };
	struct worker who;

	f->identity = (struct identity){ .service = "" };
	snprintf(f->service, sizeof(f->service), "%s", wc->service);
	snprintf(f->deploy, sizeof(f->deploy), "%s", wc->deploy);
	snprintf(f->worker, sizeof(f->worker), "%s", wc->worker);
	if (f->session.pid == 0 || worker_read(&who, s->proc, f->session.pid, NULL) < 0 || who.own_pid != who.pid ||
		!who.owns_device)
		return;
	identities_read(s->identities, &f->identity, &who, &section, now_ns);
	memcpy(f->service, f->identity.service, sizeof(f->service));
	memcpy(f->deploy, f->identity.deploy, sizeof(f->deploy));
	memcpy(f->worker, f->identity.worker, sizeof(f->worker));
}

static bool give(struct session_source *s, struct folder_session *f, enum state state)
{
	enum state before = f->state;

	f->state = state;
	f->out = true;
	if (errands_give(s->errands, &f->errand))
		return true;
	f->out = false;
	f->state = before;
	return false;
}

static int64_t whole_at_ns(const struct session_source *s, const struct folder_session *f)
{
	int64_t stable_ns = agent_conf_watch(s->conf, f->folder)->stable_ns;

	return f->same_since_ns + stable_ns * (f->session.has_info ? 1 : UNFINISHED_FACTOR);
}

/* One that did not change is taken; one that went away is forgotten. */
static void look_at(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	struct session now;

	if (f->state != CHANGING || f->due_ns > now_ns)
		return;
	f->due_ns = now_ns + look_every_ns;
	if (!session_read(f->session.dir, &now)) {
		drop(s, f);
		return;
	}
	if (now.print != f->session.print) {
		f->session = now;
		f->same_since_ns = now_ns;
	} else if (now_ns >= whole_at_ns(s, f)) {
		identify(s, f, now_ns);
		give(s, f, DECODING);
	}
}

/* ---- what became of it */

static void say(const struct folder_session *f, const char *end, const char *why, const char *cure)
{
	if (cure == NULL)
		log_debug("session.window", "dir=\"%s\" end=%s", f->session.dir, end);
	else
		log_warn("session.window", "dir=\"%s\" end=%s reason=\"%s\" cure=\"%s\"", f->session.dir, end, why, cure);
}

static enum decode_end trouble_of(const struct folder_session *f)
{
	for (enum decode_end end = 0; end < DECODE_ENDS; end++)
		if (decode_end_cure(end) != NULL && harvest_sum(f->harvest)->decode_ends[end] > 0)
			return end;
	return DECODE_TAKEN;
}

static void try_later(struct folder_session *f, int64_t now_ns)
{
	harvest_free(f->harvest);
	f->harvest = NULL;
	f->state = CHANGING;
	f->due_ns = now_ns + again_ns;
}

static void end_session(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	struct harvest_back_counts b = harvest_backs(f->harvest);
	enum decode_end trouble = trouble_of(f);

	if (trouble != DECODE_TAKEN) {
		s->counts[trouble]++;
		say(f, decode_end_word(trouble), harvest_sum(f->harvest)->why, decode_end_cure(trouble));
	}
	if (b.kept + b.empty + b.bad == 0 && trouble == DECODE_NO_PROGRAM) {
		try_later(f, now_ns); /* it may be installed by then */
		return;
	}
	s->taken += b.kept > 0;
	s->bad += b.bad > 0;
	s->empty += b.kept + b.bad == 0 && b.empty > 0;
	if (b.bad > 0)
		say(f, "bad", b.bad_why, "its folder is in bad_dir, if no window came of it");
	else if (b.empty > 0 && b.kept == 0)
		say(f, "empty", "", "no ops in it: was there work in the window");
	else if (b.kept > 0)
		say(f, "taken", "", NULL);
	f->good = b.kept > 0 || b.empty > 0 || trouble == DECODE_NOTHING ||
		  (b.bad == 0 && harvest_sum(f->harvest)->decoded_before > 0);
	harvest_free(f->harvest);
	f->harvest = NULL;
	if (!give(s, f, ENDING))
		try_later(f, now_ns);
}

static void begin_later(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	s->later++;
	f->due_ns = now_ns + source_again_ns(f->tries++);
	log_warn("session.later", "dir=\"%s\" tries=%u err=\"%s\"", f->session.dir, f->tries, f->why);
	f->why[0] = '\0';
}

static void decoded(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	if (f->harvest == NULL) {
		f->state = CHANGING;
		f->same_since_ns = now_ns;
		if (f->why[0] != '\0')
			begin_later(s, f, now_ns);
		return;
	}
	f->tries = 0;
	f->state = READING;
	if (harvest_over(f->harvest))
		end_session(s, f, now_ns);
}

/* It can be neither removed nor moved: not decoded again and again. */
static void gone(struct session_source *s, struct folder_session *f, int64_t now_ns)
{
	if (f->why[0] == '\0') {
		drop(s, f);
		return;
	}
	s->stuck++;
	log_error("session.stuck", "dir=\"%s\" err=\"%s\"", f->session.dir, f->why);
	f->state = ENDING;
	f->due_ns = now_ns + again_ns;
}

static void fetch(struct session_source *s, int64_t now_ns)
{
	struct errand *er;

	while ((er = errands_fetch(s->errands)) != NULL) {
		struct folder_session *f = (struct folder_session *)er;

		f->out = false;
		if (f->state == DECODING)
			decoded(s, f, now_ns);
		else
			gone(s, f, now_ns);
	}
}

/* ---- as the agent's loop sees it */

static int on_fd(void *self)
{
	return errands_fd(own(self)->errands);
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct session_source *s = own(self);

	fetch(s, now_ns);
	if (now_ns >= s->scan_ns)
		scan(s, now_ns, wall_ns);
	for (size_t i = s->known.n; i-- > 0;) { /* backwards: the last one takes the place of one that is dropped */
		struct folder_session *f = s->known.v[i];

		if (f->state == ENDING && !f->out && f->due_ns <= now_ns)
			give(s, f, ENDING);
		else
			look_at(s, f, now_ns);
	}
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct session_source *s = own_const(self);
	int64_t wake = s->scan_ns;

	vec_each(p, &s->known) {
		const struct folder_session *f = *p;
		int64_t its = f->out ? INT64_MAX : f->state == READING ? (busy ? INT64_MAX : harvest_wake_ns(f->harvest)) : f->due_ns;

		if (its < wake)
			wake = its;
	}
	return wake;
}

static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct session_source *s = own(self);

	vec_each(p, &s->known) {
		struct folder_session *f = *p;

		if (f->state != READING || harvest_wake_ns(f->harvest) > now_ns)
			continue;
		if (harvest_next(f->harvest, now_ns, out)) {
			out->key |= f->id << KEY_SHIFT;
			return true;
		}
		if (harvest_over(f->harvest)) { /* somebody else removed what was left */
			end_session(s, f, now_ns);
			return false;
		}
	}
	return false;
}

static void on_back(void *self, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct session_source *s = own(self);
	struct folder_session *f = NULL;

	vec_each(p, &s->known)
		if ((*p)->id == key >> KEY_SHIFT)
			f = *p;
	must(f != NULL && f->state == READING);
	harvest_back(f->harvest, key & ((1 << KEY_SHIFT) - 1), r, now_ns);
	if (harvest_over(f->harvest))
		end_session(s, f, now_ns);
}

static void on_status(const void *self)
{
	const struct session_source *s = own_const(self);
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < DECODE_ENDS; i++)
		if (decode_end_cure((enum decode_end)i) != NULL)
			buf_fmt(&b, " %s=%" PRIu64, decode_end_word((enum decode_end)i), s->counts[i]);
	log_info("session.status", "sessions=%zu taken=%" PRIu64 " empty=%" PRIu64 " bad=%" PRIu64 " later=%" PRIu64 "%.*s", s->known.n,
		s->taken, s->empty, s->bad, s->later, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

static bool is_put_off(const struct folder_session *f)
{
	return f->state == CHANGING && f->tries > 0;
}

/* What cannot be taken now (no program, no room, stuck) is not waited for. */
static bool on_idle(const void *self)
{
	const struct session_source *s = own_const(self);
	int64_t soon_ns = clock_mono_ns() + again_ns / 2;

	vec_each(p, &s->known)
		if ((*p)->out || (*p)->state == READING || ((*p)->due_ns < soon_ns && !is_put_off(*p)))
			return false;
	return s->scanned;
}

static uint64_t on_stuck(const void *self)
{
	const struct session_source *s = own_const(self);
	uint64_t stuck = s->stuck;

	vec_each(p, &s->known)
		stuck += is_put_off(*p);
	return stuck;
}

/* Those that the thread has are freed by it. */
static void on_close(void *self)
{
	struct session_source *s = own(self);

	vec_each(p, &s->known)
		if (!(*p)->out)
			session_free(*p);
	errands_stop(s->errands);
	vec_fini(&s->known);
	mem_free(s->proc);
	mem_free(s->lock);
	mem_free(s->dir);
	s->magic = MAGIC_DEAD;
	mem_free(s);
}

static const struct source_type session_source_type = {
	.name = "watch",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.status = on_status,
	.idle = on_idle,
	.stuck = on_stuck,
};

uint64_t session_source_taken(const struct source *s)
{
	return own_const(s->self)->taken;
}

uint64_t session_source_count(const struct source *s, enum decode_end end)
{
	return own_const(s->self)->counts[end];
}

uint64_t session_source_later(const struct source *s)
{
	return own_const(s->self)->later;
}

/* ---- life */

static bool is_wanted(const struct agent_conf *cf)
{
	for (size_t i = 0; i < cf->watch.n; i++)
		if (agent_conf_watch(cf, i)->decode)
			return true;
	return false;
}

static char *path_below(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return mem_dup_text(path);
}

int session_source_open(struct source *out, const struct agent_conf *cf, struct identities *identities, const char *proc,
	struct err *e)
{
	struct session_source *s;
	int rc;

	if (!is_wanted(cf))
		return OK;
	s = mem_get(sizeof(*s));
	s->magic = SESSION_MAGIC;
	s->conf = cf;
	s->identities = identities;
	s->known.cap = KNOWN_MAX;
	s->proc = mem_dup_text(proc);
	s->dir = path_below(cf->state_dir, "decode");
	s->lock = path_below(cf->state_dir, "decode.lock");
	s->decode = decode_settings_of(&cf->decode, s->lock);
	rc = errands_start(&s->errands, "session", KNOWN_MAX, e);
	if (rc < 0) {
		on_close(s);
		return rc;
	}
	*out = (struct source){ &session_source_type, s };
	return OK;
}
