// Package echo removes the agent's own voice from what a microphone hears. It is deterministic.
package echo
