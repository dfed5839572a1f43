bin_PROGRAMS += trainspotter
trainspotter_SOURCES = \
	cli/cmd.c cli/cmd.h \
	cli/main.c \
	cli/table.c cli/table.h
trainspotter_LDADD = \
	net/libnet.a detect/libdetect.a wire/libwire.a trace/libtrace.a profile/libprofile.a \
	stat/libstat.a json/libjson.a base/libbase.a \
	$(CURL_LIBS) $(EVENT_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) -lm
