noinst_LIBRARIES += net/libnet.a
net_libnet_a_SOURCES = \
	net/http_client.c net/http_client.h \
	net/http_server.h
