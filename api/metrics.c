#include "api/call.h"

void metrics_get(struct api_call *c)
{
	c->rp->content_type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_write(c->api->set.metrics, &c->rp->body);
}
