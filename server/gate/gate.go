package gate

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// The defaults of [Options].
const (
	DefaultMost       = 4096
	DefaultPerAddress = 512
)

// shortIdle is the idle timeout of connections when three quarters of the places
// are taken.
const shortIdle = 5 * time.Second

// Options configures a [Gate]. Zero fields select the defaults.
type Options struct {
	Most int // concurrent connections; default [DefaultMost]
	// PerAddress limits the connections of one address that have not shown a key;
	// default [DefaultPerAddress]. The IPv6 addresses of a /64 count as one. Behind
	// a trusted proxy it limits the concurrent requests of an address.
	PerAddress int
	// Trusted are the proxies whose report of the client's address is accepted.
	Trusted []netip.Prefix
}

// Validate returns an error if a setting is invalid.
func (o Options) Validate() error {
	if o.Most < 0 || o.PerAddress < 0 {
		return fmt.Errorf("gate: %d connections, %d per address: must not be negative", o.Most, o.PerAddress)
	}
	return nil
}

// Gate limits connections. Use [New] to create one. It is safe for concurrent use.
type Gate struct {
	o Options

	mu     sync.Mutex // guards the fields below and the places
	open   int
	of     map[netip.Addr]*address
	queues [queues]list.List // of places, the longest waiting first
}

// A place is in one of these queues. When the gate is full, connections without a
// key are closed in this order: first the idle ones, then the active ones.
const (
	strangeIdle = iota
	strangeBusy
	knownIdle
	knownBusy // never closed
	queues
)

// address is the state of one client address.
type address struct {
	strangers int       // connections without a key, or requests behind a proxy
	idle      list.List // its idle connections, the longest idle first
}

// New returns a gate.
func New(o Options) (*Gate, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Most == 0 {
		o.Most = DefaultMost
	}
	if o.PerAddress == 0 {
		o.PerAddress = DefaultPerAddress
	}
	return &Gate{o: o, of: make(map[netip.Addr]*address)}, nil
}

// place is an accepted connection.
type place struct {
	net.Conn
	gate  *Gate
	addr  netip.Addr
	proxy bool // the connection comes from a trusted proxy

	// Guarded by the gate's mu.
	known     bool // the connection has shown a key
	idle      bool
	since     time.Time // when it became idle
	gone      bool
	queue     int
	in, among *list.Element // its elements in the queue and in the idle list of its address
}

// Listener returns a listener that applies the limits to l. A connection that
// exceeds them is closed at once, so that later ones need not wait.
func (g *Gate) Listener(l net.Listener) net.Listener { return &listener{l, g} }

type listener struct {
	net.Listener
	gate *Gate
}

// Accept returns the next accepted connection.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p, out := l.gate.admit(c)
		for _, other := range out {
			_ = other.Close() // it is closed in favor of the new one
		}
		if p != nil {
			return p, nil
		}
		_ = c.Close() // the gate is full
	}
}

// admit returns a place for a connection, or nil, and the places to be closed.
func (g *Gate) admit(c net.Conn) (p *place, out []*place) {
	now := time.Now()
	p = &place{Conn: c, gate: g, addr: addressOf(c.RemoteAddr().String()), idle: true, since: now}
	p.proxy = g.trusts(p.addr)
	p.addr, p.known = network(p.addr), p.proxy
	g.mu.Lock()
	defer g.mu.Unlock()
	take := func(e *list.Element) {
		other := e.Value.(*place) //nolint:errcheck,forcetypeassert // the queues hold nothing else
		g.forget(other)
		out = append(out, other)
	}
	if a := g.of[p.addr]; !p.known && a != nil && a.strangers >= g.o.PerAddress {
		if a.idle.Len() == 0 {
			return nil, out
		}
		take(a.idle.Front())
	}
	if g.open >= g.o.Most/4*3 {
		for _, q := range []int{strangeIdle, knownIdle} {
			for e := g.queues[q].Front(); e != nil && now.Sub(e.Value.(*place).since) >= shortIdle; e = g.queues[q].Front() { //nolint:errcheck,forcetypeassert // as above
				take(e)
			}
		}
	}
	if g.open >= g.o.Most {
		for _, q := range []int{strangeIdle, strangeBusy, knownIdle} {
			if e := g.queues[q].Front(); e != nil {
				take(e)
				break
			}
		}
	}
	if g.open >= g.o.Most {
		return nil, out
	}
	g.open++
	g.enter(p)
	return p, out
}

