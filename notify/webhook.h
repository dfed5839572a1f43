/* webhook.h — one POST of an alert. Inside notify/ only. Runs on: the notify thread. */
#ifndef NOTIFY_WEBHOOK_H
#define NOTIFY_WEBHOOK_H

#include "base/err.h"
#include "base/str.h"
#include "net/http_client.h"

struct webhook;

/* token: NULL or "" for none; ca_file likewise. */
int webhook_open(struct webhook **out, const char *url, const char *token, const char *ca_file, int64_t timeout_ns,
	struct err *e) MUST_USE;
void webhook_close(struct webhook *h);

/* OK for any 2xx. E_DENIED where the receiver refuses this message for good, E_NET with the reason otherwise;
 * *retry_after_ns is what the receiver asked for, or 0. */
int webhook_post(struct webhook *h, struct str body, const char *key, int64_t *retry_after_ns, struct err *e) MUST_USE;

#endif
