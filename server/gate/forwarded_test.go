package gate

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func behind(t testing.TB, trusted ...string) *Gate {
	t.Helper()
	list, err := ParseProxies(trusted)
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(Options{Trusted: list})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// headers parses "Name: value" lines; a name may come more than once.
func headers(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

// TestRouteNamedByProxies checks which values of the headers of a trusted proxy count.
func TestRouteNamedByProxies(t *testing.T) {
	g := behind(t, "10.0.0.0/8", "2001:db8::/64")
	for name, c := range map[string]struct {
		headers string
		addr    string
		want    Route
	}{
		"nothing": {"", "10.0.0.1", Route{}},
		"one proxy": {
			"X-Forwarded-For: 192.0.2.1\nX-Forwarded-Proto: https\nX-Forwarded-Host: example.org\nX-Forwarded-Prefix: /voice/",
			"192.0.2.1",
			Route{"https", "example.org", "/voice"},
		},
		"the client has written values before": {
			"X-Forwarded-For: 203.0.113.9, 192.0.2.1\nX-Forwarded-Proto: http, https\nX-Forwarded-Host: evil.example, example.org\nX-Forwarded-Prefix: /evil, /voice",
			"192.0.2.1",
			Route{"https", "example.org", "/voice"},
		},
		"values on lines of their own": {
			"X-Forwarded-For: 203.0.113.9\nX-Forwarded-For: 192.0.2.1\nX-Forwarded-Host: evil.example\nX-Forwarded-Host: example.org",
			"192.0.2.1",
			Route{Host: "example.org"},
		},
		"two proxies that append": {
			"X-Forwarded-For: 203.0.113.9, 192.0.2.1, 10.0.0.9\nX-Forwarded-Proto: ftp, https, http\nX-Forwarded-Host: evil.example, example.org, inner\nX-Forwarded-Prefix: /evil, /app, /voice",
			"192.0.2.1",
			Route{"https", "example.org", "/app/voice"},
		},
		"two proxies, and the inner one keeps what the outer one says": {
			"X-Forwarded-For: 192.0.2.1, 10.0.0.9\nX-Forwarded-Proto: https\nX-Forwarded-Host: example.org",
			"192.0.2.1",
			Route{Scheme: "https", Host: "example.org"},
		},
		"an address of IPv6 with a port": {
			`X-Forwarded-For: [2001:db8:5::1]:4711, [2001:db8::2]:80` + "\nX-Forwarded-Host: [2001:db8:7::1]:8443, inner",
			"2001:db8:5::1",
			Route{Host: "[2001:db8:7::1]:8443"},
		},
		"a WebSocket's scheme":    {"X-Forwarded-Proto: WSS", "10.0.0.1", Route{Scheme: "https"}},
		"an unknown scheme":       {"X-Forwarded-Proto: javascript", "10.0.0.1", Route{}},
		"a host with a path":      {"X-Forwarded-Host: evil.example/voice", "10.0.0.1", Route{}},
		"a host with a user":      {"X-Forwarded-Host: example.org@evil.example", "10.0.0.1", Route{}},
		"a host without a name":   {"X-Forwarded-Host: :8443", "10.0.0.1", Route{}},
		"an invalid port":         {"X-Forwarded-Host: example.org:https", "10.0.0.1", Route{}},
		"a prefix of two slashes": {"X-Forwarded-Prefix: //evil.example", "10.0.0.1", Route{}},
		"a prefix that goes up":   {"X-Forwarded-Prefix: /voice/../x", "10.0.0.1", Route{}},
		"a prefix with a query":   {"X-Forwarded-Prefix: /voice?x", "10.0.0.1", Route{}},
		"a prefix of a backslash": {`X-Forwarded-Prefix: /\evil.example`, "10.0.0.1", Route{}},
		"no prefix":               {"X-Forwarded-Prefix: /", "10.0.0.1", Route{}},
		"the standard's header": {
			`Forwarded: for=203.0.113.9;host=evil.example, for="[2001:db8:5::1]:80";proto=https;host="example.org:8443"`,
			"2001:db8:5::1",
			Route{Scheme: "https", Host: "example.org:8443"},
		},
		"the standard's header through two proxies": {
			`Forwarded: for=192.0.2.1;proto=https;host=example.org, for=10.0.0.9;proto=http;host=inner`,
			"192.0.2.1",
			Route{Scheme: "https", Host: "example.org"},
		},
		"both agree": {
			"X-Forwarded-For: 192.0.2.1\nX-Forwarded-Proto: https\nForwarded: for=192.0.2.1;proto=https",
			"192.0.2.1",
			Route{Scheme: "https"},
		},
		"the addresses differ": {
			"X-Forwarded-For: 192.0.2.1\nX-Forwarded-Host: example.org\nForwarded: for=203.0.113.9;host=example.org",
			"10.0.0.1",
			Route{},
		},
		"the hosts differ": {
			"X-Forwarded-For: 192.0.2.1\nX-Forwarded-Host: example.org\nForwarded: for=192.0.2.1;host=evil.example;proto=https",
			"192.0.2.1",
			Route{Scheme: "https"},
		},
		"an unknown client": {"X-Forwarded-For: unknown\nX-Forwarded-Host: example.org", "10.0.0.1", Route{Host: "example.org"}},
	} {
		addr, route := g.named(netip.MustParseAddr("10.0.0.1"), headers(c.headers))
		if addr.String() != c.addr || route != c.want {
			t.Errorf("%s: %s, %+v, expected %s, %+v", name, addr, route, c.addr, c.want)
		}
	}
}

// TestRouteOfAStranger checks that the headers of a client that is not a trusted proxy are
// ignored, and that the request itself then counts.
func TestRouteOfAStranger(t *testing.T) {
	g := behind(t, "10.0.0.0/8")
	for _, c := range []struct {
		from string
		tls  bool
		want Route
	}{
		{"192.0.2.77:1", false, Route{Host: "own.example"}},
		{"192.0.2.77:1", true, Route{Scheme: "https", Host: "own.example"}},
		{"10.0.0.1:1", false, Route{"https", "example.org", "/voice"}},
	} {
		conn := come(t, g, c.from, 1)[0]
		r := httptest.NewRequestWithContext(g.ConnContext(t.Context(), conn), http.MethodGet, "http://own.example/", nil)
		r.RemoteAddr = c.from
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		for name, value := range map[string]string{
			"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "example.org", "X-Forwarded-Prefix": "/voice",
			"Forwarded": "for=192.0.2.1;proto=https;host=example.org",
		} {
			r.Header.Set(name, value)
		}
		g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got := RouteOf(r); got != c.want {
				t.Errorf("from %s: %+v, expected %+v", c.from, got, c.want)
			}
		}), nil).ServeHTTP(nil, r)
	}
}

