// Package offline is the embedded model that answers when no provider is
// configured. It is rules, not intelligence, and says so: it does what plain
// requests ask through the real tools, answers questions about the product,
// says how to connect a real model, and summarises by extraction. So every
// feature can be tried, tested and shown with no network and no key.
//
// It keeps nothing between requests: what to do next follows from the
// conversation alone. It never opens a connection.
package offline
