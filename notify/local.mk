noinst_LIBRARIES += notify/libnotify.a
notify_libnotify_a_SOURCES = \
	notify/notify.c notify/notify.h \
	notify/seen.c notify/seen.h \
	notify/webhook.c notify/webhook.h
