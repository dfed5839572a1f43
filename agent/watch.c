#include "agent/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/keep.h"
#include "agent/marker.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "trace/sidecar.h"

enum item_state { ITEM_CHANGING, ITEM_FINISHED, ITEM_OUT };

struct item {
	size_t folder;
	char *name;
	enum item_state state;
	dev_t dev;
	ino_t ino;
	off_t size;
	int64_t mtime_ns;
	int64_t due_ns; /* CHANGING: when to look whether it has changed; FINISHED: not before then */
	unsigned tries;
};

VEC(items, struct item);

struct folder {
	int wd; /* of inotify, -1 while the folder is not there */
	bool missing_said;
};

struct watch {
	int fd;
	const struct watch_folder *conf;
	struct folder *folders;
	size_t n_folders;
	int64_t rescan_ns, next_rescan_ns;
	struct items items; /* in order of arrival */
	bool scanned, too_many;
	bool paused;
};

/* A sidecar without its trace for so long goes, too, whoever left it (what a kill leaves is found sooner: agent/marker.h).
 * Some jobs write it long before the trace, so this is no matter of minutes. */
static const int64_t orphan_ns = NS_PER_DAY;

static bool is_sidecar(struct str name)
{
	return str_has_suffix(name, STR(SIDECAR_SUFFIX));
}

static bool is_trace_name(struct str name)
{
	return !str_empty(name) && name.p[0] != '.' && !is_sidecar(name) && !str_has_suffix(name, STR(".tmp")) &&
	       !str_has_suffix(name, STR(WATCH_STEPS));
}

static bool join_path(const struct watch *w, size_t folder, const char *name, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/%s", w->conf[folder].dir, name) < PATH_MAX;
}

/* Takes over what the file is now; false when it is gone or no plain file any more. *changed: since the last look. */
static bool item_stat(const struct watch *w, struct item *it, bool *changed)
{
	char path[PATH_MAX];
	struct stat st;

	if (!join_path(w, it->folder, it->name, path) || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*changed = st.st_dev != it->dev || st.st_ino != it->ino || st.st_size != it->size ||
		   file_mtime_ns(&st) != it->mtime_ns;
	it->dev = st.st_dev;
	it->ino = st.st_ino;
	it->size = st.st_size;
	it->mtime_ns = file_mtime_ns(&st);
	return true;
}

static struct item *item_find(struct watch *w, size_t folder, const char *name)
{
	vec_each(it, &w->items)
		if (it->folder == folder && strcmp(it->name, name) == 0)
			return it;
	return NULL;
}

static void item_drop(struct watch *w, struct item *it)
{
	size_t behind = (size_t)(w->items.v + w->items.n - it) - 1;

	mem_free(it->name);
	memmove(it, it + 1, behind * sizeof(*it));
	w->items.n--;
}

static struct item *item_add(struct watch *w, size_t folder, const char *name)
{
	struct item *it = vec_push(&w->items);

	if (it == NULL) {
		w->too_many = true;
		return NULL;
	}
	it->folder = folder;
	it->name = mem_dup_text(name);
	return it;
}

static void item_changing(const struct watch *w, struct item *it, int64_t now_ns)
{
	it->state = ITEM_CHANGING;
	it->due_ns = now_ns + w->conf[it->folder].stable_ns;
}

/* A file that was not known, or that somebody touched. */
static void item_seen(struct watch *w, size_t folder, const char *name, bool moved_in, int64_t now_ns)
{
	struct item *it = item_find(w, folder, name);
	bool changed;

	if (it == NULL)
		it = item_add(w, folder, name);
	if (it == NULL || it->state == ITEM_OUT)
		return; /* out: whoever gives it back finds that it is another file now */
	if (!item_stat(w, it, &changed)) {
		item_drop(w, it);
		return;
	}
	item_changing(w, it, now_ns);
	if (moved_in) {
		it->state = ITEM_FINISHED;
		it->due_ns = now_ns;
	}
}

/* ---- rescan */

static void remove_orphan(const struct watch *w, size_t folder, const char *sidecar, int64_t now_wall_ns)
{
	char path[PATH_MAX];
	struct stat st;

	if (!join_path(w, folder, sidecar, path) || lstat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
		now_wall_ns - file_mtime_ns(&st) < orphan_ns)
		return;
	path[strlen(path) - strlen(SIDECAR_SUFFIX)] = '\0';
	if (lstat(path, &st) == 0 || errno != ENOENT)
		return;
	join_path(w, folder, sidecar, path);
	if (unlink(path) == 0)
		log_info("watch.orphan", "file=\"%s\" removed=yes", path);
}

static void scan_entry(struct watch *w, size_t folder, const struct map *known, const char *name, int64_t now_ns)
{
	struct item *it;
	bool changed;

	if (marker_is(str_of(name)) && marker_settle(w->conf[folder].dir, name, SIDECAR_SUFFIX))
		log_info("watch.orphan", "marker=\"%s\" dir=\"%s\" removed=yes", name, w->conf[folder].dir);
	if (is_sidecar(str_of(name)))
		remove_orphan(w, folder, name, clock_wall_ns());
	if (!is_trace_name(str_of(name)) || map_get(known, str_of(name)) != NULL)
		return;
	it = item_add(w, folder, name);
	if (it == NULL)
		return;
	if (item_stat(w, it, &changed))
		item_changing(w, it, now_ns);
	else
		item_drop(w, it);
}

static void scan_folder(struct watch *w, size_t folder, int64_t now_ns)
{
	DIR *d = opendir(w->conf[folder].dir);
	struct map known;

	if (d == NULL) {
		if (!w->folders[folder].missing_said)
			log_warn("watch.missing", "dir=\"%s\" err=\"%s\"", w->conf[folder].dir, strerror(errno));
		w->folders[folder].missing_said = true;
		return;
	}
	w->folders[folder].missing_said = false;
	map_init(&known, WATCH_FILES_MAX);
	vec_each(it, &w->items)
		if (it->folder == folder)
			map_put(&known, str_of(it->name), 0, NULL);
	for (struct dirent *ent; (ent = readdir(d)) != NULL;)
		scan_entry(w, folder, &known, ent->d_name, now_ns);
	map_fini(&known);
	closedir(d);
}

/* Asked for each time: the path may lead to another folder by now (renamed and made anew, mounted over), which the watch on
 * the old one does not tell. */
static void watch_folder_anew(struct watch *w, size_t i)
{
	int wd = inotify_add_watch(w->fd, w->conf[i].dir, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR);

	if (w->folders[i].wd >= 0 && w->folders[i].wd != wd)
		inotify_rm_watch(w->fd, w->folders[i].wd);
	w->folders[i].wd = wd;
}

/* ---- the kill switch, for jobs that profile themselves */

static void tell_paused(const struct watch *w, size_t folder)
{
	char path[PATH_MAX];
	int fd;

	if (!join_path(w, folder, WATCH_PAUSED, path))
		return;
	if (!w->paused) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644); /* a FIFO is not waited for */
	if (fd >= 0)
		close(fd);
}

