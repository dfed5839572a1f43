noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/arena.c base/arena.h \
	base/banned.h \
	base/buf.c base/buf.h \
	base/chan.c base/chan.h \
	base/child.c base/child.h \
	base/clock.c base/clock.h \
	base/code.h \
	base/conf.c base/conf.h \
	base/crash.c base/crash.h \
	base/enc.c base/enc.h \
	base/err.c base/err.h \
	base/file.c base/file.h \
	base/hash.c base/hash.h \
	base/log.c base/log.h \
	base/map.c base/map.h \
	base/mdoc.c base/mdoc.h \
	base/mem.c base/mem.h \
	base/metric.c base/metric.h \
	base/must.c base/must.h \
	base/near.c base/near.h \
	base/opt.c base/opt_text.c base/opt.h \
	base/pbw.c base/pbw.h \
	base/proc.c base/proc.h \
	base/quantity.c base/quantity.h \
	base/rand.c base/rand.h \
	base/size.c base/size.h \
	base/str.c base/str.h \
	base/thread.c base/thread.h \
	base/tree.c base/tree.h \
	base/vec.h \
	base/yaml.c base/yaml.h
