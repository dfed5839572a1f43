#include "api/call.h"

static void write_status(struct api_call *c, const char *word)
{
	jw_object(&c->w);
	jw_key_text(&c->w, "status", word);
	call_end(c);
}

void healthy_get(struct api_call *c)
{
	write_status(c, "healthy");
}

void ready_get(struct api_call *c)
{
	struct err e = { 0 };

	if (store_ready(c->api->set.store, &e) == OK)
		write_status(c, "ready");
	else
		call_problem(c, PROBLEM_NOT_READY, NULL, "the store cannot be written to: %s", e.text);
}
