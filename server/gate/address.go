package gate

import (
	"net"
	"net/netip"
	"strings"
)

// ParseProxies parses the addresses of trusted proxies: "10.0.0.7", "10.0.0.0/8".
func ParseProxies(list []string) ([]netip.Prefix, error) {
	trusted := make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var addr netip.Addr
			if addr, err = netip.ParseAddr(text); err == nil {
				p = netip.PrefixFrom(addr, addr.BitLen())
			}
		}
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, p)
	}
	return trusted, nil
}

// addressOf returns the address in a host and port, or in a host alone, and the
// zero value if there is none.
func addressOf(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// network returns the address under which a client is counted. For IPv6 it is the
// /64 prefix, since a client may use any address in it.
func network(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	p, err := addr.Prefix(64)
	if err != nil {
		return addr
	}
	return p.Addr()
}

// trusts reports whether an address belongs to a trusted proxy.
func (g *Gate) trusts(addr netip.Addr) bool {
	for _, p := range g.o.Trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
