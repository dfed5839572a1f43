#include "agent/identity.h"

#include <limits.h>
#include <stdio.h>

#include "agent/podinfo.h"
#include "base/log.h"
#include "base/mem.h"

enum { PODINFO_MAX = 1 << 18 /* annotations may have 256 KiB */ };

static void fill(char out[WORKER_TEXT], struct str text)
{
	if (out[0] == '\0' && worker_is_name(text, WORKER_TEXT))
		str_copy_to(text, out, WORKER_TEXT);
}

/* ---- the pod's files */

static bool read_podinfo(const struct worker *w, const char *dir, const char *name, struct buf *b)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < PATH_MAX && worker_read_file(w, path, b, NULL) == OK;
}

static void take_name(const struct worker *w, const char *dir, const char *name, char out[WORKER_TEXT])
{
	struct buf b;

	buf_init(&b, WORKER_TEXT);
	if (read_podinfo(w, dir, name, &b))
		fill(out, str_trim(buf_view(&b)));
	buf_fini(&b);
}

static void take_label(struct str text, const char *key, char out[WORKER_TEXT])
{
	char value[WORKER_TEXT];

	if (key[0] != '\0' && podinfo_get(text, str_of(key), value, sizeof(value)))
		fill(out, str_of(value));
}

static void take_labels(struct identity *id, const struct identity_conf *cf, const struct worker *w, const char *name)
{
	struct buf b;

	buf_init(&b, PODINFO_MAX);
	if (read_podinfo(w, cf->podinfo, name, &b)) {
		take_label(buf_view(&b), cf->service_label, id->service);
		take_label(buf_view(&b), cf->deploy_label, id->deploy);
	}
	buf_fini(&b);
}

static void take_pod(struct identity *id, const struct identity_conf *cf, const struct worker *w)
{
	if (cf->podinfo[0] != '\0' && w->born_ticks > 0) { /* of one that was not read the files would be our own pod's */
		take_labels(id, cf, w, "labels");
		take_labels(id, cf, w, "annotations");
		take_name(w, cf->podinfo, "name", id->pod);
		take_name(w, cf->podinfo, "namespace", id->pod_namespace);
	}
	fill(id->pod, str_of(w->pod));
	fill(id->pod_namespace, str_of(w->pod_namespace));
}

static void take_cores(struct identity *id, const struct worker *w, const struct cores *cores)
{
	struct cores_of of;

	if (cores == NULL || !cores_of(cores, w->pid, &of))
		return;
	str_copy_to(str_of(of.devices), id->devices, sizeof(id->devices));
	if (!of.alone)
		return;
	str_copy_to(str_of(of.text), id->cores, sizeof(id->cores));
	fill(id->worker, str_of(of.text));
}

void identity_read(struct identity *out, const struct identity_conf *cf, const struct worker *w, const struct identity_section *section,
	const struct cores *cores)
{
	*out = (struct identity){ .cgroup = w->cgroup };
	fill(out->service, str_of(w->service));
	fill(out->deploy, str_of(w->deploy));
	fill(out->worker, str_of(w->worker));
	fill(out->service, str_of(section->service));
	fill(out->deploy, str_of(section->deploy));
	fill(out->worker, str_of(section->worker));
	take_pod(out, cf, w);
	take_cores(out, w, cores);
}

size_t identity_labels(const struct identity *id, struct label out[IDENTITY_LABELS_MAX])
{
	const struct label all[] = {
		{ STR("pod"), str_of(id->pod) },
		{ STR("namespace"), str_of(id->pod_namespace) },
		{ STR("pod_uid"), str_of(id->cgroup.pod_uid) },
		{ STR("container"), str_of(id->cgroup.container) },
		{ STR("container_runtime"), str_of(cgroup_runtime_name(id->cgroup.runtime)) },
		{ STR("neuron_devices"), str_of(id->devices) },
		{ STR("neuron_cores"), str_of(id->cores) },
	};
	size_t n = 0;

	_Static_assert(COUNT(all) == IDENTITY_LABELS_MAX, "as many as there may be");
	for (size_t i = 0; i < COUNT(all); i++)
		if (!str_empty(all[i].value))
			out[n++] = all[i];
	return n;
}

/* ---- for all sources */

struct identities {
	struct identity_conf conf;
	struct cores *cores; /* NULL: nobody has held a device yet, or there is no program to ask */
	bool no_cores;
};

struct identities *identities_new(const struct identity_conf *cf)
{
	struct identities *ids = mem_get(sizeof(*ids));

	ids->conf = (struct identity_conf){
		.podinfo = mem_dup_text(cf->podinfo),
		.service_label = mem_dup_text(cf->service_label),
		.deploy_label = mem_dup_text(cf->deploy_label),
		.neuron_ls = mem_dup_text(cf->neuron_ls),
		.neuron_ls_every_ns = cf->neuron_ls_every_ns,
	};
	ids->no_cores = cf->neuron_ls[0] == '\0';
	return ids;
}

void identities_free(struct identities *ids)
{
	if (ids == NULL)
		return;
	cores_stop(ids->cores);
	mem_free(ids->conf.podinfo);
	mem_free(ids->conf.service_label);
	mem_free(ids->conf.deploy_label);
	mem_free(ids->conf.neuron_ls);
	mem_free(ids);
}

int identities_fd(struct identities *ids)
{
	return ids->cores == NULL ? -1 : cores_fd(ids->cores);
}

void identities_look(struct identities *ids)
{
	if (ids->cores != NULL)
		cores_look(ids->cores);
}

static void want_cores(struct identities *ids, const struct worker *w, int64_t now_ns)
{
	struct err e = { 0 };

	if (!w->owns_device || ids->no_cores)
		return;
	if (ids->cores == NULL && cores_start(&ids->cores, ids->conf.neuron_ls, ids->conf.neuron_ls_every_ns, &e) < 0) {
		log_error("neuron-ls.failed", "err=\"%s\"", e.text);
		ids->no_cores = true;
		return;
	}
	cores_want(ids->cores, w->pid, now_ns);
}

void identities_read(struct identities *ids, struct identity *out, const struct worker *w, const struct identity_section *section,
	int64_t now_ns)
{
	char none[] = "";
	const struct identity_conf nothing = { .podinfo = none, .service_label = none, .deploy_label = none, .neuron_ls = none };

	if (ids != NULL)
		want_cores(ids, w, now_ns);
	identity_read(out, ids == NULL ? &nothing : &ids->conf, w, section, ids == NULL ? NULL : ids->cores);
}
