package gate

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Route is how a client has addressed the server. Behind trusted proxies it is what
// they report.
type Route struct {
	// Scheme is "https" or "http". It is empty if it is not known: the connection has no
	// TLS, but a proxy in front that is not trusted may have.
	Scheme string
	Host   string // host, or host:port
	Prefix string // path that the proxies have removed: empty, or like "/voice"
}

type routeKey struct{}

// RouteOf returns how the client of a request has addressed the server.
func RouteOf(r *http.Request) Route {
	route, _ := r.Context().Value(routeKey{}).(Route)
	if route.Scheme == "" && r.TLS != nil {
		route.Scheme = "https"
	}
	if route.Host == "" {
		route.Host = r.Host
	}
	return route
}

func withRoute(ctx context.Context, route Route) context.Context {
	return context.WithValue(ctx, routeKey{}, route)
}

var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+/?$`)

// ParsePath parses a path under which a server is reached: "/voice/" or "/voice". It
// returns the path without the slash at its end: empty for "/".
func ParsePath(text string) (string, error) {
	if text == "" || text == "/" {
		return "", nil
	}
	if len(text) > 200 || !plainPath.MatchString(text) {
		return "", fmt.Errorf("is %q: expected a path such as /voice/, of letters, digits, '-', '_', '~' and '.'", text)
	}
	return strings.TrimSuffix(text, "/"), nil
}

// named returns the client's address and route as reported by a trusted proxy.
//
// The address is the last one in X-Forwarded-For or Forwarded that is not itself a
// trusted proxy. Earlier ones, and the header of the two that the proxy does not write,
// may come from the client. If both headers are present and differ, named ignores both,
// and the route too.
//
// If another header has a list, named uses the value written by the first trusted proxy:
// the n-th from the end if the request passed n of them. A shorter list was written by
// trusted proxies only, and named uses its first value. Invalid values are ignored.
//
// Source: RFC 7239, sections 4 and 5.
func (g *Gate) named(proxy netip.Addr, h http.Header) (netip.Addr, Route) {
	var x, f []netip.Addr
	for _, text := range elements(h, "X-Forwarded-For") {
		x = append(x, addressOf(text))
	}
	standard := elements(h, "Forwarded")
	for _, element := range standard {
		f = append(f, addressOf(parameter(element, "for")))
	}
	client, hops := g.last(proxy, x)
	route := Route{
		Scheme: scheme(at(elements(h, "X-Forwarded-Proto"), hops)),
		Host:   host(at(elements(h, "X-Forwarded-Host"), hops)),
		Prefix: prefix(elements(h, "X-Forwarded-Prefix"), hops),
	}
	if len(f) == 0 {
		return client, route
	}
	other, hops := g.last(proxy, f)
	if len(x) > 0 && other != client {
		return proxy, Route{}
	}
	element := at(standard, hops)
	route.Scheme = agreed(route.Scheme, scheme(parameter(element, "proto")))
	route.Host = agreed(route.Host, host(parameter(element, "host")))
	return other, route
}

// last returns the last address of the list that is not a trusted proxy, and the number of
// trusted proxies that the request has passed.
func (g *Gate) last(proxy netip.Addr, list []netip.Addr) (addr netip.Addr, hops int) {
	hops = 1
	for i := len(list) - 1; i >= 0; i-- {
		hops = len(list) - i
		if !list[i].IsValid() {
			return proxy, hops // a name or an unknown address
		}
		if proxy = list[i]; !g.trusts(proxy) {
			break
		}
	}
	return proxy, hops
}

// elements returns the elements of a header that is a list.
func elements(h http.Header, name string) (list []string) {
	for _, line := range h.Values(name) {
		for text := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(text))
		}
	}
	return list
}

// at returns the element written by the first of the given number of proxies.
func at(list []string, hops int) string {
	if len(list) == 0 {
		return ""
	}
	return list[max(0, len(list)-hops)]
}

// agreed returns the value of two headers: that of both if they are equal, that of one
// if the other is empty, and nothing if they differ.
func agreed(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	default:
		return ""
	}
}

// parameter returns a parameter of one element of Forwarded.
func parameter(element, which string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, which) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// scheme returns a valid scheme, or nothing. Some proxies name that of a WebSocket.
func scheme(text string) string {
	switch strings.ToLower(text) {
	case "https", "wss":
		return "https"
	case "http", "ws":
		return "http"
	default:
		return ""
	}
}

// host returns a valid host, with or without a port, or nothing.
func host(text string) string {
	u, err := url.Parse("http://" + text)
	if err != nil || len(text) > 261 || u.Host != text || u.Hostname() == "" || strings.ContainsAny(text, " \\'\"<>%") {
		return ""
	}
	return text
}

// prefix returns the prefixes that the given number of proxies have removed from the
// path, joined, or nothing if one of them is invalid.
func prefix(list []string, hops int) (all string) {
	for _, text := range list[max(0, len(list)-hops):] {
		path, err := ParsePath(text)
		if err != nil {
			return ""
		}
		all += path
	}
	return all
}
