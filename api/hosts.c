#include "api/call.h"
#include "api/sides.h"

static void write_item(struct json_writer *w, const struct host_item *h)
{
	jw_object(w);
	jw_key_str(w, "host", h->host);
	jw_key_str(w, "service", h->service);
	jw_key_str(w, "deploy", h->deploy);
	jw_key_u64(w, "workers", h->workers);
	jw_key_u64(w, "windows", h->windows);
	jw_key_i64(w, "first_ns", h->first_ns);
	jw_key_i64(w, "last_ns", h->last_ns);
	jw_end(w);
}

void hosts_get(struct api_call *c)
{
	struct host_list list = { 0 };
	struct err e = { 0 };
	int rc;

	c->p.q.until_ns = c->api->set.wall_ns() + SIDES_AHEAD_NS;
	rc = store_hosts(c->api->set.store, &c->p.q, &c->arena, &list, &e);
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
