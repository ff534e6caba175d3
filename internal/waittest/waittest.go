package waittest

import (
	"context"
	"testing"
	"time"
)

// limit is the end of a wait. Nothing that a test waits for takes nearly as long, even on
// a busy machine: a test that reaches it fails, and one that passes never depends on it.
const limit = 2 * time.Minute

const every = 5 * time.Millisecond

// Context returns a context that ends with the test, and at the latest when waits end.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// Until returns when is returns true. It fails the test and ends the goroutine if that
// does not happen in time, or if gone is closed, since what is waited for cannot happen
// any more. gone may be nil; what completes the sentence "waited in vain for".
func Until(t testing.TB, what string, gone <-chan struct{}, is func() bool) {
	t.Helper()
	tick, over := time.NewTicker(every), time.NewTimer(limit)
	defer tick.Stop()
	defer over.Stop()
	for !is() {
		select {
		case <-tick.C:
			continue
		case <-over.C:
		case <-gone:
			if is() {
				return
			}
		}
		t.Errorf("waited in vain for %s", what)
		t.FailNow()
	}
}
