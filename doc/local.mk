# manual pages and documents
EXTRA_DIST += doc/api.md
EXTRA_DIST += doc/decisions/0003-http-server.md
