sbin_PROGRAMS += trainspotterd
trainspotterd_SOURCES = \
	daemon/daemon.c daemon/daemon.h \
	daemon/main.c \
	daemon/options.c daemon/options.h \
	daemon/tables.c daemon/tables.h \
	daemon/tick.c daemon/tick.h
trainspotterd_LDADD = \
	api/libapi.a notify/libnotify.a store/libstore.a detect/libdetect.a net/libnet.a wire/libwire.a profile/libprofile.a \
	stat/libstat.a json/libjson.a base/libbase.a \
	$(SQLITE_LIBS) $(CURL_LIBS) $(EVENT_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) -lm
