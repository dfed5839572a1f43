# tests of agent/
