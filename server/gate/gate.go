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

// shortIdle is how long a connection may be idle when three of four places are taken.
const shortIdle = 5 * time.Second

// Options configure a [Gate]. The zero value of every field is its default.
type Options struct {
	Most int // connections at once: [DefaultMost]
	// PerAddress bounds those of one address that have shown no key: [DefaultPerAddress].
	// The addresses of a /64 of IPv6 are one. Behind a trusted proxy it bounds the
	// requests of an address that run at once.
	PerAddress int
	// Trusted are the proxies whose word is taken for the address of a request.
	Trusted []netip.Prefix
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	if o.Most < 0 || o.PerAddress < 0 {
		return fmt.Errorf("gate: %d connections, %d of one address: expected 0 (the default) or more", o.Most, o.PerAddress)
	}
	return nil
}

// Gate lets connections in. [New] makes one. It is safe for concurrent use.
type Gate struct {
	o Options

	mu     sync.Mutex // guards all below, and the places
	open   int
	of     map[netip.Addr]*address
	queues [queues]list.List // of places, the longest there first
}

// A place stands in one of these queues. The connections without a key are closed in
// their order where there is no room: the idle ones, then those that do something.
const (
	strangeIdle = iota
	strangeBusy
	knownIdle
	knownBusy // nobody closes these
	queues
)

// address is what is known of one.
type address struct {
	strangers int       // connections that have shown no key, or requests behind a proxy
	idle      list.List // those of the connections that are idle, the longest first
}

// New makes a gate.
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

// place is a connection that was let in.
type place struct {
	net.Conn
	gate  *Gate
	addr  netip.Addr
	proxy bool // it is a trusted proxy's

	// Guarded by the gate's mu.
	known     bool // it has shown a key
	idle      bool
	since     time.Time // when it became idle
	gone      bool
	queue     int
	in, among *list.Element // its places in the queue and among the idle ones of its address
}

// Listener lets in what l accepts. A connection for which there is no room is closed at
// once, so that those behind it need not wait.
func (g *Gate) Listener(l net.Listener) net.Listener { return &listener{l, g} }

type listener struct {
	net.Listener
	gate *Gate
}

// Accept returns the next connection that is let in.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		p, out := l.gate.admit(c)
		for _, other := range out {
			_ = other.Close() // it makes room
		}
		if p != nil {
			return p, nil
		}
		_ = c.Close() // there is no room for it
	}
}

// admit gives a connection a place, nil if there is none, and says which others are to be
// closed.
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

// enter puts a place into the queues. It is called with mu held.
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

// leave takes a place out of the queues. It is called with mu held.
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

// forget gives a place up. It is called with mu held.
func (g *Gate) forget(p *place) {
	if !p.gone {
		p.gone = true
		g.open--
		g.leave(p)
	}
}

// address is what is known of one. It is called with mu held.
func (g *Gate) address(addr netip.Addr) *address {
	a := g.of[addr]
	if a == nil {
		a = &address{}
		g.of[addr] = a
	}
	return a
}

// less counts one stranger less. It is called with mu held.
func (g *Gate) less(addr netip.Addr, a *address) {
	if a.strangers--; a.strangers == 0 {
		delete(g.of, addr)
	}
}

// change moves a place to the queue that it belongs to now.
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

// Close ends the connection.
func (p *place) Close() error {
	p.gate.mu.Lock()
	p.gate.forget(p)
	p.gate.mu.Unlock()
	return p.Conn.Close()
}

// CloseWrite ends what is written, where the connection can: without it an answer in front
// of what a client still sends would be lost.
func (p *place) CloseWrite() error {
	c, ok := p.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return c.CloseWrite()
}

// placeOf is the place of a connection, which TLS may be around.
func placeOf(c net.Conn) *place {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	p, _ := c.(*place)
	return p
}

// ConnState is for [http.Server].ConnState.
func (g *Gate) ConnState(c net.Conn, state http.ConnState) {
	if p := placeOf(c); p != nil && (state == http.StateActive || state == http.StateIdle || state == http.StateHijacked) {
		now := time.Now()
		g.change(p, func() { p.idle, p.since = state == http.StateIdle, now })
	}
}

type placeKey struct{}

// ConnContext is for [http.Server].ConnContext.
func (g *Gate) ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, placeKey{}, placeOf(c))
}

type visitKey struct{}

// visit is a request behind a trusted proxy.
type visit struct{ once func() }

// Vouch says that a request has shown a key, or a token that this server has given: its
// connection is counted no longer among those of its address, and makes room for nobody
// without one.
func Vouch(ctx context.Context) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.once()
	}
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		p.gate.change(p, func() { p.known = true })
	}
}

// Handler serves requests. Those that come through a trusted proxy have the address that
// it names as their RemoteAddr, and too many of one address at once are refused by refuse.
func (g *Gate) Handler(next http.Handler, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := r.Context().Value(placeKey{}).(*place)
		if p == nil || !p.proxy {
			next.ServeHTTP(w, r)
			return
		}
		addr := g.named(addressOf(r.RemoteAddr), r.Header)
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
		r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
		r.RemoteAddr = addr.String()
		next.ServeHTTP(w, r)
	})
}
