// Command agent is Banyan, a terminal coding agent whose conversations are
// trees. This package is wiring only: it parses flags, finds folders, chooses a
// model, joins the engine with a front end and runs them.
package main
