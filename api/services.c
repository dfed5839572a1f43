#include "api/call.h"

static void write_item(struct json_writer *w, const struct service_item *s)
{
	jw_object(w);
	jw_key_str(w, "service", s->service);
	jw_key_str(w, "deploy", s->deploy);
	jw_key_u64(w, "hosts", s->hosts);
	jw_key_u64(w, "deploys", s->deploys);
	jw_key_u64(w, "windows", s->windows);
	jw_key_i64(w, "first_ns", s->first_ns);
	jw_key_i64(w, "last_ns", s->last_ns);
	jw_end(w);
}

void services_get(struct api_call *c)
{
	struct service_list list = { 0 };
	struct err e = { 0 };
	int rc = store_services(c->api->set.store, &c->p.q, &c->arena, &list, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++)
		write_item(&c->w, &list.v[i]);
	call_list_end(c, list.next);
	call_end(c);
}