func TestParsePath(t *testing.T) {
	for text, want := range map[string]string{"": "", "/": "", "/voice": "/voice", "/voice/": "/voice", "/a/b.c/": "/a/b.c"} {
		if got, err := ParsePath(text); err != nil || got != want {
			t.Errorf("%q: %q, error %v, expected %q", text, got, err, want)
		}
	}
	for _, text := range []string{"voice", "//voice", "/voice//", "/../x", "/./x", "/a b", "/a%2Fb", "/a?b", "/a#b", "/" + strings.Repeat("x", 200), "https://example.org/voice", "/ä"} {
		if got, err := ParsePath(text); err == nil {
			t.Errorf("%q is accepted: %q", text, got)
		}
	}
}

// FuzzNamed checks that any header yields an address, and a host and a prefix that are
// safe in a link, without a panic.
func FuzzNamed(f *testing.F) {
	f.Add("192.0.2.1, 10.0.0.1", `for="[2001:db8::1]:80";by=x;host=h`, "https", "example.org:1, b", "/voice, /x")
	g := behind(f, "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, x, forwarded, proto, host, prefix string) {
		addr, route := g.named(netip.MustParseAddr("10.0.0.1"), http.Header{
			"X-Forwarded-For": {x}, "Forwarded": {forwarded}, "X-Forwarded-Proto": {proto}, "X-Forwarded-Host": {host}, "X-Forwarded-Prefix": {prefix},
		})
		if !addr.IsValid() {
			t.Errorf("%q, %q: no address", x, forwarded)
		}
		if route.Scheme != "" && route.Scheme != "http" && route.Scheme != "https" || strings.ContainsAny(route.Host, "/\\@?# \"<>\r\n") ||
			strings.HasPrefix(route.Prefix, "//") || strings.ContainsAny(route.Prefix, "\\?#: \"<>\r\n") || route.Prefix != "" && route.Prefix[0] != '/' {
			t.Errorf("%q, %q, %q, %q: %+v", forwarded, proto, host, prefix, route)
		}
	})
}
