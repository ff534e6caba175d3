package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
)

// This file implements client secrets: short-lived keys that a program can give to a
// browser, each with a configuration for its connections.

// MaxSecrets limits the number of valid client secrets that are kept in memory.
const MaxSecrets = 10_000

const (
	handshakeTime = 5 * time.Second
	maxBody       = 1 << 20
	secretSeconds = 600
)

// clientSecret is the stored value of a client secret.
type clientSecret struct {
	Owner string `json:"owner,omitempty"` // owner of the key that created it
	// Session is the configuration as the client sent it.
	Session json.RawMessage `json:"session,omitempty"`
}

// secretPrefix is the prefix of client secrets.
const secretPrefix = "ek"

// configured returns the configuration of a client secret. given may be empty.
func configured(given json.RawMessage) (wire.Session, *wire.Error) {
	session := wire.NewSession(wire.TypeRealtime)
	if len(given) == 0 || string(given) == "null" {
		return session, nil
	}
	return configure(session, given)
}

// configure applies a request's changes to a configuration. It returns an error if one
// of them is refused, since the response has no place for a partial refusal.
func configure(s wire.Session, given json.RawMessage) (wire.Session, *wire.Error) {
	s, refused, bad := s.Update(given, wire.UpdateOptions{Opening: true})
	if bad == nil && len(refused) > 0 {
		bad = refused[0]
	}
	return s, bad
}

// secret returns the configuration and the owner of a client secret. ok is false if the
// key is not a valid client secret.
func (s *Server) secret(ctx context.Context, key string) (session wire.Session, owner string, ok bool, bad *wire.Error) {
	if !strings.HasPrefix(key, secretPrefix+"_") {
		return wire.Session{}, "", false, nil
	}
	b, ok, err := s.o.Secrets.Find(ctx, key)
	if err != nil {
		return wire.Session{}, "", false, errAgain
	}
	if !ok {
		return wire.Session{}, "", false, nil
	}
	var kept clientSecret
	if err := json.Unmarshal(b, &kept); err != nil {
		return wire.Session{}, "", false, internalError
	}
	if s.o.Vouches != nil && !s.o.Vouches(kept.Owner) {
		return wire.Session{}, "", false, nil
	}
	session, bad = configured(kept.Session)
	return session, kept.Owner, bad == nil, bad
}

// newSecret creates a client secret and returns when it expires, in seconds since 1970.
func (s *Server) newSecret(ctx context.Context, session json.RawMessage, owner string, ttl time.Duration) (key string, until int64, bad *wire.Error) {
	b, err := json.Marshal(clientSecret{owner, session})
	if err != nil {
		return "", 0, internalError
	}
	key, until = newID(secretPrefix), expiry(ttl)
	switch err := s.o.Secrets.Keep(ctx, key, b, ttl); {
	case errors.Is(err, port.ErrTickets):
		return "", 0, wire.Invalid(wire.CodeRateLimit, "", "There are too many client secrets.")
	case err != nil:
		return "", 0, internalError
	}
	return key, until, nil
}

func expiry(d time.Duration) int64 { return time.Now().Add(d).Unix() }

// body decodes the JSON of a request's body. An empty body leaves to unchanged.
func body(w http.ResponseWriter, r *http.Request, to any) *wire.Error {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return wire.Invalid(wire.CodeTooLarge, "", "The request's body is larger than %d bytes.", maxBody)
	}
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return wire.Invalid(wire.CodeInvalidJSON, "", "We could not parse the JSON body of your request.")
	}
	return nil
}

// allow returns the owner of the request's key. If the key is invalid, it answers the
// request and returns false.
func (s *Server) allow(w http.ResponseWriter, r *http.Request) (owner string, ok bool) {
	if owner, ok = s.authorized(r, key(r)); !ok {
		httpError(w, http.StatusUnauthorized, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided."))
	}
	return owner, ok
}

// serveClientSecrets handles POST /v1/realtime/client_secrets.
func (s *Server) serveClientSecrets(w http.ResponseWriter, r *http.Request) {
	owner, ok := s.allow(w, r)
	if !ok {
		return
	}
	var in struct {
		ExpiresAfter struct {
			Anchor  *string `json:"anchor"`
			Seconds *int    `json:"seconds"`
		} `json:"expires_after"`
		Session json.RawMessage `json:"session"`
	}
	if bad := body(w, r, &in); bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	seconds := secretSeconds
	if n := in.ExpiresAfter.Seconds; n != nil {
		seconds = *n
	}
	if a := in.ExpiresAfter.Anchor; seconds < 10 || seconds > 7200 || a != nil && *a != "created_at" {
		httpError(w, http.StatusBadRequest, wire.Invalid(wire.CodeInvalidValue, "expires_after.seconds",
			"Invalid 'expires_after.seconds': expected an integer from 10 to 7200 after 'created_at'."))
		return
	}
	session, bad := configured(in.Session)
	if bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	key, until, bad := s.newSecret(r.Context(), in.Session, owner, time.Duration(seconds)*time.Second)
	if bad != nil {
		httpError(w, statusOf(bad), bad)
		return
	}
	session.ID = newID("sess")
	writeJSON(w, http.StatusOK, map[string]any{"value": key, "expires_at": until, "session": session})
}

// serveSessions handles the older endpoints for client secrets, which use the flat form
// of a session and return the secret in it.
func (s *Server) serveSessions(w http.ResponseWriter, r *http.Request) {
	owner, ok := s.allow(w, r)
	if !ok {
		return
	}
	flat := map[string]json.RawMessage{}
	if bad := body(w, r, &flat); bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	general, err := json.Marshal(wire.SessionFromBeta(flat, strings.HasSuffix(r.URL.Path, "transcription_sessions")))
	if err != nil {
		panic("realtime: marshal a session: " + err.Error())
	}
	session, bad := configured(general)
	if bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	key, until, bad := s.newSecret(r.Context(), general, owner, time.Minute)
	if bad != nil {
		httpError(w, statusOf(bad), bad)
		return
	}
	session.ID = newID("sess")
	writeJSON(w, http.StatusOK, wire.BetaSession(session, map[string]any{"value": key, "expires_at": until}))
}
