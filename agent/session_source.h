/* session_source.h — the source "watch" for folders: sessions of Neuron profilers (agent/decode.h) that appear in a watched folder
 * with decode: yes, however deep the documents put them (DIR/<instance>_pid_<pid>/[<timestamp>/]).
 *
 *	CHANGING ─ the same for "stable", twelve times as long without trace_info.pb ─→ DECODING ─→ READING ─→ ENDING ─ gone
 *	    ↑                                                        │ changed meanwhile, no program yet
 *	    └────────────────────────────────────────────────────────┘
 *
 * Where decoding cannot begin (the disk is full, say) it is tried again as source_again_ns says.
 * A session that gave a window goes as a trace goes (done: remove or move), one that gave none to bad_dir; there the last ones stay,
 * decode.keep of them and one at least. Its JSON is in STATE_DIR/decode/<hash of its path> meanwhile, so that nothing is decoded
 * twice after a kill.
 * Service, deploy and worker: what the process says of itself where it still runs, sees the pid that we do, and holds a device;
 * else the folder's section.
 * Runs on: the agent's main thread; one thread waits for the decoder and moves folders. */
#ifndef AGENT_SESSION_SOURCE_H
#define AGENT_SESSION_SOURCE_H

#include "agent/decode.h"
#include "agent/options.h"
#include "agent/source.h"

struct identities;

/* cf: borrowed until the source is closed. identities: NULL for none. proc: "/proc", or a test's. out stays as it is where no
 * folder wants it. */
int session_source_open(struct source *out, const struct agent_conf *cf, struct identities *identities, const char *proc,
	struct err *e) MUST_USE;

/* For tests: sessions so far that gave a window; that ended in this way. */
uint64_t session_source_taken(const struct source *s);
uint64_t session_source_count(const struct source *s, enum decode_end end);
uint64_t session_source_later(const struct source *s); /* how often decoding could not begin */

#endif
