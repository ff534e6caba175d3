package waittest

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
)

// failing is a test that records its failure.
type failing struct {
	*testing.T
	words string
}

func (f *failing) Errorf(format string, args ...any) { f.words = fmt.Sprintf(format, args...) }
func (f *failing) FailNow()                          { runtime.Goexit() }

// TestUntil checks that a wait ends with the condition, with its limit, and at once when
// the condition cannot come true any more.
func TestUntil(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for _, c := range []struct {
		name string
		gone <-chan struct{}
		true int // the call for which the condition is true; 0: none
		want string
	}{
		{"at once", nil, 1, ""},
		{"later", nil, 1000, ""},
		{"never", nil, 0, "waited in vain for the moon"},
		{"gone", closed, 0, "waited in vain for the moon"},
		{"gone, but true", closed, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := failing{T: t}
				done := make(chan struct{})
				go func() {
					defer close(done)
					n := 0
					Until(&f, "the moon", c.gone, func() bool { n++; return n == c.true })
				}()
				<-done
				if f.words != c.want {
					t.Errorf("the test fails with %q, expected %q", f.words, c.want)
				}
			})
		})
	}
}

// TestContext checks that a context has a deadline.
func TestContext(t *testing.T) {
	if _, ok := Context(t).Deadline(); !ok {
		t.Error("the context has no deadline")
	}
}
