// Package headless is the front ends without a screen: consumers of the same
// events and senders of the same commands as the TUI. [Run] sends one prompt and
// tells what comes of it as text, as one JSON object, or as a line of JSON for
// each thing that happens.
//
// Its state is the fold of the engine's events ([record]); a format is a [writer]
// that reads it. Nobody is here to be asked: what needs approval is refused.
// Everything it prints is inert: text passes [inert.Text], JSON has escapes where
// that would change it.
package headless
