package pgtest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a line to the server that can be cut and that can go dead. It is safe for
// concurrent use.
type Proxy struct {
	listener net.Listener
	server   string
	all      sync.WaitGroup

	mu    sync.Mutex // guards all below
	conns map[net.Conn]bool
	dead  chan struct{} // while it is dead: closed when it no longer is
}

// Proxy stands between its users and the server until the test ends. The URL is one
// of Database; that of the result goes through the proxy.
func (s *Server) Proxy(t testing.TB, database string) (p *Proxy, through string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &Proxy{listener: l, server: s.Address(), conns: make(map[net.Conn]bool)}
	p.all.Go(p.serve)
	t.Cleanup(func() {
		p.Revive()
		_ = l.Close() // serve ends
		p.Cut()
		p.all.Wait()
	})
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
		if err != nil {
			_ = client.Close() // as if nobody listened
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		p.all.Go(func() { p.copy(client, server) })
		p.all.Go(func() { p.copy(server, client) })
	}
}

// copy carries bytes one way until one of the ends is closed, and closes both.
func (p *Proxy) copy(to, from net.Conn) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		p.wait()
		if n > 0 {
			if _, e := to.Write(b[:n]); e != nil {
				err = e
			}
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
	for _, c := range []io.Closer{from, to} {
		_ = c.Close() // the other way may have closed it
	}
}

// wait is over when the line is not dead.
func (p *Proxy) wait() {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead != nil {
		<-dead
	}
}

// Cut closes all connections; new ones are made.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // who copies may have closed it
	}
}

// Die lets nothing through any more, and tells nobody.
func (p *Proxy) Die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead == nil {
		p.dead = make(chan struct{})
	}
}

// Revive lets through what has waited.
func (p *Proxy) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		close(p.dead)
		p.dead = nil
	}
}
