/* vllm_decode.h — session folders that vLLM servers' Neuron profilers left become traces (agent/harvest.h), on a thread of their own, so
 * that nobody waits for the decoder. The sessions of one window are one batch.
 *
 * A session that gave a window is removed; one that gave none too, unless decode.keep wants the last ones: then they are in .kept beside
 * it. Where there is no decoder it stays where it is. Its JSON is in DIR/<hash of its path> meanwhile, so that the next agent,
 * which finds the session again by its window's note, decodes nothing twice.
 * Runs on: the agent's main thread. */
#ifndef AGENT_VLLM_DECODE_H
#define AGENT_VLLM_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/decode.h"
#include "agent/options.h"
#include "agent/source.h"
#include "agent/vllm_find.h"
#include "base/err.h"

struct vllm_decoder;

/* dir: where the JSON goes; lock: agent/decode.h. All is copied. */
int vllm_decoder_open(struct vllm_decoder **out, const struct decode_conf *cf, const char *dir, const char *lock,
	struct err *e) MUST_USE;
void vllm_decoder_close(struct vllm_decoder *d); /* NULL is fine */
int vllm_decoder_fd(struct vllm_decoder *d);	 /* readable: call vllm_decoder_look */
void vllm_decoder_look(struct vllm_decoder *d);
int64_t vllm_decoder_wake_ns(const struct vllm_decoder *d);

/* The server's own folder is never taken for a session, whatever is in it: sessions are removed. */
bool vllm_decoder_takes(const struct vllm_server_conf *server, const char *session);
/* The sessions of one window of owner's; false where there is none to take, or no room for them now. */
bool vllm_decoder_give(struct vllm_decoder *d, void *owner, uint64_t order, const struct vllm_server_conf *server,
	const struct vllm_paths *sessions);

/* As source_type's; keys have VLLM_DECODED set. */
#define VLLM_DECODED (UINT64_C(1) << 63)
bool vllm_decoder_next(struct vllm_decoder *d, int64_t now_ns, struct source_trace *out);
void vllm_decoder_back(struct vllm_decoder *d, uint64_t key, const struct source_result *r, int64_t now_ns);

/* A batch that is over, once; false: none. */
struct vllm_decoded {
	void *owner;
	size_t kept, empty, bad;
	enum decode_end trouble; /* DECODE_TAKEN: none */
	char why[480];		 /* of trouble or of the last bad one */
};
bool vllm_decoder_over(struct vllm_decoder *d, struct vllm_decoded *out);

#endif
