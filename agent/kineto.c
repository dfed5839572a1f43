#include "agent/kineto.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/identity.h"
#include "agent/keep.h"
#include "agent/worker.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/must.h"
#include "base/vec.h"

#define DEFAULT_DIR "/tmp"
enum { CAPTURES_MAX = 4096, ORDERS_AT_ONCE = 64, NOTES_AT_ONCE = 256, KINETO_MAGIC = 0x4b494e45 };
/* An earlier agent left a window or two of a process; whoever puts more there must not take the room that others need. */
enum { ADOPT_NAMES_MAX = 100000, ADOPT_MAX = 16, ADOPTED_MAX = CAPTURES_MAX / 2 };

static const int64_t look_every_ns = 250 * NS_PER_MS, sockets_every_ns = 5 * NS_PER_S;
/* A file that is being written is waited for, while it grows, and not longer than this. */
static const int64_t growing_ns = 10 * NS_PER_S, writing_max_ns = 5 * NS_PER_MIN;
/* So long after it was given up, a file may still come. */
static const int64_t late_max_ns = NS_PER_HOUR;
static const int64_t forget_ns = 2 * NS_PER_MIN; /* a process that is not seen */

static const struct {
	const char *word, *cure; /* NULL: nothing is wrong */
} ends[] = {
	[KINETO_TAKEN] = { "taken", NULL },
	[KINETO_NO_DEVICE] = { "no_device", "capture broken: no device events; let the job run one empty profile when it "
		"starts: with torch.profiler.profile(): pass" },
	[KINETO_LATE] = { "late", "raise kineto.timeout" },
	[KINETO_EMPTY] = { "empty", "no ops in the window: the process was idle or still loading; raise capture.min_age "
		"or capture.duration" },
	[KINETO_CANCELLED] = { "cancelled", "the job started a profile of its own; nothing to mend, the next slot comes" },
	[KINETO_UNWRITTEN] = { "unwritten", "nothing was written: look for libkineto's warnings in the job's log, for "
		"/tmp/libkineto_activities_PID.json, and whether the folder is writable for the job; with "
		"capture.iterations the job may not have reached one in kineto.timeout" },
	[KINETO_UNFINISHED] = { "unfinished", "writing stopped half-way: is the job's disk full" },
	[KINETO_DIED] = { "died", "the process ended before its window did; if it crashed at its end, let it begin a "
		"profile of its own there, as doc/capture.md shows" },
	[KINETO_FOREIGN] = { "foreign", "the trace belongs to another user than the process, and was left alone" },
	[KINETO_BAD] = { "bad", "the trace cannot be read; it is in the agent's folder of bad traces" },
};
_Static_assert(COUNT(ends) == KINETO_ENDS, "name every end");

const char *kineto_end_word(enum kineto_end end)
{
	return ends[end].word;
}

enum capture_state { CAPTURE_ASKED, CAPTURE_GIVEN_UP, CAPTURE_FINISHED, CAPTURE_OUT };

struct capture {
	enum capture_state state;
	uint64_t key;
	uint64_t order; /* of the plan; 0: it has ended there */
	struct worker who;
	struct identity id;
	struct label labels[IDENTITY_LABELS_MAX];
	uid_t uid;
	int64_t deadline_ns; /* mono */
	int64_t due_ns;		       /* when to look next, or to hand it out */
	bool adopted;		       /* asked for by the agent before this one */
	bool was_late;
	unsigned tries;
	char path[PATH_MAX]; /* as we reach it */
};

struct proc { /* that polls, as the plan knows it */
	uint64_t address, seat; /* seat: the plan's id; 0: the plan is full */
	int64_t seen_ns;
	struct plan_worker w;
};

VEC(captures, struct capture *);
VEC(procs, struct proc);

struct kineto {
	uint32_t magic;
	struct kineto_poll *poll;
	struct metrics *metrics;
	struct kineto_sock socks[KINETO_SOCKETS_MAX];
	char dirs[KINETO_SOCKETS_MAX][KINETO_SOCKET_DIR_MAX + 1];
	bool missing_said[KINETO_SOCKETS_MAX];
	size_t n_socks;
	int64_t sockets_ns; /* when to look at them next */
	char *name, *service, *deploy, *activities, *custom, *proc, *bad_dir;
	size_t keep_files;
	int64_t timeout_ns;
	bool env_said, paused;
	struct plan *plan;
	struct identities *identities; /* NULL: the process and the configuration alone say who it is */
	struct procs procs;
	struct captures captures;
	uint64_t next_key;
	uint64_t counts[KINETO_ENDS];
};

