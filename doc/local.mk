# manual pages and documents

# The pages are printed by the programs themselves, from the tables behind --help and --print-config. A build for another
# machine cannot run them and goes without.
if NATIVE
nodist_man_MANS = doc/man/trainspotter.1 doc/man/trainspotterd.8
nodist_man_MANS += doc/man/trainspotter-agent.8
endif
CLEANFILES += doc/man/trainspotter.1 doc/man/trainspotterd.8
CLEANFILES += doc/man/trainspotter-agent.8
make_page = $(MKDIR_P) doc/man && $$program --help=mdoc > $@.tmp && mv $@.tmp $@

doc/man/trainspotter.1: trainspotter$(EXEEXT)
	$(AM_V_GEN)program=./trainspotter$(EXEEXT); $(make_page)

doc/man/trainspotterd.8: trainspotterd$(EXEEXT)
	$(AM_V_GEN)program=./trainspotterd$(EXEEXT); $(make_page)

doc/man/trainspotter-agent.8: trainspotter-agent$(EXEEXT)
	$(AM_V_GEN)program=./trainspotter-agent$(EXEEXT); $(make_page)

EXTRA_DIST += doc/api.md \
	doc/capture.md \
	doc/deploy.md \
	doc/wire.md \
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
