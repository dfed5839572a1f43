noinst_LIBRARIES += api/libapi.a
api_libapi_a_SOURCES = \
	api/agents.c \
	api/alerts.c \
	api/api.c api/api.h \
	api/behalf.c api/behalf.h \
	api/body.c api/body.h \
	api/call.h \
	api/captures.c \
	api/compare.c \
	api/deploys.c \
	api/desk.c api/desk.h \
	api/health.c \
	api/hosts.c \
	api/ingest.c \
	api/lease_ask.c \
	api/lease_inside.h \
	api/lease_show.c \
	api/lease_table.c api/lease_table.h \
	api/metrics.c \
	api/openapi.c \
	api/page.c \
	api/param.c api/param.h \
	api/route.c api/route.h \
	api/row.c api/row.h \
	api/schema.c api/schema.h \
	api/services.c \
	api/sides.c api/sides.h \
	api/top.c \
	api/trend.c \
	api/windows.c
