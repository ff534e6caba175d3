package gate

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a connection from an address.
type fake struct {
	net.Conn
	from   string
	closed bool
}

func (f *fake) RemoteAddr() net.Addr { return addr(f.from) }
func (f *fake) Close() error         { f.closed = true; return nil }

type addr string

func (a addr) Network() string { return "tcp" }
func (a addr) String() string  { return string(a) }

// queue is a listener whose connections are given.
type queue struct {
	net.Listener
	list []*fake
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.list) == 0 {
		return nil, net.ErrClosed
	}
	c := q.list[0]
	q.list = q.list[1:]
	return c, nil
}

// come connects a number of connections from an address and returns those that were
// accepted.
func come(t *testing.T, g *Gate, from string, n int) (in []net.Conn) {
	t.Helper()
	var q queue
	for range n {
		q.list = append(q.list, &fake{from: from})
	}
	l := g.Listener(&q)
	for {
		c, err := l.Accept()
		if err != nil {
			return in
		}
		in = append(in, c)
	}
}

func closed(c net.Conn) bool { return c.(*place).Conn.(*fake).closed } //nolint:forcetypeassert // a test's

func open(list []net.Conn) (n int) {
	for _, c := range list {
		if !closed(c) {
			n++
		}
	}
	return n
}

func newGate(t *testing.T, o Options) *Gate {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// vouched has a connection show a key.
func vouched(g *Gate, c net.Conn) net.Conn {
	g.ConnState(c, http.StateActive)
	Vouch(g.ConnContext(context.Background(), c))
	g.ConnState(c, http.StateIdle)
	return c
}

// TestIdleConnectionsLockEverybodyOut checks that thousands of idle connections
// from one address take only its own places, and that no connection of others is
// closed for them.
func TestIdleConnectionsLockEverybodyOut(t *testing.T) {
	g := newGate(t, Options{})
	others := append(come(t, g, "192.0.2.7:1", 3), come(t, g, "[2001:db8::7]:1", 3)...)
	flood := come(t, g, "192.0.2.1:1", 4200)
	if n := open(flood); n != DefaultPerAddress {
		t.Errorf("%d connections of one address are open", n)
	}
	six := come(t, g, "[2001:db8:1::1]:1", 400)
	six = append(six, come(t, g, "[2001:db8:1::2]:1", 400)...)
	if n := open(six); n != DefaultPerAddress {
		t.Errorf("%d connections of one network are open", n)
	}
	others = append(others, come(t, g, "192.0.2.8:1", 1)...)
	if n := open(others); n != 7 {
		t.Errorf("%d of 7 connections of others are open", n)
	}
	for _, c := range slices.Concat(flood, six, others) {
		_ = c.Close()
		_ = c.Close() // a second time
	}
	if g.open != 0 || len(g.of) != 0 {
		t.Errorf("%d places are taken, of %d addresses", g.open, len(g.of))
	}
}

// TestBusyAddress checks that active connections are not closed in favor of others
// from their address, which are refused instead.
func TestBusyAddress(t *testing.T) {
	g := newGate(t, Options{PerAddress: 2})
	busy := come(t, g, "192.0.2.1:1", 2)
	for _, c := range busy {
		g.ConnState(c, http.StateActive)
	}
	if n := len(come(t, g, "192.0.2.1:1", 1)); n != 0 || open(busy) != 2 {
		t.Errorf("%d more were let in, %d are open", n, open(busy))
	}
	Vouch(g.ConnContext(t.Context(), busy[0])) // it counts no longer
	if n := len(come(t, g, "192.0.2.1:1", 1)); n != 1 {
		t.Error("the place of one with a key is not free")
	}
}

// TestPlacesForThoseWithAKey checks that a full server closes connections without a
// key, the longest idle first, and never those with a key.
func TestPlacesForThoseWithAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{Most: 40, PerAddress: 1000})
		var known []net.Conn
		for _, c := range come(t, g, "192.0.2.1:1", 10) {
			known = append(known, vouched(g, c))
		}
		g.ConnState(known[0], http.StateActive)
		var strange []net.Conn
		for range 30 {
			time.Sleep(time.Millisecond)
			strange = append(strange, come(t, g, "192.0.2.2:1", 1)...)
		}
		g.ConnState(strange[0], http.StateActive)
		more := come(t, g, "192.0.2.3:1", 5)
		if closed(strange[0]) || open(strange[1:6]) != 0 || open(strange[6:]) != 24 || open(more) != 5 || open(known) != 10 {
			t.Errorf("open are %d of the strangers, %d of the new ones, %d of those with a key", open(strange), open(more), open(known))
		}
		for _, c := range slices.Concat(strange, more) {
			g.ConnState(c, http.StateActive)
		}
		newest := come(t, g, "192.0.2.4:1", 1)
		if !closed(strange[0]) || open(newest) != 1 || open(known) != 10 {
			t.Error("a busy stranger does not make room")
		}
		// Near the limit idle connections are closed sooner, even with a key.
		time.Sleep(shortIdle)
		come(t, g, "192.0.2.5:1", 1)
		if closed(known[0]) || open(known[1:]) != 0 || open(newest) != 0 || open(strange) == 0 {
			t.Errorf("open are %d of those with a key, %d of the strangers", open(known), open(strange))
		}
	})
}

