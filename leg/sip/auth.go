package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// This file decides who may send requests.

const (
	nonceValid = 5 * time.Minute
	// maxUses limits the remembered uses of nonces.
	maxUses = 10_000
)

// verdict is what becomes of a request.
type verdict int

const (
	refused    verdict = iota // 403
	challenged                // 401: a password is asked for
	stale                     // 401: the password was valid, and its nonce is too old
	passed
)

// guard admits requests. It is safe for concurrent use. Its nonces need no memory: each has the time at
// which it was made, for whom, and a signature.
type guard struct {
	allow []netip.Prefix
	users map[string]string // passwords by name
	realm string
	key   [32]byte // signs nonces

	mu         sync.Mutex // guards the fields below
	uses       map[string]use
	registrars map[string]netip.Addr // that have an account of ours, by their name in the options
}

// use is a use of a nonce: a repeated request is the same, and another one must count further.
type use struct {
	request string
	until   time.Time
}

func newGuard(o *Options) *guard {
	g := &guard{allow: o.Allow, users: make(map[string]string, len(o.Users)), realm: o.Realm, uses: make(map[string]use), registrars: make(map[string]netip.Addr)}
	for _, u := range o.Users {
		g.users[u.Name] = u.Password
	}
	rand.Read(g.key[:]) // never fails
	return g
}

// allows reports whether anybody may call from an address.
func (g *guard) allows(a netip.Addr) bool {
	if slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(a) }) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.registrars {
		if r == a {
			return true
		}
	}
	return false
}

// admit notes the address of a registrar, from which anybody may call.
func (g *guard) admit(registrar string, a netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.registrars[registrar] = a
}

// judge decides about a request from an address. user is the name of who has shown a password.
func (g *guard) judge(now time.Time, req *sip.Request, from netip.Addr) (v verdict, user string) {
	if g.allows(from) {
		return passed, ""
	}
	if len(g.users) == 0 {
		return refused, ""
	}
	for _, h := range req.GetHeaders("Authorization") {
		c, err := digest.ParseCredentials(h.Value())
		if err != nil || c.Realm != g.realm {
			continue
		}
		return g.check(now, req, from, c), c.Username
	}
	return challenged, ""
}

// check decides about a request with credentials.
func (g *guard) check(now time.Time, req *sip.Request, from netip.Addr, c *digest.Credentials) verdict {
	password, known := g.users[c.Username]
	if !known {
		password = string(g.key[:]) // takes the same time
	}
	ch := digest.Challenge{Realm: g.realm, Nonce: c.Nonce, Algorithm: "MD5"}
	if c.QOP != "" {
		if c.QOP != "auth" || c.Nc < 1 || c.Cnonce == "" {
			return challenged
		}
		ch.QOP = []string{"auth"}
	}
	if c.Algorithm != "" && !strings.EqualFold(c.Algorithm, "MD5") {
		return challenged
	}
	want, err := digest.Digest(&ch, digest.Options{
		Method: string(req.Method), URI: c.URI, Username: c.Username, Password: password, Cnonce: c.Cnonce, Count: c.Nc,
	})
	if err != nil || subtle.ConstantTimeCompare([]byte(strings.ToLower(c.Response)), []byte(want.Response)) != 1 || !known {
		return challenged
	}
	if !g.made(now, c.Nonce, from) || !g.first(now, req, c) {
		return stale
	}
	return passed
}

// nonce returns a nonce for an address.
func (g *guard) nonce(now time.Time, to netip.Addr) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.Unix()))
	rand.Read(b[8:]) // never fails
	return base64.RawURLEncoding.EncodeToString(append(b[:], g.sign(b[:], to)...))
}

func (g *guard) sign(b []byte, to netip.Addr) []byte {
	h := hmac.New(sha256.New, g.key[:])
	h.Write(b)
	a := to.As16()
	h.Write(a[:])
	return h.Sum(nil)[:16]
}

// made reports whether a nonce was made here for an address, not long ago.
func (g *guard) made(now time.Time, nonce string, to netip.Addr) bool {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 32 || !hmac.Equal(b[16:], g.sign(b[:16], to)) {
		return false
	}
	age := now.Sub(time.Unix(int64(binary.BigEndian.Uint64(b[:8])), 0))
	return age > -time.Minute && age < nonceValid
}

// first reports whether a nonce and its count are used for the first time, or again for the same request
// that was repeated in the network.
func (g *guard) first(now time.Time, req *sip.Request, c *digest.Credentials) bool {
	name := fmt.Sprintf("%s %d", c.Nonce, c.Nc)
	branch, _ := req.Via().Params.Get("branch")
	request := fmt.Sprintf("%s\x00%s\x00%d\x00%s", req.CallID().Value(), req.Method, req.CSeq().SeqNo, branch)
	g.mu.Lock()
	defer g.mu.Unlock()
	if u, used := g.uses[name]; used {
		return u.request == request
	}
	if len(g.uses) >= maxUses {
		for n, u := range g.uses {
			if now.After(u.until) {
				delete(g.uses, n)
			}
		}
		if len(g.uses) >= maxUses {
			return false
		}
	}
	g.uses[name] = use{request, now.Add(nonceValid)}
	return true
}

// response returns the answer to a request that has not passed.
func (g *guard) response(now time.Time, req *sip.Request, from netip.Addr, v verdict) *sip.Response {
	if v == refused {
		return respond(req, sip.StatusForbidden)
	}
	res := respond(req, sip.StatusUnauthorized)
	ch := digest.Challenge{Realm: g.realm, Nonce: g.nonce(now, from), Algorithm: "MD5", QOP: []string{"auth"}, Stale: v == stale}
	res.AppendHeader(sip.NewHeader("WWW-Authenticate", ch.String()))
	return res
}
