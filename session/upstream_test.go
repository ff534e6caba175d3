package session

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hocketvoice/hocket/port"
)

// endless is a stream of a speech-to-speech service whose Close takes until open is closed; nil:
// no time.
type endless struct {
	port.UpstreamStream
	open   chan struct{}
	closed atomic.Bool
}

func (e *endless) Close() error {
	if e.open != nil {
		<-e.open
	}
	e.closed.Store(true)
	return nil
}

// connected returns an upstream that uses a stream.
func connected(stream port.UpstreamStream) (*upstream, *link) {
	u := &upstream{s: &Session{work: newWork()}, moved: make(chan struct{}, 1)}
	l := &link{stream: stream}
	u.use(l)
	return u, l
}

// The session ends when the connection that broke has been given back too.
func TestUpstreamWaitsForTheLostLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := &endless{open: make(chan struct{})}
		u, l := connected(stream)
		u.take(l, port.UpstreamEvent{Kind: port.UpstreamClosed})
		var ended atomic.Bool
		go func() {
			if err := u.close(); err != nil {
				t.Error(err)
			}
			ended.Store(true)
		}()
		synctest.Wait()
		if ended.Load() {
			t.Error("the session ends before its lost connection is closed")
		}
		close(stream.open)
		synctest.Wait()
		if !ended.Load() {
			t.Error("the session does not end")
		}
	})
}

// A call that ends at the moment its connection breaks waits until that is closed.
func TestUpstreamLosesItsLinkAtTheEnd(t *testing.T) {
	for range 5000 {
		stream := &endless{}
		u, l := connected(stream)
		var breaks sync.WaitGroup
		breaks.Go(func() { u.take(l, port.UpstreamEvent{Kind: port.UpstreamClosed}) })
		for u.connected() {
			runtime.Gosched()
		}
		if err := u.close(); err != nil {
			t.Fatal(err)
		}
		closed := stream.closed.Load()
		breaks.Wait()
		if !closed {
			t.Fatal("the session has ended, and its connection is not closed")
		}
	}
}