// TestNamedByAProxy checks that only a trusted proxy's report of the address is
// accepted.
func TestNamedByAProxy(t *testing.T) {
	trusted, err := ParseProxies([]string{"10.0.0.0/8", "2001:db8::1"})
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, Options{Trusted: trusted, PerAddress: 2})
	proxy := netip.MustParseAddr("10.0.0.1")
	for _, c := range []struct{ x, f, want string }{
		{"", "", "10.0.0.1"},
		{"192.0.2.1", "", "192.0.2.1"},
		{"203.0.113.9, 192.0.2.1", "", "192.0.2.1"},
		{"192.0.2.1, 10.0.0.9, 10.0.0.8", "", "192.0.2.1"},
		{"192.0.2.1:1234", "", "192.0.2.1"},
		{"unknown", "", "10.0.0.1"},
		{"192.0.2.1, nonsense", "", "10.0.0.1"},
		{"", `for=192.0.2.1;proto=https`, "192.0.2.1"},
		{"", `for=203.0.113.9, for="[2001:db8:5::1]:80"`, "2001:db8:5::1"},
		{"", `for=_hidden`, "10.0.0.1"},
		{"192.0.2.1", "for=192.0.2.1", "192.0.2.1"},
		{"192.0.2.1", "for=203.0.113.9", "10.0.0.1"},
	} {
		h := http.Header{}
		if c.x != "" {
			h.Set("X-Forwarded-For", c.x)
		}
		if c.f != "" {
			h.Set("Forwarded", c.f)
		}
		if got, _ := g.named(proxy, h); got.String() != c.want {
			t.Errorf("%q, %q: %s, expected %s", c.x, c.f, got, c.want)
		}
	}
	// The proxy may have any number of connections; each address behind it is
	// counted separately, and requests with a key are not counted.
	conns := come(t, g, "10.0.0.1:1", 50)
	if open(conns) != 50 {
		t.Fatalf("%d connections of the proxy are open", open(conns))
	}
	var inside func(depth int, from string, key bool) int
	inside = func(depth int, from string, key bool) int {
		status := 0
		handler := g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.RemoteAddr != from {
				t.Errorf("the address is %s, expected %s", r.RemoteAddr, from)
			}
			if key {
				Vouch(r.Context())
			}
			if status = http.StatusOK; depth > 1 {
				status = inside(depth-1, from, key)
			}
		}), func(http.ResponseWriter, *http.Request) { status = http.StatusTooManyRequests })
		r := httptest.NewRequestWithContext(g.ConnContext(t.Context(), conns[depth]), http.MethodGet, "/", nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header.Set("X-Forwarded-For", from)
		handler.ServeHTTP(nil, r)
		return status
	}
	for _, c := range []struct {
		depth int
		key   bool
		want  int
	}{{2, false, 200}, {3, false, 429}, {2, false, 200}, {9, true, 200}} {
		if got := inside(c.depth, "192.0.2.1", c.key); got != c.want {
			t.Errorf("%d at once, with a key %v: %d, expected %d", c.depth, c.key, got, c.want)
		}
	}
	// The header of a client that is not a proxy is ignored.
	stranger := come(t, g, "192.0.2.77:1", 1)[0]
	r := httptest.NewRequestWithContext(g.ConnContext(t.Context(), stranger), http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.77:1"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.RemoteAddr != "192.0.2.77:1" {
			t.Errorf("the address is %s", r.RemoteAddr)
		}
	}), nil).ServeHTTP(nil, r)
}
