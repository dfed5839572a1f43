# manual pages and documents
EXTRA_DIST += doc/api.md \
	doc/decisions/0001-floors.md \
	doc/decisions/0002-own-json-reader.md \
	doc/decisions/0003-libevent.md \
	doc/decisions/0004-xxhash.md \
	doc/decisions/0005-sqlite.md \
	doc/decisions/0006-libcurl.md \
	doc/decisions/0007-libyaml.md \
	doc/decisions/0008-protobuf-c-and-zstd.md \
	doc/decisions/0009-zlib.md \
	doc/decisions/0010-openssl.md \
	doc/decisions/0011-check.md
