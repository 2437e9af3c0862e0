// Package llmtest is what tests of models need:
//
//   - [Script], a client that plays answers that a test wrote and records what
//     it was asked;
//   - [NewServer], a loopback server that speaks a provider's protocol (a
//     [Dialect]) from scripts and misbehaves on demand, and that refuses requests
//     which the provider would refuse;
//   - [Suite], what every provider must pass.
//
// Only tests import it.
package llmtest
