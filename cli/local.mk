bin_PROGRAMS += trainspotter
trainspotter_SOURCES = \
	cli/capture.c cli/capture.h \
	cli/chart.c cli/chart.h \
	cli/chrome_print.c cli/chrome_print.h \
	cli/cmd.c cli/cmd.h \
	cli/cmd_agents.c \
	cli/cmd_alerts.c \
	cli/cmd_capture.c \
	cli/cmd_compare.c \
	cli/cmd_deploys.c \
	cli/cmd_diff.c \
	cli/cmd_hosts.c \
	cli/cmd_send.c \
	cli/cmd_services.c \
	cli/cmd_summarize.c \
	cli/cmd_top.c \
	cli/cmd_trend.c \
	cli/cmd_windows.c \
	cli/csv.c cli/csv.h \
	cli/explain.c cli/explain.h \
	cli/diff_side.c cli/diff_side.h \
	cli/keyavg_print.c cli/keyavg_print.h \
	cli/main.c \
	cli/neuron_print.c cli/neuron_print.h \
	cli/ops.c cli/ops.h \
	cli/optable_file.c cli/optable_file.h \
	cli/overhead.c cli/overhead.h \
	cli/pprof.c cli/pprof.h \
	cli/pprof_print.c cli/pprof_print.h \
	cli/progress.c cli/progress.h \
	cli/ranks.c cli/ranks.h \
	cli/remote.c cli/remote.h \
	cli/screen.c cli/screen.h \
	cli/steps_print.c cli/steps_print.h \
	cli/summary.c cli/summary.h \
	cli/table.c cli/table.h \
	cli/width.c cli/width.h \
	cli/xla_print.c cli/xla_print.h
trainspotter_LDADD = \
	net/libnet.a detect/libdetect.a wire/libwire.a trace/libtrace.a profile/libprofile.a \
	stat/libstat.a json/libjson.a base/libbase.a \
	$(CURL_LIBS) $(EVENT_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) -lm
