/* neuron_ls.h — neuron-ls -j: the Neuron devices of a host, their cores, and the processes that hold them.
 *
 *	[ {"neuron_device":0,"nc_count":4,"logical_neuroncore_config":2,"memory_size":…,"neuroncore_ids":[0,1,2,3],
 *	   "connected_to":[…],"bdf":…,"cpu_affinity":…,"numa_node":…,
 *	   "neuron_processes":[{"pid":1966680,"command":"","neuron_runtime_version":"2.34.10"}]}, … ]
 *
 * Newer versions name instance_type and instance_id too. Pids are those of the host's name space. */
#ifndef TRACE_NEURON_LS_H
#define TRACE_NEURON_LS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "profile/window.h"
#include "trace/tokens.h"

enum { NEURON_DEVICES_MAX = 1024, NEURON_CORES_MAX = 64, NEURON_PROCESSES_MAX = 256, NEURON_LINKS_MAX = 64 };

struct neuron_process {
	int64_t pid;
	struct str command, runtime_version;
};

struct neuron_chip {
	int64_t index; /* -1 where it is not said */
	int64_t cores, logical_config, memory_bytes;
	struct str bdf, cpu_affinity, numa_node;
	int64_t core_ids[NEURON_CORES_MAX], connected[NEURON_LINKS_MAX];
	struct neuron_process processes[NEURON_PROCESSES_MAX];
	size_t n_core_ids, n_connected, n_processes;
};

struct neuron_host {
	struct str instance_type, instance_id; /* empty where not known */
	struct neuron_chip **chips;
	size_t n_chips;
};

/* Everything lives in the arena. E_FORMAT where it is no such list. */
int neuron_ls_host(struct arena *a, struct tokens *t, struct neuron_host *out, struct err *e) MUST_USE;

/* The same as a window of gauges: neuron_devices, neuroncores; device_memory_size, device_neuroncores,
 * logical_neuroncore_config, device_processes {device}. Versions: runtime. host: instance_id. No ops, no times. */
int neuron_ls_read(struct arena *a, struct tokens *t, struct window *out, struct err *e) MUST_USE;

#endif
