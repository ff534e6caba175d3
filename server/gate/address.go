package gate

import (
	"net"
	"net/http"
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

// named returns the client address reported by a trusted proxy: the last address in
// X-Forwarded-For or Forwarded that is not itself a trusted proxy. The client may
// have written the earlier ones, or the whole header that the proxy does not write.
// If both headers are present and differ, named ignores both.
//
// Source: RFC 7239, sections 4 and 5.2.
func (g *Gate) named(proxy netip.Addr, h http.Header) netip.Addr {
	var x, f []netip.Addr
	for _, line := range h.Values("X-Forwarded-For") {
		for text := range strings.SplitSeq(line, ",") {
			x = append(x, addressOf(strings.TrimSpace(text)))
		}
	}
	for _, line := range h.Values("Forwarded") {
		for element := range strings.SplitSeq(line, ",") {
			f = append(f, forwardedFor(element))
		}
	}
	switch a, b := g.last(proxy, x), g.last(proxy, f); {
	case len(f) == 0:
		return a
	case len(x) == 0 || a == b:
		return b
	default:
		return proxy
	}
}

// last returns the last address of the list that is not a trusted proxy.
func (g *Gate) last(proxy netip.Addr, list []netip.Addr) netip.Addr {
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].IsValid() {
			return proxy // a name or an unknown address
		}
		if proxy = list[i]; !g.trusts(proxy) {
			break
		}
	}
	return proxy
}

// forwardedFor returns the address of one element of Forwarded.
func forwardedFor(element string) netip.Addr {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return addressOf(strings.Trim(value, `"`))
		}
	}
	return netip.Addr{}
}
