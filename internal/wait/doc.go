// Package wait waits by the clock, and for no longer than a context lasts. It owns no
// goroutine when its calls have returned, and in a bubble of testing/synctest it waits by
// the bubble's clock.
package wait
