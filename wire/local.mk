# The C code of trainspotter.proto is made at build time; wire/pb.c takes it in. BUILT_SOURCES is not enough: a single
# target (make wire/libwire.a) must find it, too, hence the dependencies below.
noinst_LIBRARIES += wire/libwire.a
wire_libwire_a_SOURCES = \
	wire/decode.c \
	wire/encode.c \
	wire/form.c wire/form.h \
	wire/json_form.c \
	wire/pack.c wire/pack.h \
	wire/pb.c wire/pb.h wire/pb_columns.h \
	wire/scan.c wire/scan.h \
	wire/wire.h
EXTRA_DIST += wire/trainspotter.proto
BUILT_SOURCES += wire/trainspotter.pb-c.h
CLEANFILES += wire/trainspotter.pb-c.c wire/trainspotter.pb-c.h

wire/trainspotter.pb-c.h: $(srcdir)/wire/trainspotter.proto wire/$(am__dirstamp)
	$(AM_V_GEN)$(PROTOC_C) --proto_path=$(srcdir) --c_out=$(builddir) $(srcdir)/wire/trainspotter.proto
wire/trainspotter.pb-c.c: wire/trainspotter.pb-c.h

wire/decode.$(OBJEXT) wire/encode.$(OBJEXT) wire/pb.$(OBJEXT): wire/trainspotter.pb-c.h wire/trainspotter.pb-c.c
