# tests of net/