// enter adds a place to the queues. It requires mu.
func (g *Gate) enter(p *place) {
	p.queue = knownBusy
	switch {
	case p.idle && p.known:
		p.queue = knownIdle
	case p.idle:
		p.queue = strangeIdle
	case !p.known:
		p.queue = strangeBusy
	}
	p.in = g.queues[p.queue].PushBack(p)
	if p.known {
		return
	}
	a := g.address(p.addr)
	a.strangers++
	if p.idle {
		p.among = a.idle.PushBack(p)
	}
}

// leave removes a place from the queues. It requires mu.
func (g *Gate) leave(p *place) {
	g.queues[p.queue].Remove(p.in)
	if p.known {
		return
	}
	a := g.of[p.addr]
	if p.among != nil {
		a.idle.Remove(p.among)
		p.among = nil
	}
	g.less(p.addr, a)
}

// forget frees a place. It requires mu.
func (g *Gate) forget(p *place) {
	if !p.gone {
		p.gone = true
		g.open--
		g.leave(p)
	}
}

// address returns the state of an address. It requires mu.
func (g *Gate) address(addr netip.Addr) *address {
	a := g.of[addr]
	if a == nil {
		a = &address{}
		g.of[addr] = a
	}
	return a
}

// less subtracts one stranger from an address. It requires mu.
func (g *Gate) less(addr netip.Addr, a *address) {
	if a.strangers--; a.strangers == 0 {
		delete(g.of, addr)
	}
}

// change calls how, which changes the place, and moves the place to its new queue.
func (g *Gate) change(p *place, how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.gone {
		return
	}
	g.leave(p)
	how()
	g.enter(p)
}

// Close closes the connection.
func (p *place) Close() error {
	p.gate.mu.Lock()
	p.gate.forget(p)
	p.gate.mu.Unlock()
	return p.Conn.Close()
}

// CloseWrite closes the writing side if the connection supports it. Otherwise an
// answer could be lost while the client is still sending.
func (p *place) CloseWrite() error {
	c, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return c.CloseWrite()
}

// placeOf returns the place of a connection, which may be wrapped by TLS.
func placeOf(c net.Conn) *place {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	p, _ := c.(*place)
	return p
}

// ConnState is a function for [http.Server].ConnState.
func (g *Gate) ConnState(c net.Conn, state http.ConnState) {
	if p := placeOf(c); p != nil && (state == http.StateActive || state == http.StateIdle || state == http.StateHijacked) {
		now := time.Now()
		g.change(p, func() { p.idle, p.since = state == http.StateIdle, now })
	}
}

type placeKey struct{}

// ConnContext is a function for [http.Server].ConnContext.
func (g *Gate) ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, placeKey{}, placeOf(c))
}

type visitKey struct{}

// visit is a request through a trusted proxy.
type visit struct{ once func() }

// Vouch reports that a request has shown a valid key or token. Its connection then
// no longer counts toward the limit of its address and is not closed in favor of
// connections without a key.
func Vouch(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.once()
	}
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		p.gate.change(p, func() { p.known = true })
	}
}

// Handler wraps next. Requests through a trusted proxy get the reported client
// address as their RemoteAddr, and the reported [Route]; if an address has too many
// concurrent requests, refuse answers them.
func (g *Gate) Handler(next http.Handler, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := r.Context().Value(placeKey{}).(*place)
		if p == nil || !p.proxy {
			next.ServeHTTP(w, r)
			return
		}
		addr, route := g.named(addressOf(r.RemoteAddr), r.Header)
		of := network(addr)
		g.mu.Lock()
		a := g.address(of)
		a.strangers++
		full := a.strangers > g.o.PerAddress
		g.mu.Unlock()
		v := &visit{sync.OnceFunc(func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.less(of, a)
		})}
		defer v.once()
		if full {
			refuse(w, r)
			return
		}
		r = r.WithContext(withRoute(context.WithValue(r.Context(), visitKey{}, v), route))
		r.RemoteAddr = addr.String()
		next.ServeHTTP(w, r)
	})
}
