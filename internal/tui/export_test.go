package tui

// ForkTree is for tests.
var ForkTree = forkTree
