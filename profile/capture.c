#include "profile/capture.h"

#include "profile/name.h"

static const char *const target_names[] = {
	[TARGET_WAITING] = "waiting", [TARGET_LEASED] = "leased",   [TARGET_TAKEN] = "taken",
	[TARGET_FAILED] = "failed",   [TARGET_EXPIRED] = "expired",
};
_Static_assert(COUNT(target_names) == TARGET_STATES, "name every state of a target");

static const char *const capture_names[] = {
	[CAPTURE_WAITING] = "waiting",
	[CAPTURE_RUNNING] = "running",
	[CAPTURE_DONE] = "done",
	[CAPTURE_EXPIRED] = "expired",
};
_Static_assert(COUNT(capture_names) == CAPTURE_STATES, "name every state of a capture");

const char *target_state_name(enum target_state s)
{
	return target_names[s];
}

int target_state_parse(struct str word, enum target_state *out)
{
	int at = name_find(target_names, COUNT(target_names), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum target_state)at;
	return OK;
}

const char *capture_state_name(enum capture_state s)
{
	return capture_names[s];
}

int capture_state_parse(struct str word, enum capture_state *out)
{
	int at = name_find(capture_names, COUNT(capture_names), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum capture_state)at;
	return OK;
}

enum capture_state capture_state(const struct capture *c)
{
	size_t n[TARGET_STATES] = { 0 };

	for (size_t i = 0; i < c->n_targets; i++)
		n[c->targets[i].state]++;
	if (c->ended_ns != 0)
		return n[TARGET_TAKEN] + n[TARGET_FAILED] > 0 ? CAPTURE_DONE : CAPTURE_EXPIRED;
	return n[TARGET_WAITING] < c->n_targets ? CAPTURE_RUNNING : CAPTURE_WAITING;
}

static bool is_one_of(const struct str *v, size_t n, struct str s)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(v[i], s))
			return true;
	return n == 0;
}

bool capture_wants(const struct capture *c, struct str host, struct str service, struct str source, struct str worker)
{
	return (str_empty(c->service) || str_eq(c->service, service)) &&
		(str_empty(c->source) || str_eq(c->source, source)) &&
	       is_one_of(c->hosts, c->n_hosts, host) && is_one_of(c->workers, c->n_workers, worker);
}

static void write_or_null(struct json_writer *w, const char *key, struct str s)
{
	if (str_empty(s))
		jw_key_null(w, key);
	else
		jw_key_str(w, key, s);
}

static void write_texts(struct json_writer *w, const char *key, const struct str *v, size_t n)
{
	jw_key_array(w, key);
	for (size_t i = 0; i < n; i++)
		jw_str(w, v[i]);
	jw_end(w);
}

static void write_target(struct json_writer *w, const struct capture_target *t)
{
	jw_object(w);
	jw_key_str(w, "host", t->host);
	jw_key_str(w, "service", t->service);
	jw_key_str(w, "source", t->source);
	jw_key_str(w, "worker", t->worker);
	jw_key_text(w, "state", target_state_name(t->state));
	write_or_null(w, "end", t->end);
	write_or_null(w, "window", t->window);
	jw_end(w);
}

void capture_write(struct json_writer *w, const struct capture *c)
{
	jw_object(w);
	jw_key_str(w, "id", c->id);
	jw_key_text(w, "state", capture_state_name(capture_state(c)));
	write_or_null(w, "service", c->service);
	write_texts(w, "hosts", c->hosts, c->n_hosts);
	write_texts(w, "workers", c->workers, c->n_workers);
	write_or_null(w, "source", c->source);
	jw_key_i64(w, "duration_ns", c->duration_ns);
	jw_key_i64(w, "iterations", c->iterations);
	jw_key_str(w, "reason", c->reason);
	write_or_null(w, "alert", c->alert);
	jw_key_i64(w, "created_ns", c->created_ns);
	jw_key_i64(w, "expires_ns", c->expires_ns);
	if (c->ended_ns != 0)
		jw_key_i64(w, "ended_ns", c->ended_ns);
	else
		jw_key_null(w, "ended_ns");
	jw_key_array(w, "targets");
	for (size_t i = 0; i < c->n_targets; i++)
		write_target(w, &c->targets[i]);
	jw_end(w);
	jw_end(w);
}
