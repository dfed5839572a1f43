#include "notify/webhook.h"

#include <stdio.h>

#include "base/mem.h"

enum { WEBHOOK_ANSWER_MAX = 64 << 10 };

struct webhook {
	char *url;
	struct http_client *client;
};

int webhook_open(struct webhook **out, const char *url, const char *token, const char *ca_file, int64_t timeout_ns,
	struct err *e)
{
	struct http_client_settings s = {
		.token = token,
		.ca_file = ca_file != NULL && ca_file[0] != '\0' ? ca_file : NULL,
		.connect_ns = timeout_ns,
		.total_ns = timeout_ns,
		.max_answer_bytes = WEBHOOK_ANSWER_MAX,
		.user_agent = "trainspotterd/" PACKAGE_VERSION,
	};
	struct webhook *h = mem_get(sizeof(*h));
	int rc;

	*out = NULL;
	h->url = mem_dup_text(url);
	rc = http_client_open(&h->client, &s, e);
	if (rc != OK) {
		webhook_close(h);
		return rc;
	}
	*out = h;
	return OK;
}

void webhook_close(struct webhook *h)
{
	if (h == NULL)
		return;
	http_client_close(h->client);
	mem_free(h->url);
	mem_free(h);
}

/* It is about the message, and the same one gets the same answer: as agents take it (doc/api.md, "Problems"). */
static bool is_final(int status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

int webhook_post(struct webhook *h, struct str body, const char *key, int64_t *retry_after_ns, struct err *e)
{
	const struct http_answer *an = NULL;
	char header[128];
	struct http_ask ask = { .method = "POST", .url = h->url, .body = body, .content_type = "application/json",
		.header = header };
	int rc;

	*retry_after_ns = 0;
	snprintf(header, sizeof(header), "Idempotency-Key: %s", key);
	rc = http_exchange(h->client, &ask, &an, e);
	if (rc != OK)
		return rc;
	*retry_after_ns = an->retry_after_ns;
	if (an->status >= 200 && an->status <= 299)
		return OK;
	if (is_final(an->status))
		return err_set(e, E_DENIED, "the receiver answered %d: it will not take this one", an->status);
	return err_set(e, E_NET, "the receiver answered %d", an->status);
}
