// Package provider is the one place that knows who can be asked: the table of
// providers, where their keys and addresses come from, and the [Catalog] that
// makes a client of a name.
//
//	environment ─┐
//	credentials ─┼─▶ Catalog ─▶ llm.Client (retries and counts the cost)
//	models.json ─┘      ▲
//	local servers ──────┘ Probe, in the background
//
// A Catalog is immutable: what a probe finds makes another one. Keys are read
// when a client is made, and go nowhere but into its requests.
package provider
