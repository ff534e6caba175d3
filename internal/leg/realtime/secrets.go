package realtime

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file: keys of a short life that a client may give to a browser, each with
// the configuration that its connections begin with.

const (
	handshakeTime = 5 * time.Second
	maxBody       = 1 << 20
	maxSecrets    = 10_000
	secretSeconds = 600
)

// secrets are the keys that are valid. The zero value is empty. It is safe for
// concurrent use.
type secrets struct {
	mu   sync.Mutex // guards keys
	keys map[string]secret
}

type secret struct {
	session wire.Session
	owner   string // of the key that it was made with
	until   time.Time
}

// find is the configuration of a key that is still good, and who has made it.
func (s *secrets) find(key string) (session wire.Session, owner string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[key]
	if !ok || time.Now().After(k.until) {
		return wire.Session{}, "", false
	}
	return k.session, k.owner, true
}

// add makes a key. When there are too many the ones that are over go, and if none
// is there is no room.
func (s *secrets) add(session wire.Session, owner string, until time.Time) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = make(map[string]secret)
	}
	if len(s.keys) >= maxSecrets {
		for k, v := range s.keys {
			if time.Now().After(v.until) {
				delete(s.keys, k)
			}
		}
	}
	if len(s.keys) >= maxSecrets {
		return "", false
	}
	key := newID("ek")
	s.keys[key] = secret{session, owner, until}
	return key, true
}

func expiry(d time.Duration) int64 { return time.Now().Add(d).Unix() }

// body reads a request's body as JSON; an empty one is an empty object.
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

// allow answers a request whose key is no good, and says whose a good one is.
func (s *Server) allow(w http.ResponseWriter, r *http.Request) (owner string, ok bool) {
	if owner, ok = s.authorized(r, key(r)); !ok {
		httpError(w, http.StatusUnauthorized, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided."))
	}
	return owner, ok
}

// serveClientSecrets is POST /v1/realtime/client_secrets.
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
	session := wire.NewSession(wire.TypeRealtime)
	if len(in.Session) > 0 && string(in.Session) != "null" {
		var bad *wire.Error
		if session, bad = session.Update(in.Session, wire.UpdateOptions{Opening: true}); bad != nil {
			httpError(w, http.StatusBadRequest, bad)
			return
		}
	}
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	key, ok := s.secrets.add(session, owner, until)
	if !ok {
		httpError(w, http.StatusTooManyRequests, wire.Invalid(wire.CodeRateLimit, "", "There are too many client secrets."))
		return
	}
	session.ID = newID("sess")
	writeJSON(w, http.StatusOK, map[string]any{"value": key, "expires_at": until.Unix(), "session": session})
}

// serveSessions is the older way to a client secret: the session is flat, and the
// secret is in it.
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
		panic("realtime: JSON that was read does not marshal: " + err.Error())
	}
	session, bad := wire.NewSession(wire.TypeRealtime).Update(general, wire.UpdateOptions{Opening: true})
	if bad != nil {
		httpError(w, http.StatusBadRequest, bad)
		return
	}
	until := time.Now().Add(time.Minute)
	key, ok := s.secrets.add(session, owner, until)
	if !ok {
		httpError(w, http.StatusTooManyRequests, wire.Invalid(wire.CodeRateLimit, "", "There are too many client secrets."))
		return
	}
	session.ID = newID("sess")
	writeJSON(w, http.StatusOK, wire.BetaSession(session, map[string]any{"value": key, "expires_at": until.Unix()}))
}
