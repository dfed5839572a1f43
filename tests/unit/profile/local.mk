# tests of profile/
