/* identity.h — whose window it is, of a worker that some source profiles. Of each column the first that says something counts:
 *
 *	from				service			deploy			worker
 *	the process (agent/worker.h)	TRAINSPOTTER_SERVICE	TRAINSPOTTER_DEPLOY	RANK
 *					NEURON_PROCESS_TAG				NEURON_RT_VISIBLE_CORES
 *	the source's section		service			deploy			worker
 *	its pod's labels, annotations	service_label		deploy_label
 *	neuron-ls (agent/cores.h)						the cores, where no other process holds their devices
 *
 * A sidecar beside the trace goes before all of it, a fingerprint behind (trace/window.h). The pod's files are those of the
 * downward API (agent/podinfo.h), in a folder of the worker's own file system: labels, annotations, name, namespace. Labels that
 * the window gets, where they are known:
 *
 *	pod, namespace		the pod's files, else POD_NAME, POD_NAMESPACE
 *	pod_uid, container, container_runtime	/proc/PID/cgroup
 *	neuron_devices, neuron_cores	"0-3", neuron-ls; the cores only where it holds their devices alone
 *
 * Runs on: the agent's main thread; reads small files. */
#ifndef AGENT_IDENTITY_H
#define AGENT_IDENTITY_H

#include <stddef.h>

#include "agent/cores.h"
#include "agent/worker.h"
#include "profile/window.h"

enum { IDENTITY_LABELS_MAX = 7 };

struct identity_conf { /* "identity." of the configuration */
	char *podinfo;	     /* folder of the downward API's files; "": none */
	char *service_label, *deploy_label; /* keys; "": none */
	char *neuron_ls;     /* program; "": none */
	int64_t neuron_ls_every_ns;
};

struct identity_section { /* what the source's section says, or "" */
	const char *service, *deploy, *worker;
};

struct identity {
	char service[WORKER_TEXT], deploy[WORKER_TEXT], worker[WORKER_TEXT]; /* "": nobody says */
	char pod[WORKER_TEXT], pod_namespace[WORKER_TEXT];
	struct cgroup cgroup;
	char devices[CORES_TEXT], cores[CORES_TEXT];
};

/* cores may be NULL. */
void identity_read(struct identity *out, const struct identity_conf *cf, const struct worker *w, const struct identity_section *section,
	const struct cores *cores);

/* Fills out with what is known; the texts are id's. Returns how many. */
size_t identity_labels(const struct identity *id, struct label out[IDENTITY_LABELS_MAX]);

/* What all sources ask: the configuration, and neuron-ls, which runs from the first worker on that holds a device. */
struct identities;

struct identities *identities_new(const struct identity_conf *cf); /* copies it */
void identities_free(struct identities *ids);			   /* NULL is fine */
int identities_fd(struct identities *ids);			   /* readable: call identities_look; -1 for none */
void identities_look(struct identities *ids);
/* ids NULL: without a pod's files and neuron-ls. */
void identities_read(struct identities *ids, struct identity *out, const struct worker *w, const struct identity_section *section,
	int64_t now_ns);

#endif
