package api

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/server/gate"
)

// who identifies the sender of a request.
type who struct {
	owner string // owner of the conversations that they create
	// caller is the person of the conversations that they create, if their token
	// says so.
	caller string
	// may also see the conversations of other owners
	all bool
	// only, if not empty, is the one conversation that they may use.
	only string
	// start means that they may only begin a conversation, with ticket, a client
	// token.
	start  bool
	ticket string
}

// sees reports whether they may see a conversation.
func (p who) sees(owner, id string) bool {
	if p.start || p.only != "" && p.only != id {
		return false
	}
	return p.all || p.only == id && id != "" || p.owner == owner
}

// identify returns the sender of a request, or an error if access is denied.
func (s *Server) identify(r *http.Request) (p who, err error) {
	if err := s.checkOrigin(r); err != nil {
		return who{}, err
	}
	secret := bearer(r)
	defer func() {
		if err == nil && p != (who{all: true}) { // otherwise the server has no keys and none was shown
			s.o.Vouch(r.Context())
		}
	}()
	if p, ok, err := s.holder(r, secret); ok || err != nil {
		return p, err
	}
	if p, ok, err := s.client(r, secret); ok || err != nil {
		return p, err
	}
	if p, ok, err := s.known(r, secret); ok || err != nil {
		return p, err
	}
	if s.o.Keys.None() {
		if secret != "" {
			return who{}, errNoKeys // the sender expects the secret to be checked
		}
		return who{all: true}, s.checkHost(r)
	}
	if secret == "" {
		return who{}, fail(http.StatusUnauthorized, "no_key", "an API key is required: Authorization: Bearer KEY")
	}
	owner, ok := s.o.Keys.Owner(secret)
	if !ok {
		return who{}, errBadKey
	}
	return who{owner: owner}, nil
}

// holder returns the holder of a token that this process has issued for a conversation.
func (s *Server) holder(r *http.Request, secret string) (p who, ok bool, err error) {
	p, arrived, ok := s.tokens.use(secret)
	if !ok {
		return who{}, false, nil
	}
	if c, there := s.o.Hub.Find(p.only); there && !s.o.Keys.Vouches(c.Owner()) {
		return who{}, false, errBadKey // the key that created it was removed
	}
	if arrived {
		_ = s.keep(r.Context(), p.only) // until it succeeds the earlier tokens stay valid in the store
	}
	return p, true, nil
}

var errBadKey = fail(http.StatusUnauthorized, "bad_key", "the key or token is invalid or has expired")

var errNoKeys = fail(http.StatusUnauthorized, "no_keys", "the token is invalid or has expired, and this server has no API keys: omit the header Authorization")

// bearer returns the secret of a request. A browser's WebSocket cannot set headers
// and sends it as the subprotocol "hocket.bearer.SECRET".
func bearer(r *http.Request) string {
	if scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(secret)
	}
	for _, list := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(list, ",") {
			if secret, ok := strings.CutPrefix(strings.TrimSpace(p), bearerProtocol); ok {
				return secret
			}
		}
	}
	return ""
}

const bearerProtocol = "hocket.bearer." //nolint:gosec // a name, and no secret

// checkHost refuses requests for other host names on a server without keys, so that
// a web page cannot reach it by a name that resolves to this machine (DNS
// rebinding).
func (s *Server) checkHost(r *http.Request) error {
	// Both the host of this request and the one reported by a proxy must be allowed: a
	// page may send the header itself if the proxy does not write it.
	host := gate.RouteOf(r).Host
	if s.o.Open || isLoopback(hostOf(r.Host)) && isLoopback(hostOf(host)) {
		return nil
	}
	return fail(http.StatusForbidden, "bad_host", "the host is %q: without API keys this server accepts requests to localhost only", host)
}

// checkOrigin refuses requests from pages of other origins, except those in
// Options.Origins.
func (s *Server) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.o.Origins, origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" {
		route := gate.RouteOf(r)
		secure := u.Scheme == "https" || route.Scheme != "https" // a page loaded over HTTP may have been modified
		same := strings.EqualFold(withoutPort(u.Host, u.Scheme), withoutPort(route.Host, u.Scheme))
		if secure && same || isLoopback(u.Hostname()) && isLoopback(hostOf(route.Host)) {
			return nil
		}
	}
	return fail(http.StatusForbidden, "bad_origin", "origin %s is not allowed: add it to server.origins in the config", origin)
}

// withoutPort removes the default port of a scheme, which browsers omit.
func withoutPort(hostport, scheme string) string {
	switch scheme {
	case "https":
		return strings.TrimSuffix(hostport, ":443")
	case "http":
		return strings.TrimSuffix(hostport, ":80")
	default:
		return hostport
	}
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// isLoopback reports whether a name or address is a loopback one.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// cors allows pages of the configured origins to read the answers.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(s.o.Origins, origin) {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id, Hocket-Recording-Started, Hocket-Trace-Cut")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
	}
}