static struct kineto *own(void *self)
{
	return MAGIC_CHECK((struct kineto *)self, KINETO_MAGIC);
}

static const struct kineto *own_const(const void *self)
{
	return MAGIC_CHECK((const struct kineto *)self, KINETO_MAGIC);
}

/* ---- configuration */

static int read_uids(const struct conf_texts *texts, struct kineto_poll_settings *out, struct err *e)
{
	if (texts->n > KINETO_UIDS_MAX)
		return err_set(e, E_USAGE, "kineto.uids: want %d at most", KINETO_UIDS_MAX);
	for (size_t i = 0; i < texts->n; i++) {
		uint64_t uid;

		if (str_to_u64(str_of(texts->v[i]), &uid) < 0 || uid >= UINT32_MAX)
			return err_set(e, E_USAGE, "kineto.uids: \"%s\": want the number of a user", texts->v[i]);
		out->uids[out->n_uids++] = (uid_t)uid;
	}
	return OK;
}

static int check_dirs(const struct conf_texts *dirs, struct err *e)
{
	if (dirs->n > KINETO_SOCKETS_MAX - 1)
		return err_set(e, E_USAGE, "kineto.socket_dirs: want %d at most", KINETO_SOCKETS_MAX - 1);
	for (size_t i = 0; i < dirs->n; i++)
		if (dirs->v[i][0] != '/' || strlen(dirs->v[i]) > KINETO_SOCKET_DIR_MAX)
			return err_set(e, E_USAGE, "kineto.socket_dirs: \"%s\": want an absolute path of %d bytes at most, as "
				"it stands in the job's KINETO_IPC_SOCKET_DIR", dirs->v[i], KINETO_SOCKET_DIR_MAX);
	return OK;
}

/* Whatever can be wrong with a request for a window is found now and not at a poll. */
static int check_shape(const struct kineto_shape *s, const struct plan_settings *plan, struct err *e)
{
	const struct kineto_window w = { .dir = STR(DEFAULT_DIR), .stem = STR(KINETO_STEM), .activities = str_of(s->activities),
		.custom = str_of(s->custom), .duration_ns = plan->duration_ns, .iterations = plan->iterations,
		.roundup = s->roundup };
	struct buf b;
	int rc;

	buf_init(&b, KINETO_TEXT_MAX);
	rc = kineto_config_write(&w, &b, e);
	buf_fini(&b);
	return rc < 0 ? err_add(e, "kineto") : OK;
}

int kineto_settings(const struct kineto_conf *cf, const struct plan_settings *plan, struct kineto_poll_settings *out,
	struct err *e)
{
	int rc;

	*out = (struct kineto_poll_settings){
		.shape = { cf->activities, cf->custom, cf->roundup },
	};
	rc = read_uids(&cf->uids, out, e);
	if (rc == OK)
		rc = check_dirs(&cf->socket_dirs, e);
	return rc == OK ? check_shape(&out->shape, plan, e) : rc;
}

/* ---- sockets */

static void say_no_socket(struct kineto *k, size_t i, const struct err *e)
{
	if (!k->missing_said[i])
		log_error("kineto.no-socket", "err=\"%s\" retry_s=%" PRId64, e->text, sockets_every_ns / NS_PER_S);
	k->missing_said[i] = true;
}

/* The poll thread gets an fd of its own, and closes the one that it had. */
static int hand_over(struct kineto *k, size_t i, struct err *e)
{
	struct kineto_note n = { .kind = KINETO_NOTE_SOCKET, .index = i };

	n.fd = fcntl(k->socks[i].fd, F_DUPFD_CLOEXEC, 0);
	if (n.fd < 0)
		return err_sys(e, "socket");
	must(str_copy_to(str_of(k->dirs[i]), n.dir, sizeof(n.dir)));
	kineto_poll_tell(k->poll, &n);
	return OK;
}

