#include "agent/sysfs_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

/* Later than that is no time that fits into nanoseconds. */
static const double unix_s_max = 9e9;

#define DEVICES "devices/virtual/neuron_device"

/* Where a walk is. */
struct place {
	struct sysfs_walk *w;
	char path[PATH_MAX]; /* from the device on */
	char name[PATH_MAX]; /* the same without labels, and without what is before stats or info */
	struct sysfs_value v; /* its labels point into path */
	bool in_stats, in_info, in_memory;
	unsigned depth;
	size_t names;
	int64_t until_ns;
};

/* ---- texts */

static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
			return false;
	}
	return s.n > 0;
}

/* "POWER_STATUS_VALID,1795960800,10.00,30.00,20.00"; what is not valid has no values. */
static bool parse_power(struct str text, struct sysfs_value *out)
{
	struct str status = str_split(&text, ',');
	double numbers[4];

	if (!str_has_prefix(status, STR("POWER_STATUS_")))
		return false;
	for (size_t i = 0; i < COUNT(numbers); i++)
		if (text.p == NULL || str_to_double(str_trim(str_split(&text, ',')), &numbers[i]) < 0 || !(numbers[i] >= 0))
			return false;
	if (!str_eq(status, STR("POWER_STATUS_VALID")) || numbers[0] > unix_s_max)
		return false;
	out->kind = SYSFS_POWER;
	out->unix_s = (int64_t)numbers[0];
	out->low = numbers[1];
	out->high = numbers[2];
	out->value = numbers[3];
	return true;
}

static bool is_list(struct str text)
{
	while (text.p != NULL)
		if (!is_word(str_trim(str_split(&text, ','))))
			return false;
	return true;
}

bool sysfs_parse(struct str text, struct sysfs_value *out)
{
	text = str_trim(text);
	out->text = text;
	if (str_to_double(text, &out->value) == OK) {
		out->kind = SYSFS_LEVEL;
		return true;
	}
	if (parse_power(text, out))
		return true;
	if (str_has_prefix(text, STR("POWER_STATUS_")))
		return false;
	out->kind = is_list(text) ? SYSFS_PART : SYSFS_TEXT;
	return text.n > 0;
}

/* ---- files */

static void note_errno(struct place *p)
{
	p->w->denied += errno == EACCES || errno == EPERM;
}

/* Looked at before it is opened: opening alone may do something. What it is has been told by its folder. */
static bool may_open(const struct place *p, int dir_fd, const char *name)
{
	struct stat st;

	if (strcmp(name, "reset") == 0)
		return false;
	if (p->in_stats)
		return true;
	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
}

/* Its text in room; false where there is none. */
static bool read_file(struct place *p, int dir_fd, const char *name, char room[SYSFS_FILE_MAX], struct str *out)
{
	ssize_t n;
	int fd;

	if (!may_open(p, dir_fd, name))
		return false;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		note_errno(p);
		return false;
	}
	n = read(fd, room, SYSFS_FILE_MAX);
	if (n < 0)
		note_errno(p);
	close(fd);
	p->w->files++;
	*out = str_make(room, n < 0 ? 0 : (size_t)n);
	return n > 0;
}

/* ---- values */

static void give(struct place *p, enum sysfs_kind kind)
{
	p->v.kind = kind;
	p->v.path = str_of(p->path);
	p->v.name = str_of(p->name);
	p->w->visit(p->w->arg, &p->v);
}

/* A list of components is a value for each. */
static void give_parts(struct place *p)
{
	struct str rest = p->v.text;

	while (rest.p != NULL) {
		p->v.text = str_trim(str_split(&rest, ','));
		give(p, SYSFS_PART);
	}
}

static void take_text(struct place *p, struct str text)
{
	struct str all = str_trim(text);

	if (!sysfs_parse(text, &p->v)) {
		p->w->odd += p->in_stats && all.n > 0 && !str_has_prefix(all, STR("POWER_STATUS_"));
		return;
	}
	switch (p->v.kind) {
	case SYSFS_LEVEL: give(p, SYSFS_LEVEL); break;
	case SYSFS_POWER: give(p, SYSFS_POWER); break;
	case SYSFS_PART:
		if (p->in_stats) {
			give_parts(p);
			break;
		}
		__attribute__((fallthrough));
	case SYSFS_TEXT:
		if (p->in_info)
			give(p, SYSFS_TEXT);
		p->w->odd += p->in_stats;
		break;
	case SYSFS_COUNTER:
	case SYSFS_PEAK:
	case SYSFS_KINDS: break;
	}
}

