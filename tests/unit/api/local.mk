# tests of api/
