// Package headless is the front ends without a screen: consumers of the same
// events and senders of the same commands as the TUI.
package headless
