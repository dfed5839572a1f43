/* cgroup.h — which container and pod a process is in, from the text of its /proc/PID/cgroup. Pure.
 *
 * A line is "ID:CONTROLLERS:PATH" (version 1, one a hierarchy) or "0::PATH" (version 2). What a part of PATH says:
 *
 *	cri-containerd-ID.scope  crio-ID.scope  docker-ID.scope  libpod-ID.scope	systemd's driver
 *	NAME.slice:cri-containerd:ID							the same, nested in a service
 *	crio-ID  ID									the driver cgroupfs
 *	…-podUID.slice	podUID								the pod; '_' in UID stands for '-'
 *
 * ID is 64 hex digits, UID a UUID or, of a static pod, 32 hex digits. Parts go from outer to inner, so the last one of each counts:
 * a process of a container inside a container is in the inner one. A path that is told from inside another cgroup
 * namespace ("/../../…") is read the same way. */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include "base/str.h"

enum { CGROUP_UID_TEXT = 37, CGROUP_ID_TEXT = 65 };

enum cgroup_runtime {
	CGROUP_NO_RUNTIME, /* not in a container, or the path does not tell whose */
	CGROUP_CONTAINERD,
	CGROUP_CRIO,
	CGROUP_DOCKER,
	CGROUP_PODMAN,
	CGROUP_RUNTIMES
};
const char *cgroup_runtime_name(enum cgroup_runtime r); /* "" for CGROUP_NO_RUNTIME */

struct cgroup {
	enum cgroup_runtime runtime;
	char container[CGROUP_ID_TEXT]; /* "": in none */
	char pod_uid[CGROUP_UID_TEXT];	/* "": in none */
};

/* Lines that are none are passed over. */
void cgroup_parse(struct cgroup *out, struct str text);

#endif
