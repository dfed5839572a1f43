# tests of detect/
if HAVE_CHECK
check_PROGRAMS += tests/unit/detect/test_detect
TESTS += tests/unit/detect/test_detect
endif
tests_unit_detect_test_detect_SOURCES = \
	tests/unit/detect/main.c \
	tests/unit/detect/sides.c tests/unit/detect/sides.h \
	tests/unit/detect/test_fusion.c \
	tests/unit/detect/test_fusion_table.c \
	tests/unit/detect/test_judge.c \
	tests/unit/detect/test_names.c \
	tests/unit/detect/test_pairs.c \
	tests/unit/detect/test_sentence.c \
	tests/unit/detect/test_side.c \
	tests/unit/detect/test_slower.c
tests_unit_detect_test_detect_LDADD = $(LINK_DETECT)
