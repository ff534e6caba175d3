package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// proxied puts a reverse proxy in front of a server. Paths below /voice/ are its own: it
// removes that, or leaves it. change may set what else the proxy sends.
func proxied(t *testing.T, to string, strip bool, change func(*httputil.ProxyRequest)) *httptest.Server {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var inner http.Handler = &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target) // the server sees its own host
			if change != nil {
				change(p)
			}
		},
	}
	if strip {
		inner = http.StripPrefix("/voice", inner)
	}
	mux := http.NewServeMux()
	mux.Handle("/voice/", inner)
	mux.Handle("/voice", inner)
	front := httptest.NewTLSServer(mux)
	t.Cleanup(front.Close)
	return front
}

// outside sends requests from a page at the proxy.
type outside struct {
	t      *testing.T
	front  *httptest.Server
	origin string
}

// response is a response whose body was read.
type response struct {
	StatusCode int
	Header     http.Header
}

// do sends a request and decodes the response into v, which may be nil.
func (o outside) do(method, path, body string, v any) response {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.front.URL+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	if o.origin != "" {
		r.Header.Set("Origin", o.origin)
	}
	client := *o.front.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w, err := client.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			o.t.Errorf("%s %s: status %d: %s", method, path, w.StatusCode, b)
		}
	}
	return response{w.StatusCode, w.Header}
}

// TestPathBehindAProxy checks that a server under /voice/ works through a proxy, whether the
// proxy removes the path or not: links, redirects, streams and the Realtime protocol, for the
// page's origin and no other.
func TestPathBehindAProxy(t *testing.T) {
	named := func(p *httputil.ProxyRequest) {
		p.SetXForwarded()
		p.Out.Header.Set("X-Forwarded-Prefix", "/voice")
	}
	for name, c := range map[string]struct {
		config string
		strip  bool
		change func(*httputil.ProxyRequest)
	}{
		"the path stays":                         {"path: /voice/, trusted_proxies: [127.0.0.1]", false, (*httputil.ProxyRequest).SetXForwarded},
		"the path is removed":                    {"path: /voice/, trusted_proxies: [127.0.0.1]", true, (*httputil.ProxyRequest).SetXForwarded},
		"the path is removed, and named":         {"path: /voice/, trusted_proxies: [127.0.0.1]", true, named},
		"the path stays, and is named":           {"path: /voice/, trusted_proxies: [127.0.0.1]", false, named},
		"the path is named, and not in a config": {"trusted_proxies: [127.0.0.1]", true, named},
		"an untrusted proxy that keeps the host": {"path: /voice/", false, func(p *httputil.ProxyRequest) { p.Out.Host = p.In.Host }},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, "server: {"+c.config+", open: true, drain: off}")
			front := proxied(t, r.url, c.strip, c.change)
			o := outside{t, front, front.URL}

			var begun struct {
				ID          string `json:"id"`
				AccessToken string `json:"access_token"`
			}
			w := o.do("POST", "/voice/v1/conversations", `{"transport": "text"}`, &begun)
			at := "/voice/v1/conversations/" + begun.ID
			if got := w.Header.Get("Location"); w.StatusCode != http.StatusCreated || got != at {
				t.Fatalf("status %d, Location %q, expected %q", w.StatusCode, got, at)
			}
			if w := o.do("GET", at, "", nil); w.StatusCode != http.StatusOK {
				t.Errorf("the link: status %d", w.StatusCode)
			}
			for _, path := range []string{"/voice/", "/voice/panel.js", "/voice/healthz", "/voice/v1/agents", "/voice/events.schema.json"} {
				if w := o.do("GET", path, "", nil); w.StatusCode != http.StatusOK {
					t.Errorf("%s: status %d", path, w.StatusCode)
				}
			}
			for path, want := range map[string]string{"/voice/v1//agents?x=1": "/voice/v1/agents?x=1", "/voice/index.html": "./"} {
				if got := o.do("GET", path, "", nil).Header.Get("Location"); got != want {
					t.Errorf("%s leads to %q, expected %q", path, got, want)
				}
			}
			if !c.strip {
				for path, want := range map[string]string{"//voice//v1/agents": "/voice/v1/agents", "/x/../voice/v1/agents": "/voice/v1/agents"} {
					if got := o.do("GET", path, "", nil).Header.Get("Location"); got != want && !strings.HasSuffix(got, "://"+front.Listener.Addr().String()+want) {
						t.Errorf("%s leads to %q, expected %q", path, got, want)
					}
				}
				if w := o.do("GET", "/voice%2Fv1/agents", "", nil); w.StatusCode != http.StatusNotFound {
					t.Errorf("a slash that is escaped: status %d, Location %q", w.StatusCode, w.Header.Get("Location"))
				}
				if got := o.do("GET", "/voice?x=1", "", nil).Header.Get("Location"); got != "/voice/?x=1" {
					t.Errorf("/voice leads to %q", got)
				}
			}
			var described struct{ Servers []struct{ URL string } }
			want := front.URL + "/voice"
			if c.change == nil || !strings.Contains(c.config, "trusted") {
				want = strings.Replace(want, "https:", "http:", 1) // the scheme is not known
			}
			if o.do("GET", "/voice/openapi.json", "", &described); len(described.Servers) != 1 || described.Servers[0].URL != want {
				t.Errorf("the API is said to be at %+v, expected %s", described.Servers, want)
			}
			o.sockets(at, begun.AccessToken)

			evil := outside{t, front, "https://evil.example"}
			if w := evil.do("GET", "/voice/v1/agents", "", nil); w.StatusCode != http.StatusForbidden {
				t.Errorf("another origin: status %d", w.StatusCode)
			}
		})
	}
}

