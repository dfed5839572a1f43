/* fake_vllm.h — a vLLM server as far as its profiler goes, on net/http_server: /start_profile, /stop_profile and /metrics,
 * a token where one is set. It can refuse, hang, and write what it has to late, slowly, or not at all. */
#ifndef TESTS_UNIT_AGENT_FAKE_VLLM_H
#define TESTS_UNIT_AGENT_FAKE_VLLM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum fake_vllm_writes { FAKE_WRITES_TRACE, FAKE_WRITES_RANKS, FAKE_WRITES_SESSION, FAKE_WRITES_RAW, FAKE_WRITES_NOTHING };

struct fake_vllm { /* what it does from now on; set while nobody asks */
	_Atomic int start_status, stop_status; /* 0: 200 */
	_Atomic int idle_stop_status; /* where it does not profile; 0: 200 */
	_Atomic int bad_stops;		       /* so many stops get stop_status, the others 200; 0: all */
	_Atomic int64_t start_delay_ns, stop_delay_ns;
	_Atomic bool held; /* what it writes comes when this is over */
	_Atomic int slow_pieces; /* the trace is written in so many, 100 ms between them */
	_Atomic int metrics_bytes; /* more that /metrics tells */
	_Atomic int writes;	 /* enum fake_vllm_writes */
	const char *token, *dir;
	/* what happened */
	_Atomic int starts, stops, metrics, denied, written; /* written: windows, wholly */
	_Atomic bool profiling, was_double; /* double: a start came while it was profiling */
};

extern struct fake_vllm fake_vllm;

/* Starts with everything as it should be. Its url lives until it is closed. */
const char *fake_vllm_open(const char *dir);
void fake_vllm_close(void); /* when all is written; fine where it is not open */

#endif
