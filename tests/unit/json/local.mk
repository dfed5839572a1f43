# tests of json/
