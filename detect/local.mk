noinst_LIBRARIES += detect/libdetect.a
detect_libdetect_a_SOURCES = \
	detect/fusion.c detect/fusion.h \
	detect/fusion_load.c detect/fusion_load.h \
	detect/fusion_table.c detect/fusion_table.h \
	detect/judge.c detect/judge.h \
	detect/names.c detect/names.h \
	detect/optable.c detect/optable.h \
	detect/sentence.c detect/sentence.h \
	detect/side.c detect/side.h \
	detect/slower.c detect/slower.h
nodist_detect_libdetect_a_SOURCES = detect/fusion_default.c

# etc/fusion.yaml as a C string: the table that is compiled in
CLEANFILES += detect/fusion_default.c
detect/fusion_default.c: $(top_srcdir)/etc/fusion.yaml
	$(AM_V_GEN)$(MKDIR_P) detect && { \
		echo '/* made from etc/fusion.yaml */' && \
		echo '#include "detect/fusion_table.h"' && \
		echo 'const char fusion_default_yaml[] =' && \
		$(SED) -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n"/' $(top_srcdir)/etc/fusion.yaml && \
		echo ';'; } > $@.tmp && mv $@.tmp $@