static void open_sockets(struct kineto *k, int64_t now_ns)
{
	k->sockets_ns = now_ns + sockets_every_ns;
	for (size_t i = 0; i < k->n_socks; i++) {
		struct err e = { 0 };

		if (k->socks[i].fd >= 0 && kineto_sock_stolen(&k->socks[i])) {
			log_error("kineto.stolen", "path=\"%s\" action=\"bound again\"", k->socks[i].path);
			kineto_sock_close(&k->socks[i]);
		}
		if (k->socks[i].fd >= 0)
			continue;
		if (kineto_sock_open(&k->socks[i], k->dirs[i], k->name, &e) < 0 || hand_over(k, i, &e) < 0) {
			kineto_sock_close(&k->socks[i]);
			say_no_socket(k, i, &e);
		} else {
			k->missing_said[i] = false;
			log_info("kineto.listening", "dir=\"%s\" name=\"%s\"", k->dirs[i], k->name);
		}
	}
}

/* ---- captures: windows on their way */

static struct capture *find(const struct kineto *k, uint64_t key)
{
	vec_each(w, &k->captures)
		if ((*w)->key == key)
			return *w;
	must(false && "a window that nobody has");
	return NULL;
}

static bool path_known(const struct kineto *k, const char *path)
{
	vec_each(w, &k->captures)
		if (strcmp((*w)->path, path) == 0)
			return true;
	return false;
}

static void drop(struct kineto *k, struct capture *w)
{
	vec_each(p, &k->captures)
		if (*p == w) {
			*p = k->captures.v[--k->captures.n];
			break;
		}
	mem_free(w);
}

static void tell_over(struct kineto *k, pid_t pid)
{
	kineto_poll_tell(k->poll, &(struct kineto_note){ .kind = KINETO_NOTE_OVER, .pid = pid });
}

/* Counts, and says what is wrong with its cure. */
static void say_end(struct kineto *k, const struct capture *w, enum kineto_end end, const char *why)
{
	k->counts[end]++;
	if (ends[end].cure == NULL)
		log_debug("kineto.window", "pid=%ld service=\"%s\" end=%s", (long)w->who.pid, w->id.service, ends[end].word);
	else
		log_warn("kineto.window", "pid=%ld service=\"%s\" end=%s file=\"%s\"%s%s%s cure=\"%s\"",
			(long)w->who.pid, w->id.service, ends[end].word, w->path, why == NULL ? "" : " reason=\"",
			why == NULL ? "" : why, why == NULL ? "" : "\"", ends[end].cure);
}

static struct capture *add(struct kineto *k, const struct worker *who, uid_t uid, const char *path, int64_t now_ns)
{
	const struct identity_section section = { k->service, k->deploy, "" };
	struct capture **place = vec_push(&k->captures), *w;

	if (place == NULL)
		return NULL;
	w = *place = mem_get(sizeof(*w));
	*w = (struct capture){ .key = ++k->next_key, .who = *who, .uid = uid, .due_ns = now_ns, .deadline_ns = now_ns };
	identities_read(k->identities, &w->id, who, &section, now_ns);
	if (snprintf(w->path, sizeof(w->path), "%s%s", who->root, path) >= (int)sizeof(w->path)) {
		drop(k, w);
		return NULL;
	}
	return w;
}

/* The plan hears of it once; what comes late it does not. */
static void end_order(struct kineto *k, struct capture *w, enum kineto_end end, int64_t now_ns)
{
	bool taken = end == KINETO_TAKEN || end == KINETO_NO_DEVICE;

	plan_end(k->plan, w->order, taken, ends[end].word, now_ns);
	w->order = 0;
}

/* ---- who is it */

static const char *trace_dir(const struct worker *who)
{
	return kineto_config_dir_ok(str_of(who->trace_dir)) ? who->trace_dir : DEFAULT_DIR;
}

