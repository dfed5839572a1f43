# tests of store/
