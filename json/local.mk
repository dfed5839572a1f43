noinst_LIBRARIES += json/libjson.a
json_libjson_a_SOURCES = \
	json/num.h json/pull.h json/text.h json/tree.h json/write.h
