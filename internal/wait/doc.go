// Package wait waits for a duration or the end of a context. It leaves no goroutines
// behind. In a bubble of testing/synctest it uses the bubble's clock.
package wait
