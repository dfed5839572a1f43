#include "agent/vllm_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/errand.h"
#include "agent/harvest.h"
#include "agent/keep.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/tree.h"
#include "base/vec.h"

enum { PARTS_MAX = 512, TEXTS_BYTES = 1 << 20, KEY_SHIFT = 10 };
_Static_assert(HARVEST_FILES_MAX < 1 << KEY_SHIFT, "a harvest's key fits into its part of ours");

enum state { DECODING, READING, READ, ENDING };

/* One session. */
struct part {
	struct errand errand;
	struct vllm_decoder *from;
	enum state state;
	bool out; /* the thread has it */
	uint64_t id, batch, order;
	void *owner;
	char top[PATH_MAX], dir[PATH_MAX], work_dir[PATH_MAX]; /* top: the server's own folder; what is below it others may change */
	char service[WINDOW_TEXT_MAX + 1], deploy[WINDOW_TEXT_MAX + 1], worker[WINDOW_TEXT_MAX + 1];
	struct harvest *harvest; /* NULL: it could not even be looked at */
	bool stays;		 /* nobody can decode it yet */
	bool good;
	char why[480];
};

VEC(parts, struct part *);

struct vllm_decoder {
	struct arena texts;
	struct decode_settings decode;
	const char *dir;
	size_t keep;
	struct errands *errands;
	struct parts parts;
	uint64_t last_id, last_batch;
};

/* ---- on the thread */

static void do_decode(struct part *p, struct thread *t)
{
	const struct harvest_settings s = { .decode = &p->from->decode, .top = p->top, .service = p->service, .deploy = p->deploy,
		.worker = p->worker };
	struct err e = { 0 };
	int rc = file_make_dirs(p->work_dir, 0700, &e);

	if (rc == OK)
		rc = harvest_make(&p->harvest, &s, p->dir, p->work_dir, t, &e);
	if (rc < 0)
		snprintf(p->why, sizeof(p->why), "%s", e.text);
}

static int keep_session(const struct part *p, struct err *e)
{
	char from[PATH_MAX], to[PATH_MAX];
	int fd = tree_hold(p->top, p->dir, from, e), rc;

	if (fd < 0)
		return fd;
	snprintf(to, sizeof(to), "/proc/self/fd/%d/.kept", fd);
	rc = keep_move(from, to, "", e);
	if (rc == OK)
		keep_trim_folders(to, p->from->keep, NULL);
	close(fd);
	return rc;
}

static void do_end(struct part *p)
{
	struct err e = { 0 };
	int rc = OK;

	if (!p->stays && !p->good && p->from->keep > 0)
		rc = keep_session(p, &e);
	else if (!p->stays)
		rc = tree_remove_below(p->top, p->dir, &e);
	crash_point("vllm.session-removed");
	if (rc == OK)
		rc = tree_remove(p->work_dir, &e);
	if (rc < 0)
		log_error("vllm.stuck", "folder=\"%s\" err=\"%s\" cure=\"the agent needs the right to write in that folder\"", p->dir,
			e.text);
}

static void run(struct errand *er, struct thread *t)
{
	struct part *p = (struct part *)er;

	if (p->state == DECODING)
		do_decode(p, t);
	else
		do_end(p);
}

static void part_free(struct part *p)
{
	harvest_free(p->harvest);
	mem_free(p);
}

static void free_errand(struct errand *er)
{
	part_free((struct part *)er);
}

/* ---- life */

int vllm_decoder_open(struct vllm_decoder **out, const struct decode_conf *cf, const char *dir, const char *lock,
	struct err *e)
{
	struct vllm_decoder *d = mem_get(sizeof(*d));
	int rc;

	arena_init(&d->texts, TEXTS_BYTES);
	d->parts.cap = PARTS_MAX;
	d->keep = (size_t)cf->keep;
	d->dir = arena_text(&d->texts, dir).p;
	d->decode = decode_settings_of(cf, arena_text(&d->texts, lock).p);
	d->decode.program = arena_text(&d->texts, cf->program).p;
	rc = errands_start(&d->errands, "vllm-decode", PARTS_MAX, e);
	if (rc < 0) {
		vllm_decoder_close(d);
		return rc;
	}
	*out = d;
	return OK;
}

/* Those that the thread has are freed by it. */
void vllm_decoder_close(struct vllm_decoder *d)
{
	if (d == NULL)
		return;
	vec_each(p, &d->parts)
		if (!(*p)->out)
			part_free(*p);
	errands_stop(d->errands);
	vec_fini(&d->parts);
	arena_fini(&d->texts);
	mem_free(d);
}

int vllm_decoder_fd(struct vllm_decoder *d)
{
	return errands_fd(d->errands);
}

static void drop(struct vllm_decoder *d, struct part *p)
{
	vec_each(place, &d->parts)
		if (*place == p) {
			*place = d->parts.v[--d->parts.n];
			break;
		}
	part_free(p);
}

/* There is room for all parts. */
static void give(struct vllm_decoder *d, struct part *p, enum state state)
{
	p->state = state;
	p->out = true;
	must(errands_give(d->errands, &p->errand));
}

