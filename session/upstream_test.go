package session

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// ending is a stream of a service that says when it will end.
type ending struct {
	port.UpstreamStream
	at time.Time
}

func (e *ending) Expires() time.Time { return e.at }

// A service whose sessions are shorter than expected, or whose clock is another, is not asked for
// one session after the other.
func TestUpstreamIsRenewedInTime(t *testing.T) {
	const never = -1
	for life, want := range map[time.Duration]time.Duration{
		time.Hour: 59 * time.Minute, 2 * time.Minute: time.Minute, 90 * time.Second: 45 * time.Second,
		30 * time.Second: 15 * time.Second, time.Second: never, 0: never, -time.Hour: never,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			u, _ := connected(&ending{at: began.Add(life)})
			u.s.virtualNow = began
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go u.watch(ctx)
			warned := time.Duration(never)
			for range 2 * 3600 {
				synctest.Wait()
				u.s.mu.Lock()
				posted := len(u.s.posted)
				u.s.mu.Unlock()
				if posted > 0 {
					warned = time.Since(began)
					break
				}
				time.Sleep(time.Second)
			}
			if warned != want {
				t.Errorf("a session of %v: the warning comes after %v, want %v", life, warned, want)
			}
		})
	}
}
