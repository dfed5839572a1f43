#include "profile/alert.h"

#include "base/enc.h"
#include "base/hash.h"
#include "profile/name.h"

static const char *const state_name[] = {
	[ALERT_INACTIVE] = "inactive",
	[ALERT_PENDING] = "pending",
	[ALERT_FIRING] = "firing",
	[ALERT_RESOLVED] = "resolved",
	[ALERT_ACCEPTED] = "accepted",
	[ALERT_EXPIRED] = "expired",
};
_Static_assert(COUNT(state_name) == ALERT_STATES, "name every alert state");

const char *alert_state_name(enum alert_state s)
{
	return state_name[s];
}

int alert_state_parse(struct str word, enum alert_state *out)
{
	int at = name_find(state_name, COUNT(state_name), word);

	if (at < 0)
		return E_FORMAT;
	*out = (enum alert_state)at;
	return OK;
}

void alert_id(enum verdict_kind kind, struct str service, struct str deploy, struct str op, struct arena *a,
	struct str *id)
{
	struct hash128 *h = hash128_new();
	uint8_t bytes[16];
	char text[2 * sizeof(bytes) + 1];

	hash128_add_str(h, str_of(verdict_name(kind)));
	hash128_add_str(h, service);
	hash128_add_str(h, deploy);
	hash128_add_str(h, op);
	hash128_get(h, bytes);
	hash128_free(h);
	enc_hex(bytes, sizeof(bytes), text);
	*id = arena_text(a, text);
}

static void write_moment(struct json_writer *w, const char *key, int64_t ns)
{
	if (ns == 0)
		jw_key_null(w, key);
	else
		jw_key_i64(w, key, ns);
}

void alert_write(struct json_writer *w, const struct alert *al)
{
	jw_object(w);
	jw_key_str(w, "id", al->id);
	jw_key_text(w, "state", alert_state_name(al->state));
	jw_key_text(w, "kind", verdict_name(al->kind));
	jw_key_str(w, "service", al->service);
	jw_key_str(w, "deploy", al->deploy);
	jw_key_str(w, "deploy_before", al->deploy_before);
	jw_key_str(w, "op", al->op);
	jw_key_str(w, "sentence", al->sentence);
	jw_key_i64(w, "started_ns", al->started_ns);
	write_moment(w, "fired_ns", al->fired_ns);
	write_moment(w, "resolved_ns", al->resolved_ns);
	jw_key_i64(w, "updated_ns", al->updated_ns);
	jw_key_array(w, "hosts");
	for (size_t i = 0; i < al->n_hosts; i++)
		jw_str(w, al->hosts[i]);
	jw_end(w);
	jw_key_u64(w, "windows_before", al->windows_before);
	jw_key_u64(w, "windows_after", al->windows_after);
	jw_key(w, "evidence");
	if (str_empty(al->evidence))
		jw_null(w);
	else
		jw_raw(w, al->evidence);
	jw_end(w);
}
