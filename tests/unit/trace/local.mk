# tests of trace/
