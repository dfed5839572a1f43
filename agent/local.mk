# The agent. Its parts are a library, so that tests can link them without main.
noinst_LIBRARIES += agent/libagent.a
agent_libagent_a_SOURCES = \
	agent/agent.c agent/agent.h \
	agent/cgroup.c agent/cgroup.h \
	agent/cores.c agent/cores.h \
	agent/cost.c agent/cost.h \
	agent/courier.c agent/courier.h \
	agent/decode.c agent/decode.h \
	agent/errand.c agent/errand.h \
	agent/exec.c agent/exec.h \
	agent/exec_run.c agent/exec_run.h \
	agent/fleet.c agent/fleet.h \
	agent/guard.c agent/guard.h \
	agent/harvest.c agent/harvest.h \
	agent/host.c agent/host.h \
	agent/identity.c agent/identity.h \
	agent/job.c agent/job.h \
	agent/keep.c agent/keep.h \
	agent/kineto.c agent/kineto.h \
	agent/kineto_config.c agent/kineto_config.h \
	agent/kineto_poll.c agent/kineto_poll.h \
	agent/kineto_sock.c agent/kineto_sock.h \
	agent/kineto_table.c agent/kineto_table.h \
	agent/kineto_wire.c agent/kineto_wire.h \
	agent/lead.c agent/lead.h \
	agent/marker.c agent/marker.h \
	agent/meter.c agent/meter.h \
	agent/monitor.c agent/monitor.h \
	agent/options.c agent/options.h \
	agent/outbox.c agent/outbox.h \
	agent/pace.c agent/pace.h \
	agent/plan.c agent/plan.h \
	agent/podinfo.c agent/podinfo.h \
	agent/prometheus.c agent/prometheus.h \
	agent/proc_find.c agent/proc_find.h \
	agent/quarantine.c agent/quarantine.h \
	agent/report.c agent/report.h \
	agent/schedule.c agent/schedule.h \
	agent/session_source.c agent/session_source.h \
	agent/sequence.c agent/sequence.h \
	agent/ship.c agent/ship.h \
	agent/source.h \
	agent/spool.c agent/spool.h \
	agent/sysfs.c agent/sysfs.h \
	agent/sysfs_walk.c agent/sysfs_walk.h \
	agent/vllm.c agent/vllm.h \
	agent/vllm_decode.c agent/vllm_decode.h \
	agent/vllm_find.c agent/vllm_find.h \
	agent/vllm_journal.c agent/vllm_journal.h \
	agent/vllm_metrics.c agent/vllm_metrics.h \
	agent/vllm_task.c agent/vllm_task.h \
	agent/watch.c agent/watch.h \
	agent/watch_source.c agent/watch_source.h \
	agent/worker.c agent/worker.h \
	agent/xla.c agent/xla.h \
	agent/xla_call.c agent/xla_call.h \
	agent/xla_folder.c agent/xla_folder.h \
	agent/xla_scan.c agent/xla_scan.h \
	agent/xla_wire.c agent/xla_wire.h

sbin_PROGRAMS += trainspotter-agent
trainspotter_agent_SOURCES = agent/main.c
trainspotter_agent_LDADD = \
	agent/libagent.a net/libnet.a wire/libwire.a trace/libtrace.a profile/libprofile.a \
	stat/libstat.a json/libjson.a base/libbase.a \
	$(CURL_LIBS) $(EVENT_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) -lm
