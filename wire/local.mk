noinst_LIBRARIES += wire/libwire.a
wire_libwire_a_SOURCES = \
	wire/wire.h
