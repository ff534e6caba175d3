package webrtc

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the scheme prescribes it
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ICEServer is a STUN or TURN server as a browser takes it (RTCIceServer of the WebRTC
// recommendation).
type ICEServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// ICEService is a STUN or TURN server for browsers.
type ICEService struct {
	URLs []string // "stun:HOST[:PORT]", "turn:HOST[:PORT][?transport=udp|tcp]", "turns:..."
	// Secret, if set, is the secret shared with the TURN server. Each browser gets its
	// own credentials, which are valid for Valid (default 1 h).
	Secret string
	Valid  time.Duration
	// Username and Credential are given to all browsers if there is no Secret.
	Username, Credential string
}

// Validate returns an error if a field is invalid. The error does not contain the
// secret.
func (s ICEService) Validate() error {
	if len(s.URLs) == 0 {
		return errors.New("urls are missing: expected stun:HOST, turn:HOST or turns:HOST")
	}
	turn := false
	for _, u := range s.URLs {
		scheme, rest, _ := strings.Cut(u, ":")
		if !slices.Contains([]string{"stun", "stuns", "turn", "turns"}, scheme) || rest == "" || strings.HasPrefix(rest, "//") || strings.ContainsAny(rest, " @") {
			return fmt.Errorf("url %q must be stun:HOST, turn:HOST or turns:HOST, with :PORT and ?transport= where needed", u)
		}
		turn = turn || strings.HasPrefix(scheme, "turn")
	}
	return s.checkCredentials(turn)
}

// checkCredentials returns an error if the credentials are incomplete or contradict each other.
// turn says that there is a TURN server, which needs them.
func (s ICEService) checkCredentials(turn bool) error {
	switch {
	case s.Valid < 0:
		return errors.New("the time of validity must not be negative")
	case s.Secret != "" && (s.Username != "" || s.Credential != ""):
		return errors.New("a secret and a fixed credential must not both be set")
	case (s.Username == "") != (s.Credential == ""):
		return errors.New("username and credential must be set together")
	case turn && s.Secret == "" && s.Username == "":
		return errors.New("a TURN server needs a secret, or a username and a credential")
	}
	return nil
}

// For returns the server in the form for the browser of a conversation. The credentials
// follow the REST API for access to TURN services (draft-uberti-behave-turn-rest-00,
// section 2.2): the username consists of the time of expiry in seconds since 1970 and
// the id, and the credential is its HMAC-SHA1 in base64.
func (s ICEService) For(id string, now time.Time) ICEServer {
	told := ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}
	if s.Secret == "" {
		return told
	}
	valid := s.Valid
	if valid == 0 {
		valid = time.Hour
	}
	told.Username = strconv.FormatInt(now.Add(valid).Unix(), 10) + ":" + id
	mac := hmac.New(sha1.New, []byte(s.Secret))
	mac.Write([]byte(told.Username))
	told.Credential = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return told
}