/* A folder with a file total in it. */
static void take_counter(struct place *p, int dir_fd, bool has_peak)
{
	char room[SYSFS_FILE_MAX];
	struct str text;

	if (!read_file(p, dir_fd, "total", room, &text))
		return;
	if (str_to_double(str_trim(text), &p->v.value) < 0) {
		p->w->odd++;
		return;
	}
	give(p, has_peak || p->in_memory ? SYSFS_LEVEL : SYSFS_COUNTER);
	if (has_peak && read_file(p, dir_fd, "peak", room, &text) && str_to_double(str_trim(text), &p->v.value) == OK)
		give(p, SYSFS_PEAK);
}

/* ---- folders */

struct entry {
	char *name;
	bool is_folder; /* else a regular file: all others are passed over */
};
VEC(entries, struct entry);

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* DT_DIR, DT_REG, or something else. Where the folder does not say, the file is asked, without opening it. */
static unsigned char type_of(int dir_fd, const struct dirent *ent)
{
	struct stat st;

	if (ent->d_type != DT_UNKNOWN)
		return ent->d_type;
	if (fstatat(dir_fd, ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
}

/* In order, so that the same tree is always walked in the same way. */
static void list_folder(struct place *p, DIR *d, struct entries *entries)
{
	for (struct dirent *ent; (ent = readdir(d)) != NULL;) {
		unsigned char type = ent->d_name[0] == '.' ? DT_UNKNOWN : type_of(dirfd(d), ent);
		struct entry *place;

		if (type != DT_DIR && type != DT_REG)
			continue;
		place = p->names < SYSFS_NAMES_MAX ? vec_push(entries) : NULL;
		if (place == NULL) {
			p->w->cut = true;
			break;
		}
		p->names++;
		*place = (struct entry){ mem_dup_text(ent->d_name), type == DT_DIR };
	}
	if (entries->n > 1)
		qsort(entries->v, entries->n, sizeof(*entries->v), by_name);
}

static void free_entries(struct entries *entries)
{
	vec_each(entry, entries)
		mem_free(entry->name);
	vec_fini(entries);
}

static bool has_file(const struct entries *entries, const char *name)
{
	vec_each(entry, entries)
		if (!entry->is_folder && strcmp(entry->name, name) == 0)
			return true;
	return false;
}

/* What the kernel itself has in the folder of every device. */
static bool is_generic(const struct place *p, const char *name)
{
	static const char *const generic[] = { "power", "uevent", "dev", "subsystem", "driver" };

	for (size_t i = 0; i < COUNT(generic); i++)
		if (p->depth == 0 && strcmp(name, generic[i]) == 0)
			return true;
	return false;
}

/* neuron_core3: the label core=3. The texts are those of the path. */
static bool add_label(struct place *p, struct str name)
{
	size_t digits = 0;
	struct str key;

	while (digits < name.n && name.p[name.n - 1 - digits] >= '0' && name.p[name.n - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || digits == name.n || p->v.n_labels == SYSFS_LABELS_MAX)
		return false;
	key = str_upto(name, name.n - digits);
	str_drop_prefix(&key, STR("neuron_"));
	str_drop_suffix(&key, STR("_"));
	p->v.labels[p->v.n_labels++] = (struct label){ key, str_from(name, name.n - digits) };
	return true;
}

static bool append(char *text, size_t cap, const char *name)
{
	size_t n = strlen(text);

	return snprintf(text + n, cap - n, "%s%s", n == 0 ? "" : "/", name) < (int)(cap - n);
}

static void walk_folder(struct place *p, int fd);

static int open_folder(struct place *p, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		note_errno(p);
	return fd;
}

/* p->path ends in the folder's name, which begins at at. */
static void enter_folder(struct place *p, int dir_fd, const char *name, size_t at)
{
	int fd = open_folder(p, dir_fd, name);
	bool is_anchor = strcmp(name, "stats") == 0 || strcmp(name, "info") == 0;

	if (fd < 0)
		return;
	p->in_memory |= p->in_stats && strcmp(name, "memory_usage") == 0;
	p->in_stats |= strcmp(name, "stats") == 0;
	p->in_info |= strcmp(name, "info") == 0;
	if (!add_label(p, str_from(str_of(p->path), at)) && !is_anchor)
		(void)!append(p->name, sizeof(p->name), name);
	p->depth++;
	walk_folder(p, fd);
	p->depth--;
}

static void enter_file(struct place *p, int dir_fd, const char *name)
{
	char room[SYSFS_FILE_MAX];
	struct str text;

	if (append(p->name, sizeof(p->name), name) && read_file(p, dir_fd, name, room, &text))
		take_text(p, text);
}

/* All that changes on the way into it is put back behind it. */
static void enter(struct place *p, int dir_fd, const struct entry *entry)
{
	const size_t path_n = strlen(p->path), name_n = strlen(p->name), n_labels = p->v.n_labels;
	const bool in_stats = p->in_stats, in_info = p->in_info, in_memory = p->in_memory;

	if (!append(p->path, sizeof(p->path), entry->name))
		return;
	if (entry->is_folder)
		enter_folder(p, dir_fd, entry->name, path_n + 1);
	else
		enter_file(p, dir_fd, entry->name);
	p->path[path_n] = p->name[name_n] = '\0';
	p->v.n_labels = n_labels;
	p->in_stats = in_stats;
	p->in_info = in_info;
	p->in_memory = in_memory;
}

static void walk_entries(struct place *p, int dir_fd, const struct entries *entries)
{
	vec_each(entry, entries) {
		if (p->depth >= SYSFS_DEPTH_MAX || clock_mono_ns() > p->until_ns ||
			(p->w->thread != NULL && thread_stopping(p->w->thread))) {
			p->w->cut = true;
			return;
		}
		if (!is_generic(p, entry->name))
			enter(p, dir_fd, entry);
	}
}

/* Takes fd. */
static void walk_folder(struct place *p, int fd)
{
	struct entries entries = VEC_INIT(SYSFS_NAMES_MAX);
	DIR *d = fdopendir(fd);

	if (d == NULL) {
		close(fd);
		return;
	}
	list_folder(p, d, &entries);
	if (p->in_stats && has_file(&entries, "total"))
		take_counter(p, dirfd(d), has_file(&entries, "peak"));
	else
		walk_entries(p, dirfd(d), &entries);
	closedir(d);
	free_entries(&entries);
}

/* ---- the whole */

static void walk_device(struct place *p, int dir_fd, const char *name)
{
	int fd;

	p->v.n_labels = 0;
	p->name[0] = '\0';
	p->in_stats = p->in_info = p->in_memory = false;
	snprintf(p->path, sizeof(p->path), "%s", name);
	if (!add_label(p, str_of(p->path)))
		return;
	p->v.labels[0].key = STR("device"); /* neuron0 */
	fd = open_folder(p, dir_fd, name);
	if (fd < 0)
		return;
	p->w->devices++;
	walk_folder(p, fd);
}

int sysfs_walk(struct sysfs_walk *w, const char *root, struct err *e)
{
	struct place *p;
	struct entries entries = VEC_INIT(SYSFS_NAMES_MAX);
	char path[PATH_MAX];
	DIR *d;

	w->devices = w->files = 0;
	w->denied = w->odd = 0;
	w->cut = false;
	snprintf(path, sizeof(path), "%s/" DEVICES, root);
	d = opendir(path);
	if (d == NULL)
		return err_sys(e, "%s", path);
	p = mem_get(sizeof(*p));
	p->w = w;
	p->until_ns = clock_mono_ns() + w->limit_ns;
	list_folder(p, d, &entries);
	vec_each(entry, &entries)
		if (entry->is_folder)
			walk_device(p, dirfd(d), entry->name);
	free_entries(&entries);
	closedir(d);
	mem_free(p);
	return OK;
}

struct str sysfs_driver_version(const char *root, char *room, size_t cap)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/module/neuron/version", root);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return STR("");
	n = read(fd, room, cap);
	close(fd);
	return str_trim(str_make(room, n < 0 ? 0 : (size_t)n));
}
