package sip

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// errPorts says that all ports of the range are taken.
var errPorts = errors.New("all ports of sound are taken")

// ports opens the sockets of calls. It is safe for concurrent use.
type ports struct {
	host        netip.Addr
	first, last int // even ports; 0: any

	mu   sync.Mutex // guards next
	next int
}

func newPorts(host netip.Addr, first, last int) *ports {
	first += first % 2
	return &ports{host: host, first: first, last: last, next: first}
}

// open opens a socket on an even port, as telephones expect (RFC 3550, section 11). A port that was
// freed last is used last: packets of an earlier call may still arrive.
func (p *ports) open() (*net.UDPConn, error) {
	if p.first == 0 {
		return net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.host, 0)))
	}
	count := (p.last-p.first)/2 + 1
	for range count {
		p.mu.Lock()
		port := p.next
		if p.next += 2; p.next > p.last {
			p.next = p.first
		}
		p.mu.Unlock()
		conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.host, uint16(port))))
		if err == nil {
			return conn, nil
		}
	}
	return nil, fmt.Errorf("%w: %d to %d", errPorts, p.first, p.last)
}
