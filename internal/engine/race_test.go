//go:build race

package engine

// raced says that tests take ten times as long.
const raced = true
