// Package eval measures how well calls hear: when a turn ends, which values a slot takes, and
// whether the agent takes its own voice for the caller's. It holds calls in virtual time with
// the real detector and recognizer and with answers that voices synthesize or that people have
// recorded. It does not judge; docs/measured.md has the results and the goals.
package eval