void watch_pause(struct watch *w, bool paused)
{
	if (paused == w->paused)
		return;
	w->paused = paused;
	for (size_t i = 0; i < w->n_folders; i++)
		tell_paused(w, i);
}

static void rescan(struct watch *w, int64_t now_ns)
{
	w->too_many = false;
	for (size_t i = 0; i < w->n_folders; i++) {
		tell_paused(w, i);
		watch_folder_anew(w, i);
		scan_folder(w, i, now_ns);
	}
	w->scanned = true;
	w->next_rescan_ns = now_ns + w->rescan_ns;
}

/* ---- inotify */

static void take_event(struct watch *w, const struct inotify_event *ev, const char *name, int64_t now_ns)
{
	if (ev->mask & IN_Q_OVERFLOW)
		w->next_rescan_ns = now_ns;
	for (size_t i = 0; i < w->n_folders; i++) {
		if (w->folders[i].wd != ev->wd)
			continue;
		if (ev->mask & IN_IGNORED) /* the folder was removed, or its file system unmounted */
			w->folders[i].wd = -1;
		else if (ev->len > 0 && is_trace_name(str_of(name)))
			item_seen(w, i, name, (ev->mask & IN_MOVED_TO) != 0, now_ns);
	}
}

static void take_events(struct watch *w, int64_t now_ns)
{
	char block[16384];
	ssize_t n;

	while ((n = read(w->fd, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			struct inotify_event ev;

			memcpy(&ev, block + at, sizeof(ev));
			take_event(w, &ev, block + at + sizeof(ev), now_ns);
			at += (ssize_t)sizeof(ev) + ev.len;
		}
	}
}

/* ---- the rest */

int watch_open(struct watch **out, const struct watch_folder *folders, size_t n, int64_t rescan_ns, struct err *e)
{
	struct watch *w = mem_get(sizeof(*w));

	*w = (struct watch){ .conf = folders, .n_folders = n, .rescan_ns = rescan_ns, .next_rescan_ns = INT64_MIN };
	w->items.cap = WATCH_FILES_MAX;
	w->folders = mem_get_array(n, sizeof(*w->folders));
	for (size_t i = 0; i < n; i++)
		w->folders[i].wd = -1;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0) {
		int rc = err_sys(e, "inotify");

		watch_close(w);
		return rc;
	}
	*out = w;
	return OK;
}

void watch_close(struct watch *w)
{
	if (w == NULL)
		return;
	if (w->fd >= 0)
		close(w->fd);
	vec_each(it, &w->items)
		mem_free(it->name);
	vec_fini(&w->items);
	mem_free(w->folders);
	mem_free(w);
}

int watch_fd(const struct watch *w)
{
	return w->fd;
}

static void look_at_changing(struct watch *w, int64_t now_ns)
{
	for (size_t i = 0; i < w->items.n;) {
		struct item *it = &w->items.v[i];
		bool changed;

		if (it->state != ITEM_CHANGING || it->due_ns > now_ns) {
			i++;
		} else if (!item_stat(w, it, &changed)) {
			item_drop(w, it);
		} else {
			if (changed)
				item_changing(w, it, now_ns);
			else
				it->state = ITEM_FINISHED;
			i++;
		}
	}
}

