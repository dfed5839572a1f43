noinst_LIBRARIES += store/libstore.a
store_libstore_a_SOURCES = \
	store/alerts.c \
	store/captures.c \
	store/codec.c store/codec.h \
	store/cursor.c store/cursor.h \
	store/db.c store/db.h \
	store/deploys.c \
	store/filter.c store/filter.h \
	store/fleet.c \
	store/housekeep.c store/housekeep.h \
	store/inside.h \
	store/list.c store/list.h \
	store/merged.c \
	store/names.c store/names.h \
	store/put.c store/put.h \
	store/reader.c store/reader.h \
	store/reserve.c store/reserve.h \
	store/rollup.c store/rollup.h \
	store/scan.c store/scan.h \
	store/schema.c store/schema.h \
	store/store.c store/store.h \
	store/trend.c \
	store/windows.c \
	store/writer.c store/writer.h
