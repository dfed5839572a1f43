# tests/unit/FOLDER mirrors FOLDER, one program a folder; tests/system runs the real binaries; tests/house holds the rules.
EXTRA_DIST += tests/support/check_main.h

# What a test program links, by the highest floor it looks at.
LINK_BASE = base/libbase.a $(CHECK_LIBS) $(YAML_LIBS) -lm
LINK_FLOOR1 = stat/libstat.a json/libjson.a $(LINK_BASE)
LINK_FLOOR2 = profile/libprofile.a $(LINK_FLOOR1)
LINK_TRACE = trace/libtrace.a $(LINK_FLOOR2) $(ZSTD_LIBS) $(ZLIB_LIBS)
LINK_WIRE = wire/libwire.a $(LINK_FLOOR2) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS)
LINK_NET = net/libnet.a $(LINK_FLOOR2) $(EVENT_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(ZLIB_LIBS)
LINK_NET_PLAIN = net/libnet.a json/libjson.a base/libbase.a \
	$(EVENT_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(ZLIB_LIBS) $(YAML_LIBS) -lm
LINK_STORE = store/libstore.a $(LINK_FLOOR2) $(SQLITE_LIBS) $(ZSTD_LIBS)
LINK_DETECT = detect/libdetect.a $(LINK_FLOOR2)
LINK_API = api/libapi.a store/libstore.a detect/libdetect.a net/libnet.a wire/libwire.a $(LINK_FLOOR2) \
	$(SQLITE_LIBS) $(EVENT_LIBS) $(CURL_LIBS) $(CRYPTO_LIBS) $(PROTOBUF_C_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS)

include tests/unit/base/local.mk
include tests/unit/json/local.mk
include tests/unit/stat/local.mk
include tests/unit/profile/local.mk
include tests/unit/trace/local.mk
include tests/unit/wire/local.mk
include tests/unit/net/local.mk
include tests/unit/store/local.mk
include tests/unit/detect/local.mk
include tests/unit/api/local.mk
include tests/unit/notify/local.mk
include tests/unit/daemon/local.mk
include tests/unit/agent/local.mk
include tests/unit/cli/local.mk
include tests/fleet/local.mk
include tests/python/local.mk
include tests/system/local.mk
include tests/house/local.mk

# for ./dev torch, which installs what they need first
EXTRA_DIST += tests/torch/device.cpp tests/torch/fleet.py tests/torch/job.py tests/torch/on_demand.py tests/torch/requirements.txt \
	tests/torch/self.py tests/torch/self_test.py

# for ./dev jax, in the same way; it is part of CI
EXTRA_DIST += tests/jax/job.py tests/jax/on_demand.py tests/jax/requirements.txt
