noinst_LIBRARIES += detect/libdetect.a
detect_libdetect_a_SOURCES = \
	detect/judge.h
