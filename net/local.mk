noinst_LIBRARIES += net/libnet.a
net_libnet_a_SOURCES = \
	net/auth.c net/auth.h \
	net/grpc_client.c net/grpc_client.h \
	net/http_client.c net/http_client.h \
	net/http_conn.c net/http_conn.h \
	net/http_parse.c net/http_parse.h \
	net/http_server.c net/http_server.h \
	net/problem.c net/problem.h \
	net/token.c net/token.h
