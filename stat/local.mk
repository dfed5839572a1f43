noinst_LIBRARIES += stat/libstat.a
stat_libstat_a_SOURCES = \
	stat/hist.c stat/hist.h \
	stat/rank.c stat/rank.h \
	stat/robust.c stat/robust.h
