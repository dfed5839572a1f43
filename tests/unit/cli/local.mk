# tests of cli/