static void add_part(struct vllm_decoder *d, void *owner, uint64_t order, const struct vllm_server_conf *server,
	const char *session)
{
	struct part **place = vec_push(&d->parts), *p;

	must(place != NULL);
	p = *place = mem_get(sizeof(*p));
	p->errand = (struct errand){ run, free_errand };
	p->from = d;
	p->id = ++d->last_id;
	p->batch = d->last_batch;
	p->owner = owner;
	p->order = order;
	snprintf(p->top, sizeof(p->top), "%s", server->dir);
	snprintf(p->dir, sizeof(p->dir), "%s", session);
	snprintf(p->work_dir, sizeof(p->work_dir), "%s/%016" PRIx64, d->dir, hash64(session, strlen(session), 0));
	snprintf(p->service, sizeof(p->service), "%s", server->service);
	snprintf(p->deploy, sizeof(p->deploy), "%s", server->deploy);
	snprintf(p->worker, sizeof(p->worker), "%s", server->worker);
	give(d, p, DECODING);
}

bool vllm_decoder_takes(const struct vllm_server_conf *server, const char *session)
{
	struct str dir = str_of(server->dir);

	while (dir.n > 1 && str_has_suffix(dir, STR("/")))
		dir.n--;
	return strlen(session) > strlen(server->dir) && !str_eq(str_of(session), dir);
}

bool vllm_decoder_give(struct vllm_decoder *d, void *owner, uint64_t order, const struct vllm_server_conf *server,
	const struct vllm_paths *sessions)
{
	size_t given = 0;

	if (d->parts.n + sessions->n > PARTS_MAX)
		return false;
	d->last_batch++;
	for (size_t i = 0; i < sessions->n; i++)
		if (vllm_decoder_takes(server, sessions->v[i])) {
			add_part(d, owner, order, server, sessions->v[i]);
			given++;
		}
	return given > 0;
}

void vllm_decoder_look(struct vllm_decoder *d)
{
	struct errand *er;

	while ((er = errands_fetch(d->errands)) != NULL) {
		struct part *p = (struct part *)er;

		p->out = false;
		if (p->state == ENDING)
			drop(d, p);
		else
			p->state = p->harvest == NULL || harvest_over(p->harvest) ? READ : READING;
	}
}

/* ---- traces */

int64_t vllm_decoder_wake_ns(const struct vllm_decoder *d)
{
	int64_t wake = INT64_MAX;

	vec_each(p, &d->parts)
		if ((*p)->state == READING && harvest_wake_ns((*p)->harvest) < wake)
			wake = harvest_wake_ns((*p)->harvest);
	return wake;
}

bool vllm_decoder_next(struct vllm_decoder *d, int64_t now_ns, struct source_trace *out)
{
	vec_each(place, &d->parts) {
		struct part *p = *place;

		if (p->state != READING || harvest_wake_ns(p->harvest) > now_ns)
			continue;
		if (harvest_next(p->harvest, now_ns, out)) {
			out->key |= VLLM_DECODED | p->id << KEY_SHIFT;
			out->order = p->order;
			return true;
		}
		if (harvest_over(p->harvest)) /* somebody else removed what was left */
			p->state = READ;
	}
	return false;
}

void vllm_decoder_back(struct vllm_decoder *d, uint64_t key, const struct source_result *r, int64_t now_ns)
{
	struct part *p = NULL;

	vec_each(place, &d->parts)
		if ((*place)->id == (key & ~VLLM_DECODED) >> KEY_SHIFT)
			p = *place;
	must(p != NULL && p->state == READING);
	harvest_back(p->harvest, key & ((1 << KEY_SHIFT) - 1), r, now_ns);
	if (harvest_over(p->harvest))
		p->state = READ;
}

/* ---- batches */

static bool is_read(const struct vllm_decoder *d, uint64_t batch)
{
	vec_each(p, &d->parts)
		if ((*p)->batch == batch && ((*p)->state == DECODING || (*p)->state == READING))
			return false;
	return true;
}

static void sum_up(struct part *p, struct vllm_decoded *out)
{
	struct harvest_back_counts b;

	if (p->harvest == NULL) {
		out->trouble = DECODE_FAILED;
		memcpy(out->why, p->why, sizeof(out->why));
		return;
	}
	b = harvest_backs(p->harvest);
	out->kept += b.kept;
	out->empty += b.empty;
	out->bad += b.bad;
	for (enum decode_end end = 0; end < DECODE_ENDS; end++)
		if (decode_end_cure(end) != NULL && harvest_sum(p->harvest)->decode_ends[end] > 0)
			out->trouble = end;
	memcpy(out->why, b.bad > 0 ? b.bad_why : harvest_sum(p->harvest)->why, sizeof(out->why));
	p->good = b.kept > 0 || b.empty > 0 || (b.bad == 0 && harvest_sum(p->harvest)->decoded_before > 0);
	p->stays = !p->good && b.bad == 0 && harvest_sum(p->harvest)->decode_ends[DECODE_NO_PROGRAM] > 0;
}

bool vllm_decoder_over(struct vllm_decoder *d, struct vllm_decoded *out)
{
	uint64_t batch = 0;

	vec_each(p, &d->parts)
		if ((*p)->state == READ && (batch == 0 || (*p)->batch < batch) && is_read(d, (*p)->batch))
			batch = (*p)->batch;
	if (batch == 0)
		return false;
	*out = (struct vllm_decoded){ .trouble = DECODE_TAKEN };
	vec_each(p, &d->parts)
		if ((*p)->batch == batch && (*p)->state == READ) {
			out->owner = (*p)->owner;
			sum_up(*p, out);
			give(d, *p, ENDING);
		}
	return true;
}
