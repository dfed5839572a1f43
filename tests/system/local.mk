# real binaries over loopback