void watch_look(struct watch *w, int64_t now_ns)
{
	take_events(w, now_ns);
	if (now_ns >= w->next_rescan_ns || (w->too_many && w->items.n < WATCH_FILES_MAX / 2))
		rescan(w, now_ns);
	look_at_changing(w, now_ns);
}

int64_t watch_wake_ns(const struct watch *w, bool busy)
{
	int64_t wake = w->next_rescan_ns;

	for (size_t i = 0; i < w->items.n; i++) {
		const struct item *it = &w->items.v[i];

		if ((it->state == ITEM_CHANGING || (it->state == ITEM_FINISHED && !busy)) && it->due_ns < wake)
			wake = it->due_ns;
	}
	return wake;
}

bool watch_next(struct watch *w, int64_t now_ns, struct watch_file *out)
{
	vec_each(it, &w->items) {
		if (it->state != ITEM_FINISHED || it->due_ns > now_ns)
			continue;
		it->state = ITEM_OUT;
		*out = (struct watch_file){ .folder = it->folder, .dev = it->dev, .ino = it->ino, .size = it->size,
			.mtime_ns = it->mtime_ns, .tries = it->tries };
		must(join_path(w, it->folder, it->name, out->path)); /* item_stat could */
		return true;
	}
	return false;
}

bool watch_idle(const struct watch *w)
{
	return w->scanned && w->items.n == 0 && !w->too_many;
}

void watch_take_stat(struct watch_file *out, const struct stat *st)
{
	out->dev = st->st_dev;
	out->ino = st->st_ino;
	out->size = st->st_size;
	out->mtime_ns = file_mtime_ns(st);
}

bool watch_stat(struct watch_file *out, const char *path, unsigned tries)
{
	struct stat st;

	*out = (struct watch_file){ .tries = tries };
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || !str_copy_to(str_of(path), out->path, sizeof(out->path)))
		return false;
	watch_take_stat(out, &st);
	return true;
}

bool watch_same(const struct watch_file *f)
{
	struct stat st;

	return lstat(f->path, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino && st.st_size == f->size &&
	       file_mtime_ns(&st) == f->mtime_ns;
}

static struct item *item_of(struct watch *w, const struct watch_file *f)
{
	struct item *it = item_find(w, f->folder, strrchr(f->path, '/') + 1);

	must(it != NULL && it->state == ITEM_OUT);
	return it;
}

void watch_again(struct watch *w, const struct watch_file *f, int64_t now_ns, int64_t delay_ns)
{
	struct item *it = item_of(w, f);
	bool changed;

	if (!item_stat(w, it, &changed)) {
		item_drop(w, it);
		return;
	}
	it->tries = f->tries + 1;
	item_changing(w, it, now_ns);
	if (it->due_ns < now_ns + delay_ns)
		it->due_ns = now_ns + delay_ns;
}

void watch_leave(struct watch *w, const struct watch_file *f)
{
	struct item *it = item_find(w, f->folder, strrchr(f->path, '/') + 1);

	if (it != NULL)
		item_drop(w, it);
}

/* The trace goes before the sidecar: were it the other way round, a kill in between would leave a trace that says
 * less about itself, and be another window. */
static int remove_both(const char *path, struct err *e)
{
	char side[PATH_MAX];

	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(e, "%s: remove", path);
	crash_point("watch.removed");
	if (snprintf(side, sizeof(side), "%s" SIDECAR_SUFFIX, path) < (int)sizeof(side))
		unlink(side);
	crash_point("watch.side-removed");
	return OK;
}

static int put_aside(const char *path, const char *dir, size_t keep_files, struct err *e)
{
	int rc = keep_move(path, dir, SIDECAR_SUFFIX, e);

	if (rc == OK)
		keep_trim(dir, keep_files);
	return rc;
}

/* Where f goes when it is no longer ours to read; NULL removes it. A failure leaves it for later. */
static int give_back(struct watch *w, const struct watch_file *f, const char *dir, int64_t now_ns, struct err *e)
{
	int rc;

	if (!watch_same(f)) {
		watch_again(w, f, now_ns, 0);
		return OK;
	}
	marker_put(f->path, SIDECAR_SUFFIX);
	crash_point("watch.marked");
	rc = dir == NULL ? remove_both(f->path, e) : put_aside(f->path, dir, w->conf[f->folder].keep_files, e);
	marker_drop(f->path);
	if (rc < 0)
		watch_again(w, f, now_ns, NS_PER_MIN);
	else
		item_drop(w, item_of(w, f));
	return rc;
}

int watch_done(struct watch *w, const struct watch_file *f, int64_t now_ns, struct err *e)
{
	return give_back(w, f, w->conf[f->folder].done_dir, now_ns, e);
}

int watch_bad(struct watch *w, const struct watch_file *f, int64_t now_ns, struct err *e)
{
	return give_back(w, f, w->conf[f->folder].bad_dir, now_ns, e);
}
