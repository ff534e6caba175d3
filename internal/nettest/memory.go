package nettest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Memory is a network in memory between one HTTP server and its clients, which works with
// the virtual time of testing/synctest. It is safe for concurrent use.
type Memory struct {
	conns chan net.Conn
	donec chan struct{} // closed by Close
	once  sync.Once

	mu    sync.Mutex // guards the fields below
	dials int
	open  []net.Conn
	down  bool
}

// Serve serves h until the test ends. The contexts of requests end with that of the test.
func Serve(t testing.TB, h http.Handler) *Memory {
	t.Helper()
	n := &Memory{conns: make(chan net.Conn), donec: make(chan struct{})}
	server := &http.Server{ //nolint:gosec // its clients are tests
		Handler: h, BaseContext: func(net.Listener) context.Context { return t.Context() },
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(n) })
	t.Cleanup(func() {
		n.Cut()
		_ = server.Close()
		_ = n.Close()
		serving.Wait()
	})
	return n
}

// Transport returns a transport of a client. All addresses lead to the server; there is no
// TLS.
func (n *Memory) Transport() *http.Transport {
	return &http.Transport{DialContext: n.dial, DialTLSContext: n.dial, DisableKeepAlives: true}
}

// Cut breaks the connections that exist.
func (n *Memory) Cut() {
	n.mu.Lock()
	all := n.open
	n.open = nil
	n.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// Down makes the network refuse new connections, or accept them again.
func (n *Memory) Down(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = on
}

// Dials returns the number of attempts to connect so far.
func (n *Memory) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

func (n *Memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	n.mu.Lock()
	n.dials++
	down := n.down
	if !down {
		n.open = append(n.open, here, there)
	}
	n.mu.Unlock()
	if down {
		return nil, errors.New("connection refused")
	}
	select {
	case n.conns <- there:
		return here, nil
	case <-n.donec:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection, for [http.Server].
func (n *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.donec:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (n *Memory) Close() error { n.once.Do(func() { close(n.donec) }); return nil }

// Addr returns a name.
func (n *Memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
