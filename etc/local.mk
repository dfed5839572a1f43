# what is installed beside the programs: samples of configuration, and systemd's units, in which the paths of this build stand
pkgsysconfdir = $(sysconfdir)/trainspotter
dist_pkgsysconf_DATA =
dist_pkgsysconf_DATA += etc/trainspotterd.yaml
dist_pkgsysconf_DATA += etc/agent.yaml

unitdir = $(prefix)/lib/systemd/system
nodist_unit_DATA =
unit_sed = $(MKDIR_P) etc && $(SED) -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g'

nodist_unit_DATA += etc/trainspotterd.service
EXTRA_DIST += etc/trainspotterd.service.in
CLEANFILES += etc/trainspotterd.service
etc/trainspotterd.service: etc/trainspotterd.service.in Makefile
	$(AM_V_GEN)$(unit_sed) $(srcdir)/etc/trainspotterd.service.in > $@

nodist_unit_DATA += etc/trainspotter-agent.service
EXTRA_DIST += etc/trainspotter-agent.service.in
CLEANFILES += etc/trainspotter-agent.service
etc/trainspotter-agent.service: etc/trainspotter-agent.service.in Makefile
	$(AM_V_GEN)$(unit_sed) $(srcdir)/etc/trainspotter-agent.service.in > $@

# compiled in (detect/local.mk); installed to be read, and to be copied from
dist_pkgdata_DATA = etc/fusion.yaml
# only to be copied from
dist_pkgdata_DATA += etc/name-rules.yaml

# to be copied from, and changed: drop-ins for the agent's unit, and Kubernetes
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	etc/kubernetes/daemonset.yaml \
	etc/trainspotter-agent.kineto.conf \
	etc/trainspotter-agent.neuron.conf

EXTRA_DIST += \
	etc/Containerfile \
	etc/Containerfile.dockerignore \
	etc/helm/trainspotter-agent/Chart.yaml \
	etc/helm/trainspotter-agent/values.yaml \
	etc/helm/trainspotter-agent/templates/NOTES.txt \
	etc/helm/trainspotter-agent/templates/_helpers.tpl \
	etc/helm/trainspotter-agent/templates/agent-configmap.yaml \
	etc/helm/trainspotter-agent/templates/agent-daemonset.yaml \
	etc/helm/trainspotter-agent/templates/daemon-configmap.yaml \
	etc/helm/trainspotter-agent/templates/daemon-service.yaml \
	etc/helm/trainspotter-agent/templates/daemon-statefulset.yaml \
	etc/helm/trainspotter-agent/templates/serviceaccount.yaml
