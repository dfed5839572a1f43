# tests of agent/, with a made-up daemon (fake_http) and made-up traces (fake_window) linked in place of the real ones
if HAVE_CHECK
check_PROGRAMS += tests/unit/agent/test_agent
TESTS += tests/unit/agent/test_agent
endif
tests_unit_agent_test_agent_SOURCES = \
	tests/unit/agent/fake_http.c tests/unit/agent/fake_http.h \
	tests/unit/agent/fake_kineto.c tests/unit/agent/fake_kineto.h \
	tests/unit/agent/fake_window.c \
	tests/unit/agent/folder.c tests/unit/agent/folder.h \
	tests/unit/agent/main.c \
	tests/unit/agent/test_agent.c \
	tests/unit/agent/test_cost.c \
	tests/unit/agent/test_identity.c \
	tests/unit/agent/test_errand.c \
	tests/unit/agent/test_fleet.c \
	tests/unit/agent/test_job.c \
	tests/unit/agent/test_keep.c \
	tests/unit/agent/test_kineto.c \
	tests/unit/agent/test_kineto_config.c \
	tests/unit/agent/test_kineto_table.c \
	tests/unit/agent/test_kineto_wire.c \
	tests/unit/agent/test_lead.c \
	tests/unit/agent/test_meter.c \
	tests/unit/agent/test_monitor.c \
	tests/unit/agent/test_options.c \
	tests/unit/agent/test_outbox.c \
	tests/unit/agent/test_prometheus.c \
	tests/unit/agent/test_pace.c \
	tests/unit/agent/test_plan.c \
	tests/unit/agent/test_report.c \
	tests/unit/agent/test_schedule.c \
	tests/unit/agent/test_ship.c \
	tests/unit/agent/test_spool.c \
	tests/unit/agent/test_sysfs.c \
	tests/unit/agent/test_watch.c \
	tests/unit/agent/test_worker.c \
	tests/unit/agent/test_xla_folder.c \
	tests/unit/agent/test_xla_scan.c \
	tests/unit/agent/test_xla_wire.c
tests_unit_agent_test_agent_LDADD = agent/libagent.a trace/libtrace.a net/libnet.a $(LINK_WIRE) $(ZLIB_LIBS)

# the source vllm against a made-up server, over real sockets
if HAVE_CHECK
check_PROGRAMS += tests/unit/agent/test_vllm
TESTS += tests/unit/agent/test_vllm
endif
tests_unit_agent_test_vllm_SOURCES = \
	tests/support/tls_front.c tests/support/tls_front.h \
	tests/unit/agent/fake_plan.c tests/unit/agent/fake_plan.h \
	tests/unit/agent/fake_vllm.c tests/unit/agent/fake_vllm.h \
	tests/unit/agent/folder.c tests/unit/agent/folder.h \
	tests/unit/agent/session.c tests/unit/agent/session.h \
	tests/unit/agent/test_vllm.c \
	tests/unit/agent/vllm_main.c
# libssl: of the package that libcrypto is of
tests_unit_agent_test_vllm_LDADD = agent/libagent.a trace/libtrace.a $(LINK_NET) $(ZSTD_LIBS) -lssl $(CRYPTO_LIBS)

# what runs programs and takes what they leave, with the real readers of traces
if HAVE_CHECK
check_PROGRAMS += tests/unit/agent/test_exec
TESTS += tests/unit/agent/test_exec
endif
EXTRA_DIST += tests/support/neuron-explorer
tests_unit_agent_test_exec_SOURCES = \
	tests/unit/agent/exec_main.c \
	tests/unit/agent/folder.c tests/unit/agent/folder.h \
	tests/unit/agent/session.c tests/unit/agent/session.h \
	tests/unit/agent/test_decode.c \
	tests/unit/agent/test_exec.c \
	tests/unit/agent/test_harvest.c \
	tests/unit/agent/test_session_source.c
tests_unit_agent_test_exec_LDADD = agent/libagent.a net/libnet.a wire/libwire.a trace/libtrace.a profile/libprofile.a \
	stat/libstat.a json/libjson.a base/libbase.a \
	$(CURL_LIBS) $(EVENT_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) $(CHECK_LIBS) -lm

# the source xla against a stand-in for a profiler server, with nothing made up on our side
if HAVE_CHECK
check_PROGRAMS += tests/unit/agent/test_xla
TESTS += tests/unit/agent/test_xla
endif
tests_unit_agent_test_xla_SOURCES = \
	tests/support/grpc_server.c tests/support/grpc_server.h \
	tests/unit/agent/folder.c tests/unit/agent/folder.h \
	tests/unit/agent/test_xla.c \
	tests/unit/agent/xla_main.c \
	tests/unit/trace/help.c tests/unit/trace/help.h \
	tests/unit/trace/help_xla.c tests/unit/trace/help_xla.h
tests_unit_agent_test_xla_LDADD = agent/libagent.a wire/libwire.a trace/libtrace.a $(LINK_NET) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS)
