# tests of detect/