/* What an earlier agent asked this process for and was not there to take. */
static void adopt(struct kineto *k, const struct worker *who, const struct kineto_note *n, int64_t now_ns)
{
	char dir[PATH_MAX], path[PATH_MAX], suffix[32];
	int left = ADOPT_NAMES_MAX, taken = 0;
	DIR *d;

	snprintf(suffix, sizeof(suffix), "_%" PRId32 ".json", n->self);
	snprintf(dir, sizeof(dir), "%s%s", who->root, trace_dir(who));
	d = opendir(dir);
	for (struct dirent *ent; d != NULL && left-- > 0 && (ent = readdir(d)) != NULL;) {
		struct capture *w;

		if (!str_has_prefix(str_of(ent->d_name), STR(KINETO_STEM)) ||
			!str_has_suffix(str_of(ent->d_name), str_of(suffix)))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, ent->d_name) >= (int)sizeof(path) || path_known(k, path))
			continue;
		w = taken++ < ADOPT_MAX && k->captures.n < ADOPTED_MAX ? add(k, who, n->uid, path + strlen(who->root), now_ns) : NULL;
		if (w == NULL)
			break;
		w->adopted = true;
		w->state = CAPTURE_GIVEN_UP;
	}
	if (d != NULL)
		closedir(d);
}

static struct proc *find_proc(const struct kineto *k, pid_t pid)
{
	vec_each(p, &k->procs)
		if (p->w.pid == pid)
			return p;
	return NULL;
}

static void drop_proc(struct kineto *k, struct proc *p)
{
	*p = k->procs.v[--k->procs.n];
}

static void tell_plan(struct kineto *k, struct proc *p, bool idle, int64_t now_ns, int64_t wall_ns)
{
	p->w.idle = idle;
	p->seen_ns = now_ns;
	p->seat = plan_seen(k->plan, &p->w, now_ns, wall_ns);
}

static void name_proc(struct proc *p, const struct identity *id)
{
	str_copy_to(str_of(id->service), p->w.service, sizeof(p->w.service));
	str_copy_to(str_of(id->deploy), p->w.deploy, sizeof(p->w.deploy));
	str_copy_to(str_of(id->worker), p->w.worker, sizeof(p->w.worker));
}

/* The same pid with another address is another process, or another life of it. */
static void know(struct kineto *k, const struct worker *who, const struct kineto_note *n, int64_t now_ns, int64_t wall_ns)
{
	const struct identity_section section = { k->service, k->deploy, "" };
	struct proc *p = find_proc(k, n->pid);
	struct identity id;

	if (p != NULL && p->address != n->address)
		plan_gone(k->plan, p->seat);
	if (p == NULL)
		p = vec_push(&k->procs);
	if (p == NULL)
		return; /* as many as the poll thread keeps */
	*p = (struct proc){ .address = n->address };
	p->w = (struct plan_worker){ .source = kineto_source.name, .pid = n->pid, .born_ns = n->mono_ns - who->age_ns };
	snprintf(p->w.key, sizeof(p->w.key), "pid %ld", (long)n->pid);
	identities_read(k->identities, &id, who, &section, now_ns);
	name_proc(p, &id);
	tell_plan(k, p, n->idle, now_ns, wall_ns);
}

static void take_seen(struct kineto *k, const struct kineto_note *n, int64_t now_ns, int64_t wall_ns)
{
	struct proc *p = find_proc(k, n->pid);

	if (p != NULL && p->address == n->address)
		tell_plan(k, p, n->idle, now_ns, wall_ns);
}

/* The plan has forgotten them by then. */
static void forget_procs(struct kineto *k, int64_t now_ns)
{
	for (size_t i = k->procs.n; i-- > 0;)
		if (now_ns - k->procs.v[i].seen_ns > forget_ns)
			drop_proc(k, &k->procs.v[i]);
}

