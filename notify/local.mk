noinst_LIBRARIES += notify/libnotify.a
notify_libnotify_a_SOURCES =
