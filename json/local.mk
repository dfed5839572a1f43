noinst_LIBRARIES += json/libjson.a
json_libjson_a_SOURCES = \
	json/behind.c json/behind.h \
	json/mask.c json/mask.h \
	json/num.c json/num.h \
	json/pull.c json/pull.h \
	json/scan.c json/scan.h \
	json/text.c json/text.h \
	json/tree.c json/tree.h \
	json/utf8.c json/utf8.h \
	json/write.c json/write.h
