package pgtest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a connection to the server that can be cut or can stop responding. It is
// safe for concurrent use.
type Proxy struct {
	listener net.Listener
	server   string
	all      sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	conns map[net.Conn]bool
	dead  chan struct{} // closed when the proxy responds again; nil if it does
}

// Proxy starts a proxy to the server that runs until the test ends. database is a
// URL from Database; the returned URL leads through the proxy.
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
		_ = l.Close() // ends serve
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
			_ = client.Close() // refuses the connection
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		p.all.Go(func() { p.copy(client, server) })
		p.all.Go(func() { p.copy(server, client) })
	}
}

// copy copies bytes in one direction until one end is closed, and then closes both.
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
		_ = c.Close() // it may already be closed
	}
}

// wait waits until the proxy responds.
func (p *Proxy) wait() {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead != nil {
		<-dead
	}
}

// Cut closes all connections. New connections are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // it may already be closed
	}
}

// Die stops all transmission without closing connections.
func (p *Proxy) Die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead == nil {
		p.dead = make(chan struct{})
	}
}

// Revive resumes transmission.
func (p *Proxy) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead != nil {
		close(p.dead)
		p.dead = nil
	}
}
