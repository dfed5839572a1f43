#include "api/call.h"

void alerts_get(struct api_call *c)
{
	struct alert_list list = { 0 };
	struct err e = { 0 };
	int rc = store_alerts(c->api->set.store, &c->p.q, !c->p.has_state, c->p.state, &c->arena, &list, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	call_list_begin(c);
	for (size_t i = 0; i < list.n; i++)
		alert_write(&c->w, &list.v[i]);
	call_list_end(c, list.next);
	call_end(c);
}

void alert_get(struct api_call *c)
{
	struct alert al = { 0 };
	struct err e = { 0 };
	int rc = store_alert(c->api->set.store, c->tail, &c->arena, &al, &e);

	if (rc != OK) {
		call_failed(c, rc, &e);
		return;
	}
	alert_write(&c->w, &al);
	buf_byte(&c->rp->body, '\n');
}
