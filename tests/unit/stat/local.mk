# tests of stat/
