noinst_LIBRARIES += profile/libprofile.a
profile_libprofile_a_SOURCES = \
	profile/alert.c profile/alert.h \
	profile/capture.c profile/capture.h \
	profile/merge.c \
	profile/name.h \
	profile/op.c profile/op.h \
	profile/query.h \
	profile/sum.h \
	profile/verdict.c profile/verdict.h \
	profile/window.c profile/window.h
