noinst_LIBRARIES += profile/libprofile.a
profile_libprofile_a_SOURCES = \
	profile/alert.h profile/op.h profile/query.h profile/verdict.h profile/window.h
