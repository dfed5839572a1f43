# tests of base/
if HAVE_CHECK
check_PROGRAMS += tests/unit/base/test_base
TESTS += tests/unit/base/test_base
endif
tests_unit_base_test_base_SOURCES = \
	tests/unit/base/main.c \
	tests/unit/base/test_arena.c \
	tests/unit/base/test_buf.c \
	tests/unit/base/test_chan.c \
	tests/unit/base/test_child.c \
	tests/unit/base/test_clock.c \
	tests/unit/base/test_conf.c \
	tests/unit/base/test_crash.c \
	tests/unit/base/test_enc.c \
	tests/unit/base/test_err.c \
	tests/unit/base/test_file.c \
	tests/unit/base/test_hash.c \
	tests/unit/base/test_log.c \
	tests/unit/base/test_map.c \
	tests/unit/base/test_metric.c \
	tests/unit/base/test_must.c \
	tests/unit/base/test_near.c \
	tests/unit/base/test_opt.c \
	tests/unit/base/test_pbw.c \
	tests/unit/base/test_proc.c \
	tests/unit/base/test_quantity.c \
	tests/unit/base/test_rand.c \
	tests/unit/base/test_size.c \
	tests/unit/base/test_str.c \
	tests/unit/base/test_thread.c \
	tests/unit/base/test_tree.c \
	tests/unit/base/test_vec.c \
	tests/unit/base/test_yaml.c
tests_unit_base_test_base_LDADD = $(LINK_BASE)
