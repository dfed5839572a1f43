# story plays the fleet of ./dev demo and of the tests of the whole path
noinst_PROGRAMS += tools/story
tools_story_SOURCES = tools/story.c
tools_story_LDADD = base/libbase.a $(YAML_LIBS) -lm
EXTRA_DIST += tools/demo
