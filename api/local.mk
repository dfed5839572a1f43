noinst_LIBRARIES += api/libapi.a
api_libapi_a_SOURCES =