static void take_new(struct kineto *k, const struct kineto_note *n, int64_t now_ns, int64_t wall_ns)
{
	struct kineto_note known = { .kind = KINETO_NOTE_KNOWN, .pid = n->pid, .address = n->address };
	struct worker who;
	struct err e = { 0 };

	if (worker_read(&who, k->proc, n->pid, &e) < 0) {
		log_debug("kineto.gone", "pid=%ld err=\"%s\"", (long)n->pid, e.text);
		return; /* its next poll asks again */
	}
	if (!who.env_read && !k->env_said) {
		log_warn("kineto.environment", "pid=%ld cure=\"run the agent as root or with CAP_SYS_PTRACE; until then service "
			"and deploy are what the configuration says, and traces go to " DEFAULT_DIR "\"", (long)n->pid);
		k->env_said = true;
	}
	adopt(k, &who, n, now_ns);
	must(str_copy_to(str_of(trace_dir(&who)), known.dir, sizeof(known.dir)));
	kineto_poll_tell(k->poll, &known);
	know(k, &who, n, now_ns, wall_ns);
	log_debug("kineto.process", "pid=%ld uid=%ld job=%" PRId64 " service=\"%s\" dir=\"%s\" root=\"%s\"", (long)n->pid,
		(long)n->uid, n->job, who.service, known.dir, who.root);
}

static void take_given(struct kineto *k, const struct kineto_note *n)
{
	struct worker who = { .pid = n->pid };
	struct capture *w;

	if (worker_read(&who, k->proc, n->pid, NULL) < 0) /* it may open its device late: this is the moment that counts */
		who.born_ticks = 0;
	w = add(k, &who, n->uid, n->path, n->mono_ns);
	if (w == NULL) {
		tell_over(k, n->pid);
		plan_end(k->plan, n->grant.order, false, "untracked", n->mono_ns);
		return;
	}
	if (find_proc(k, n->pid) != NULL) /* neuron-ls knows it by now */
		name_proc(find_proc(k, n->pid), &w->id);
	w->order = n->grant.order;
	w->deadline_ns += n->grant.duration_ns + k->timeout_ns;
	log_debug("kineto.asked", "pid=%ld file=\"%s\"", (long)n->pid, w->path);
}

/* The rest at the next turn of the loop: others have to get theirs, too. */
static void take_notes(struct kineto *k, int64_t now_ns, int64_t wall_ns)
{
	struct kineto_note n;

	for (int i = 0; i < NOTES_AT_ONCE && kineto_poll_fetch(k->poll, &n); i++)
		switch (n.kind) {
		case KINETO_NOTE_NEW: take_new(k, &n, now_ns, wall_ns); break;
		case KINETO_NOTE_SEEN: take_seen(k, &n, now_ns, wall_ns); break;
		case KINETO_NOTE_UNSENT: plan_unsent(k->plan, n.grant.order, now_ns); break;
		case KINETO_NOTE_GIVEN: take_given(k, &n); break;
		case KINETO_NOTE_STRANGE:
			log_error("kineto.strange", "pid=%ld its_dir=\"%s\" our_dir=\"%s\" action=\"no answer, which would end the "
				"process\" cure=\"mount the folder under the same path on both sides, and write "
				"KINETO_IPC_SOCKET_DIR and kineto.socket_dirs alike\"", (long)n.pid, n.path, n.dir);
			break;
		case KINETO_NOTE_KNOWN:
		case KINETO_NOTE_GRANT:
		case KINETO_NOTE_REVOKE:
		case KINETO_NOTE_OVER:
		case KINETO_NOTE_SOCKET: must(false && "a note of our own came back");
		}
}

/* ---- whose turn it is */

static const struct proc *proc_of_seat(const struct kineto *k, uint64_t seat)
{
	vec_each(p, &k->procs)
		if (p->seat == seat)
			return p;
	return NULL;
}

static void grant(struct kineto *k, const struct plan_order *o, int64_t now_ns)
{
	const struct proc *p = proc_of_seat(k, o->worker);

	if (p == NULL) {
		plan_gone(k->plan, o->worker);
		plan_unsent(k->plan, o->id, now_ns);
		return;
	}
	kineto_poll_tell(k->poll, &(struct kineto_note){ .kind = KINETO_NOTE_GRANT, .pid = p->w.pid, .address = p->address,
		.grant = { o->id, o->duration_ns, o->iterations, o->expires_ns } });
}

/* A kill switch stops what was granted and has not begun, too. */
static void heed_pause(struct kineto *k)
{
	bool paused = plan_paused(k->plan);

	if (paused && !k->paused)
		kineto_poll_tell(k->poll, &(struct kineto_note){ .kind = KINETO_NOTE_REVOKE });
	k->paused = paused;
}

