/* page.c — what a browser finds at the root: what this is, and where its questions go. */
#include "api/call.h"

static const char page_head[] =
	"<!doctype html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Trainspotter</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	"<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em;color-scheme:light dark}"
	"</style></head><body>\n"
	"<h1>Trainspotter</h1>\n"
	"<p>Per-op timings of a fleet of Trainium hosts, and what deploys did to them.</p>\n"
	"<ul>\n";

static const struct {
	const char *path, *says;
} page_links[] = {
	{ "/api/v1/services", "services and their newest deploys" },
	{ "/api/v1/hosts", "hosts" },
	{ "/api/v1/deploys", "deploys" },
	{ "/api/v1/alerts", "alerts with their evidence" },
	{ "/api/v1/top", "ops by time" },
	{ "/api/v1/windows?limit=20", "the newest windows" },
	{ "/api/v1/agents", "agents that poll, with their workers" },
	{ "/api/v1/captures", "windows that were asked for" },
	{ "/api/v1/openapi.yaml", "the API, described for programs" },
	{ "/metrics", "this daemon's own metrics" },
};

void page_get(struct api_call *c)
{
	struct buf *out = &c->rp->body;

	c->rp->content_type = "text/html; charset=utf-8";
	http_reply_header(c->rp, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
	buf_text(out, page_head);
	for (size_t i = 0; i < COUNT(page_links); i++)
		buf_fmt(out, "<li><a href=\"%s\"><code>%s</code></a>: %s</li>\n", page_links[i].path, page_links[i].path,
			page_links[i].says);
	buf_fmt(out, "</ul>\n<p>On the command line: <code>trainspotter top</code>, <code>trend</code>, <code>compare</code>, "
		     "<code>alerts</code>.</p>\n<p>%s</p>\n</body></html>\n",
		c->api->set.version == NULL ? "" : c->api->set.version);
}
