package sip

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// This file bounds what strangers cost.

const (
	// strangerRate and strangerBurst bound how many requests of an address that has shown no password
	// are looked at; others are dropped without an answer.
	strangerRate  = 10 // a second
	strangerBurst = 50
	// allRate and allBurst bound those of all strangers together.
	allRate  = 200
	allBurst = 400
	// maxStrangers limits the remembered addresses.
	maxStrangers = 4096

	// maxConns and maxConnsPerHost limit the TCP connections of strangers, and patience how long they
	// may take to send a request that is admitted.
	maxConns        = 256
	maxConnsPerHost = 16
	patience        = 10 * time.Second
)

// bucket holds tokens that come back with time.
type bucket struct {
	tokens float64
	at     time.Time
}

// take takes a token, if there is one.
func (b *bucket) take(now time.Time, rate, burst float64) bool {
	b.tokens = min(burst, b.tokens+rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// strangers bounds the requests of strangers. It is safe for concurrent use.
type strangers struct {
	mu   sync.Mutex // guards the fields below
	all  bucket
	each map[netip.Prefix]*bucket
}

func newStrangers(now time.Time) *strangers {
	return &strangers{all: bucket{allBurst, now}, each: make(map[netip.Prefix]*bucket)}
}

// network returns what counts as one stranger: of IPv6 addresses their network.
func network(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// take reports whether a request of an address is looked at.
func (s *strangers) take(now time.Time, from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := network(from)
	b := s.each[n]
	if b == nil {
		if len(s.each) >= maxStrangers {
			for k, b := range s.each {
				if now.Sub(b.at) > strangerBurst/strangerRate*time.Second {
					delete(s.each, k)
				}
			}
			if len(s.each) >= maxStrangers {
				return false
			}
		}
		b = &bucket{strangerBurst, now}
		s.each[n] = b
	}
	return b.take(now, strangerRate, strangerBurst) && s.all.take(now, allRate, allBurst)
}

// forgive gives back what an address has used before it showed a password.
func (s *strangers) forgive(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.each[network(from)]; b != nil {
		b.tokens = min(strangerBurst, b.tokens+2)
	}
	s.all.tokens = min(allBurst, s.all.tokens+2)
}

// listener limits the TCP connections of strangers. It is safe for concurrent use.
type listener struct {
	net.Listener
	allows func(netip.Addr) bool

	mu    sync.Mutex // guards the field below
	conns map[string]*stream
}

func newListener(l net.Listener, allows func(netip.Addr) bool) *listener {
	return &listener{Listener: l, allows: allows, conns: make(map[string]*stream)}
}

// stream is a TCP connection. One of a stranger has a deadline until a request is admitted.
type stream struct {
	net.Conn
	l    *listener
	host netip.Addr
	once sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		a, err := netip.ParseAddrPort(c.RemoteAddr().String())
		if err != nil {
			_ = c.Close()
			continue
		}
		host := a.Addr().Unmap()
		if l.allows(host) {
			return c, nil
		}
		s := &stream{Conn: c, l: l, host: host}
		l.mu.Lock()
		same := 0
		for _, other := range l.conns {
			if other.host == host {
				same++
			}
		}
		full := len(l.conns) >= maxConns || same >= maxConnsPerHost
		if !full {
			l.conns[c.RemoteAddr().String()] = s
		}
		l.mu.Unlock()
		if full || c.SetDeadline(time.Now().Add(patience)) != nil {
			s.forget()
			_ = c.Close()
			continue
		}
		return s, nil
	}
}

// vouch takes the deadline from the connection of an address: a request was admitted.
func (l *listener) vouch(from string) {
	l.mu.Lock()
	s := l.conns[from]
	l.mu.Unlock()
	if s != nil {
		s.forget()
		_ = s.SetDeadline(time.Time{})
	}
}

func (s *stream) forget() {
	s.once.Do(func() {
		s.l.mu.Lock()
		defer s.l.mu.Unlock()
		if at := s.RemoteAddr().String(); s.l.conns[at] == s {
			delete(s.l.conns, at)
		}
	})
}

func (s *stream) Close() error {
	s.forget()
	return s.Conn.Close()
}
