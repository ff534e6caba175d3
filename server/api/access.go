package api

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// who is the one that makes a request.
type who struct {
	owner string // whose conversations count as theirs
	// caller is who holds the conversation that they begin, if their token says so.
	caller string
	// all: they see the conversations of others too.
	all bool
	// only, if set, is the one conversation that they may use.
	only string
	// start: all that they may do is to begin a conversation, with ticket, a client token.
	start  bool
	ticket string
}

// sees reports whether a conversation is theirs to see.
func (p who) sees(owner, id string) bool {
	if p.start || p.only != "" && p.only != id {
		return false
	}
	return p.all || p.only == id && id != "" || p.owner == owner
}

// identify says who makes a request, or why nobody may.
func (s *Server) identify(r *http.Request) (p who, err error) {
	if err := s.checkOrigin(r); err != nil {
		return who{}, err
	}
	secret := bearer(r)
	defer func() { //nolint:contextcheck // the context is the request's
		if err == nil && p != (who{all: true}) { // else there are no keys, and nothing was shown
			s.o.Vouch(r.Context())
		}
	}()
	if p, arrived, ok := s.tokens.use(secret); ok {
		if c, there := s.o.Hub.Find(p.only); there && !s.o.Keys.Vouches(c.Owner()) {
			return who{}, errBadKey // the key that it was begun with was removed
		}
		if arrived {
			s.keep(r.Context(), p.only)
		}
		return p, nil
	}
	if p, ok, err := s.client(r, secret); ok || err != nil {
		return p, err
	}
	if p, ok, err := s.known(r, secret); ok || err != nil {
		return p, err
	}
	if s.o.Keys.None() {
		if secret != "" {
			return who{}, errNoKeys // not what its sender believes it to be
		}
		return who{all: true}, s.checkHost(r)
	}
	if secret == "" {
		return who{}, fail(http.StatusUnauthorized, "no_key", "this server wants an API key: Authorization: Bearer KEY")
	}
	owner, ok := s.o.Keys.Owner(secret)
	if !ok {
		return who{}, errBadKey
	}
	return who{owner: owner}, nil
}

var errBadKey = fail(http.StatusUnauthorized, "bad_key", "the key or token is not known, or no longer valid")

var errNoKeys = fail(http.StatusUnauthorized, "no_keys", "the token is not known, or no longer valid, and this server has no API keys: send no Authorization")

// bearer is the secret that a request carries. A WebSocket of a browser cannot
// set headers: it has it among its subprotocols, as "hocket.bearer.SECRET".
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

// checkHost keeps a page of the web from reaching a server without keys by a
// name that it had resolve to this machine (DNS rebinding).
func (s *Server) checkHost(r *http.Request) error {
	if s.o.Open || isLoopback(hostOf(r.Host)) {
		return nil
	}
	return fail(http.StatusForbidden, "bad_host", "the host is %q: without API keys this server answers to localhost alone", r.Host)
}

// checkOrigin keeps pages of other origins out, but for those that are named.
func (s *Server) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.o.Origins, origin) {
		return nil
	}
	u, err := url.Parse(origin)
	if err == nil && u.Host != "" {
		if strings.EqualFold(u.Host, r.Host) || isLoopback(u.Hostname()) && isLoopback(hostOf(r.Host)) {
			return nil
		}
	}
	return fail(http.StatusForbidden, "bad_origin", "pages of %s may not use this server: server.origins in the config says which may", origin)
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// isLoopback reports whether a name or address is this machine's own.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// cors lets pages of the named origins read the answers.
func (s *Server) cors(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(s.o.Origins, origin) {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Request-Id")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "600")
	}
}