// sockets checks that the WebSockets of a conversation's events and of the Realtime
// protocol open.
func (o outside) sockets(at, token string) {
	o.t.Helper()
	ctx, cancel := context.WithCancel(o.t.Context())
	defer cancel()
	for _, c := range []struct {
		path      string
		protocols []string
	}{{at + "/events", []string{"hocket.events", "hocket.bearer." + token}}, {"/voice/v1/realtime?model=flights", []string{"realtime"}}} {
		conn, w, err := websocket.Dial(ctx, o.front.URL+c.path, &websocket.DialOptions{ //nolint:bodyclose // Dial does
			HTTPClient: o.front.Client(), HTTPHeader: http.Header{"Origin": {o.front.URL}}, Subprotocols: c.protocols,
		})
		if err != nil {
			o.t.Errorf("%s: %v %v", c.path, err, w)
			continue
		}
		if _, _, err := conn.Read(ctx); err != nil {
			o.t.Errorf("%s: %v", c.path, err)
		}
		_ = conn.CloseNow() // it has said what it had to
	}
}

// TestForwardedByAStranger checks that headers with a scheme, a host or a path count only
// from trusted proxies and are ignored from others.
func TestForwardedByAStranger(t *testing.T) {
	r := serve(t, "server: {drain: off, trusted_proxies: [192.0.2.1]}")
	front := proxied(t, r.url, true, func(p *httputil.ProxyRequest) {
		p.SetXForwarded()
		p.Out.Header.Set("X-Forwarded-Prefix", "/voice")
		p.Out.Header.Set("X-Forwarded-Host", "example.org")
		p.Out.Header.Set("Forwarded", `for=203.0.113.1;host=example.org;proto=https`)
	})
	o := outside{t, front, ""}
	w := o.do("POST", "/voice/v1/conversations", `{"transport": "text"}`, nil)
	if to := w.Header.Get("Location"); w.StatusCode != http.StatusCreated || !strings.HasPrefix(to, "/v1/") {
		t.Errorf("status %d, Location %q", w.StatusCode, to)
	}
	var described struct{ Servers []struct{ URL string } }
	if o.do("GET", "/voice/openapi.json", "", &described); len(described.Servers) != 1 || described.Servers[0].URL != r.url {
		t.Errorf("the API is said to be at %+v, expected %s", described.Servers, r.url)
	}
	o.origin = "https://example.org"
	if w := o.do("GET", "/voice/v1/agents", "", nil); w.StatusCode != http.StatusForbidden {
		t.Errorf("an origin that a stranger names as the host: status %d", w.StatusCode)
	}
}

// TestHostBehindAProxyWithoutKeys checks that a server without keys serves only this machine,
// whatever host the proxy or a page names.
func TestHostBehindAProxyWithoutKeys(t *testing.T) {
	r := serve(t, "server: {drain: off, trusted_proxies: [127.0.0.1]}")
	for _, c := range []struct {
		host, forwarded string
		status          int
	}{
		{"localhost:1", "localhost", http.StatusOK},
		{"localhost:1", "voice.example", http.StatusForbidden},
		{"evil.example", "localhost", http.StatusForbidden},
		{"evil.example", "", http.StatusForbidden},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = c.host
		if c.forwarded != "" {
			q.Header.Set("X-Forwarded-Host", c.forwarded)
		}
		w, err := r.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close() // the status is enough
		if w.StatusCode != c.status {
			t.Errorf("Host %s, X-Forwarded-Host %s: status %d, expected %d", c.host, c.forwarded, w.StatusCode, c.status)
		}
	}
}

// TestOriginBehindTLS checks that behind a proxy with TLS the pages of its host have https
// and no port, or the default one.
func TestOriginBehindTLS(t *testing.T) {
	r := serve(t, "server: {open: true, drain: off, trusted_proxies: [127.0.0.1]}")
	for _, c := range []struct {
		origin, host, proto string
		status              int
	}{
		{"https://example.org", "example.org", "https", http.StatusOK},
		{"https://example.org", "example.org:443", "https", http.StatusOK},
		{"https://EXAMPLE.org", "example.org", "https", http.StatusOK},
		{"http://example.org", "example.org", "https", http.StatusForbidden},
		{"http://example.org", "example.org:80", "http", http.StatusOK},
		{"https://example.org", "example.org", "http", http.StatusOK}, // TLS ends before the proxy
		{"https://example.org:8443", "example.org", "https", http.StatusForbidden},
		{"https://example.org", "example.org, evil.example", "https", http.StatusForbidden},
		{"null", "example.org", "https", http.StatusForbidden},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Origin", c.origin)
		q.Header.Set("X-Forwarded-Host", c.host)
		q.Header.Set("X-Forwarded-Proto", c.proto)
		w, err := r.client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close() // the status is enough
		if w.StatusCode != c.status {
			t.Errorf("%+v: status %d", c, w.StatusCode)
		}
	}
}
