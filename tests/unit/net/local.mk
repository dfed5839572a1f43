# tests of net/
if HAVE_CHECK
check_PROGRAMS += tests/unit/net/test_net
TESTS += tests/unit/net/test_net
endif
tests_unit_net_test_net_SOURCES = \
	tests/support/grpc_server.c tests/support/grpc_server.h \
	tests/unit/net/main.c \
	tests/unit/net/raw.c tests/unit/net/raw.h \
	tests/unit/net/test_auth.c \
	tests/unit/net/test_grpc_client.c \
	tests/unit/net/test_http_client.c \
	tests/unit/net/test_http_parse.c \
	tests/unit/net/test_http_server.c \
	tests/unit/net/test_token.c
tests_unit_net_test_net_LDADD = $(LINK_NET)
