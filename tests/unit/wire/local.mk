# tests of wire/