static void grant_orders(struct kineto *k, int64_t now_ns, int64_t wall_ns)
{
	struct plan_order o;

	heed_pause(k);
	for (int n = 0; n < ORDERS_AT_ONCE && plan_next(k->plan, kineto_source.name, now_ns, wall_ns, &o); n++)
		grant(k, &o, now_ns);
}

/* ---- is it there */

static bool tmp_path(const struct capture *w, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s.tmp", w->path) < PATH_MAX;
}

/* What libkineto leaves behind tells what became of the window. */
static enum kineto_end judge_missing(const struct kineto *k, const struct capture *w, bool *wait)
{
	char tmp[PATH_MAX];
	struct stat st;
	bool there = tmp_path(w, tmp) && lstat(tmp, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == w->uid;

	*wait = false;
	if (!worker_lives(&w->who, k->proc))
		return KINETO_DIED;
	if (!there)
		return KINETO_UNWRITTEN;
	if (st.st_size == 0)
		return KINETO_CANCELLED;
	*wait = clock_wall_ns() - file_mtime_ns(&st) < growing_ns;
	return KINETO_UNFINISHED;
}

static void remove_tmp(const struct capture *w)
{
	char tmp[PATH_MAX];
	struct stat st;

	if (tmp_path(w, tmp) && lstat(tmp, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == w->uid)
		unlink(tmp);
}

static void give_up(struct kineto *k, struct capture *w, enum kineto_end end, int64_t now_ns)
{
	say_end(k, w, end, NULL);
	tell_over(k, w->who.pid);
	end_order(k, w, end, now_ns);
	if (end != KINETO_UNWRITTEN)
		remove_tmp(w);
	if (end == KINETO_DIED) {
		drop(k, w);
		return;
	}
	w->state = CAPTURE_GIVEN_UP;
	w->due_ns = now_ns + look_every_ns;
}

static void found(struct kineto *k, struct capture *w, const struct stat *st, int64_t now_ns)
{
	if (w->state == CAPTURE_ASKED)
		tell_over(k, w->who.pid);
	plan_over(k->plan, w->order);
	if (st->st_uid != w->uid) {
		say_end(k, w, KINETO_FOREIGN, NULL);
		end_order(k, w, KINETO_FOREIGN, now_ns);
		drop(k, w);
		return;
	}
	w->was_late = w->state == CAPTURE_GIVEN_UP && !w->adopted;
	w->state = CAPTURE_FINISHED;
	w->due_ns = now_ns;
}

static void not_there(struct kineto *k, struct capture *w, int64_t now_ns)
{
	bool wait;
	enum kineto_end end;

	w->due_ns = now_ns + look_every_ns;
	if (w->state == CAPTURE_GIVEN_UP) {
		w->due_ns = now_ns + sockets_every_ns;
		if (now_ns - w->deadline_ns > late_max_ns || w->adopted) {
			remove_tmp(w);
			drop(k, w);
		}
		return;
	}
	end = judge_missing(k, w, &wait);
	if (end == KINETO_DIED || (now_ns >= w->deadline_ns && (!wait || now_ns - w->deadline_ns > writing_max_ns)))
		give_up(k, w, end, now_ns);
}

static void look_at(struct kineto *k, struct capture *w, int64_t now_ns)
{
	struct stat st;

	if ((w->state != CAPTURE_ASKED && w->state != CAPTURE_GIVEN_UP) || w->due_ns > now_ns)
		return;
	if (lstat(w->path, &st) == 0 && S_ISREG(st.st_mode))
		found(k, w, &st, now_ns);
	else
		not_there(k, w, now_ns);
}

static void on_look(void *self, int64_t now_ns, int64_t wall_ns)
{
	struct kineto *k = own(self);

	if (now_ns >= k->sockets_ns) {
		open_sockets(k, now_ns);
		forget_procs(k, now_ns);
	}
	take_notes(k, now_ns, wall_ns);
	for (size_t i = k->captures.n; i-- > 0;) /* backwards: the last one takes the place of one that is dropped */
		look_at(k, k->captures.v[i], now_ns);
	grant_orders(k, now_ns, wall_ns);
}

static int64_t on_wake(const void *self, bool busy)
{
	const struct kineto *k = own_const(self);
	int64_t wake = k->sockets_ns;

	vec_each(w, &k->captures)
		if ((*w)->state != CAPTURE_OUT && ((*w)->state != CAPTURE_FINISHED || !busy) && (*w)->due_ns < wake)
			wake = (*w)->due_ns;
	return wake;
}

/* ---- for whoever reads them */

static bool stat_file(const struct capture *w, struct watch_file *out)
{
	struct stat st;

	*out = (struct watch_file){ .tries = w->tries };
	if (lstat(w->path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != w->uid)
		return false;
	memcpy(out->path, w->path, sizeof(out->path));
	watch_take_stat(out, &st);
	return true;
}

static struct capture *first_finished(const struct kineto *k, int64_t now_ns)
{
	struct capture *first = NULL;

	vec_each(w, &k->captures)
		if ((*w)->state == CAPTURE_FINISHED && (*w)->due_ns <= now_ns && (first == NULL || (*w)->key < first->key))
			first = *w;
	return first;
}

static bool on_next(void *self, int64_t now_ns, struct source_trace *out)
{
	struct kineto *k = own(self);
	struct capture *w;

	while ((w = first_finished(k, now_ns)) != NULL) {
		*out = (struct source_trace){ .key = w->key, .order = w->order, .service = str_of(w->id.service),
			.deploy = str_of(w->id.deploy), .worker = str_of(w->id.worker), .labels = w->labels,
			.n_labels = identity_labels(&w->id, w->labels) };
		if (stat_file(w, &out->file)) {
			w->state = CAPTURE_OUT;
			return true;
		}
		say_end(k, w, KINETO_UNFINISHED, "it was removed");
		end_order(k, w, KINETO_UNFINISHED, now_ns);
		drop(k, w);
	}
	return false;
}

static void remove_trace(const struct capture *w)
{
	if (unlink(w->path) < 0 && errno != ENOENT)
		log_error("kineto.stuck", "file=\"%s\" err=\"%s\" cure=\"the agent needs the right to write in that folder\"",
			w->path, strerror(errno));
	crash_point("kineto.removed");
}

static void take(struct kineto *k, struct capture *w, bool has_device, int64_t now_ns)
{
	bool lacks_device = w->who.owns_device && !has_device;

	say_end(k, w, KINETO_TAKEN, NULL);
	if (lacks_device)
		say_end(k, w, KINETO_NO_DEVICE, NULL);
	if (w->was_late)
		say_end(k, w, KINETO_LATE, NULL);
	end_order(k, w, lacks_device ? KINETO_NO_DEVICE : KINETO_TAKEN, now_ns);
}

static void put_aside(struct kineto *k, const struct capture *w)
{
	if (keep_move(w->path, k->bad_dir, "", NULL) < 0) /* on another file system, perhaps */
		remove_trace(w);
	else
		keep_trim(k->bad_dir, k->keep_files);
}

static void come_again(struct capture *w, int64_t due_ns)
{
	w->state = CAPTURE_FINISHED;
	w->tries++;
	w->due_ns = due_ns;
}

static void on_back(void *self, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct kineto *k = own(self);
	struct capture *w = find(k, key);

	must(w->state == CAPTURE_OUT);
	switch (r->end) {
	case SOURCE_KEPT:
		take(k, w, r->has_device, now_ns);
		remove_trace(w);
		break;
	case SOURCE_EMPTY:
		say_end(k, w, KINETO_EMPTY, NULL);
		end_order(k, w, KINETO_EMPTY, now_ns);
		remove_trace(w);
		break;
	case SOURCE_BAD:
		say_end(k, w, KINETO_BAD, r->why);
		end_order(k, w, KINETO_BAD, now_ns);
		put_aside(k, w);
		break;
	case SOURCE_AGAIN: come_again(w, now_ns + r->delay_ns); return;
	case SOURCE_ENDS: must(false && "no end of a trace");
	}
	drop(k, w);
}

uint64_t kineto_count(const struct kineto *k, enum kineto_end end)
{
	return k->counts[end];
}

const struct kineto_poll_counts *kineto_counts(const struct kineto *k)
{
	return kineto_poll_counts(k->poll);
}

/* ---- life */

static void copy_conf(struct kineto *k, const struct kineto_conf *cf)
{
	k->name = mem_dup_text(cf->socket);
	k->service = mem_dup_text(cf->service);
	k->deploy = mem_dup_text(cf->deploy);
	k->activities = mem_dup_text(cf->activities);
	k->custom = mem_dup_text(cf->custom);
	k->timeout_ns = cf->timeout_ns;
	k->n_socks = 1 + cf->socket_dirs.n;
	for (size_t i = 0; i < KINETO_SOCKETS_MAX; i++)
		k->socks[i].fd = -1;
	for (size_t i = 0; i < cf->socket_dirs.n; i++)
		must(str_copy_to(str_of(cf->socket_dirs.v[i]), k->dirs[i + 1], sizeof(k->dirs[0])));
}

int kineto_open(struct kineto **out, const struct kineto_conf *cf, struct plan *plan, const char *proc,
	const char *bad_dir, size_t keep_files, struct err *e)
{
	struct kineto *k;
	struct kineto_poll_settings s;
	int rc = kineto_settings(cf, plan_get(plan), &s, e);

	if (rc < 0)
		return rc;
	k = mem_get(sizeof(*k));
	k->magic = KINETO_MAGIC;
	copy_conf(k, cf);
	k->plan = plan;
	k->procs.cap = KINETO_PROCS_MAX;
	k->captures.cap = CAPTURES_MAX;
	k->proc = mem_dup_text(proc);
	k->bad_dir = mem_dup_text(bad_dir);
	k->keep_files = keep_files;
	k->metrics = metrics_new();
	s.shape.activities = k->activities;
	s.shape.custom = k->custom;
	rc = kineto_poll_start(&k->poll, &s, k->metrics, e);
	if (rc < 0) {
		kineto_close(k);
		return rc;
	}
	open_sockets(k, clock_mono_ns());
	*out = k;
	return OK;
}

void kineto_identify(struct kineto *k, struct identities *ids)
{
	k->identities = ids;
}

void kineto_close(struct kineto *k)
{
	if (k == NULL)
		return;
	kineto_poll_stop(k->poll);
	for (size_t i = 0; i < k->n_socks; i++)
		kineto_sock_close(&k->socks[i]);
	vec_each(w, &k->captures)
		mem_free(*w);
	vec_fini(&k->captures);
	vec_fini(&k->procs);
	metrics_free(k->metrics);
	mem_free(k->name);
	mem_free(k->service);
	mem_free(k->deploy);
	mem_free(k->activities);
	mem_free(k->custom);
	mem_free(k->proc);
	mem_free(k->bad_dir);
	k->magic = MAGIC_DEAD;
	mem_free(k);
}

/* ---- as the agent's loop sees it */

static void on_close(void *self)
{
	kineto_close(own(self));
}

static int on_fd(void *self)
{
	return kineto_poll_fd(own(self)->poll);
}

static void on_status(const void *self)
{
	const struct kineto *k = own_const(self);
	const struct kineto_poll_counts *c = kineto_counts(k);
	struct buf b;

	buf_init(&b, 2048);
	for (size_t i = 0; i < KINETO_ENDS; i++)
		buf_fmt(&b, " %s=%" PRIu64, ends[i].word, k->counts[i]);
	log_info("kineto.status", "processes=%.0f polls=%.0f asked=%.0f late_polls=%.0f lost_answers=%.0f bad_polls=%.0f strange=%.0f "
		"refused=%.0f no_pid=%.0f slowest_ms=%.1f%.*s", metric_value(c->procs), metric_value(c->polls),
		metric_value(c->given), metric_value(c->answers_late), metric_value(c->answers_lost),
		metric_value(c->bad), metric_value(c->strange), metric_value(c->refused), metric_value(c->no_pid),
		metric_value(c->slowest_ns) / 1e6, STR_ARG(buf_view(&b)));
	buf_fini(&b);
}

const struct source_type kineto_source = {
	.name = "kineto",
	.close = on_close,
	.fd = on_fd,
	.look = on_look,
	.wake_ns = on_wake,
	.next = on_next,
	.back = on_back,
	.status = on_status,
};
