/* vllm_journal.h — which servers may be profiling because of us, durable, so that stop is sent whatever happens.
 *
 *	DIR/<16 hex digits: hash of the url>.json
 *	{"url":"http://…","token_file":"…","ca_file":"…","dir":"…","service":"…","deploy":"…","worker":"…",
 *	 "started_ns":1795960800000000000,"stopped":false}
 *
 *	put (stopped false) ─ POST /start_profile ─ … ─ POST /stop_profile ─ put (stopped true) ─ traces taken ─ drop
 *
 * What an agent needs to say stop stands in the entry itself (the token does not, only where it is), so a configuration that has
 * changed meanwhile leaves no server behind. Runs on: any thread, one at a time for a url. */
#ifndef AGENT_VLLM_JOURNAL_H
#define AGENT_VLLM_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/options.h"
#include "base/err.h"

struct vllm_entry {
	struct vllm_server_conf server; /* texts: as the maker of the entry says */
	int64_t started_ns; /* wall; traces of this window are not older */
	bool stopped;	    /* nothing but its traces is missing */
};

/* Durable when it returns. Replaces what there is of this url. dir is made when missing. */
int vllm_journal_put(const char *dir, const struct vllm_entry *entry, struct err *e) MUST_USE;
/* Durable, too; fine where there is none. */
int vllm_journal_drop(const char *dir, const char *url, struct err *e) MUST_USE;

/* All of them. One that cannot be read is counted; where it is wrong what stands in it, it is renamed to NAME.bad, else the next
 * agent finds it again. */
struct vllm_entries {
	struct vllm_entry *v;
	size_t n, room, cap;
	size_t bad;
};
int vllm_journal_read(const char *dir, struct vllm_entries *out, struct err *e) MUST_USE;
void vllm_entries_fini(struct vllm_entries *es);

#endif
