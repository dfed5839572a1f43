noinst_LIBRARIES += stat/libstat.a
stat_libstat_a_SOURCES = \
	stat/hist.c stat/hist.h \
	stat/rank.h stat/robust.h
