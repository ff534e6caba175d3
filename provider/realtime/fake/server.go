package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Server is the endpoint. Its fields must be set before it serves. It is safe for
// concurrent use.
type Server struct {
	// Key is the key that the client must send, as a bearer token, in the header api-key, or
	// in a subprotocol. If it is empty, any is accepted.
	Key string
	// Beta accepts clients of the beta dialect. The vendor has switched it off.
	Beta bool
	// Limit is the longest life of a session; 60 min if 0.
	Limit time.Duration
	// Heard are the words of the user's turns, in their order over all sessions.
	Heard []string
	// Late delays the transcripts.
	Late time.Duration
	// Answer returns the answer to a request. If it is nil, a request to say a text is
	// answered by the text, and any other by its number.
	Answer func(Request) Answer
	// Refuse, if not nil, may refuse the n-th connection, from 1.
	Refuse func(n int) *Refusal
	// Requests is how many answers the account has; no limit if 0. It has more when Reset has
	// passed.
	Requests int
	Reset    time.Duration
	// Used says that the first answers were used by others just before.
	Used bool
	// Mute opens connections and says nothing.
	Mute bool
	// NoMetadata leaves out the metadata of requests, as some servers do.
	NoMetadata bool
	// Rude answers and interrupts by itself, whatever the session says.
	Rude bool

	mu       sync.Mutex // guards the fields below
	sessions []*session
	opened   int // connections
	turns    int // of the user
	answers  int
	used     int
	usedAt   time.Time
	refused  []string
	secrets  map[string]time.Time
}

// Refusal is an HTTP response in place of a WebSocket.
type Refusal struct {
	Status int
	Header http.Header
	Body   string
}

// Request is a request for an answer.
type Request struct {
	Session int // the number of the session, from 1
	Number  int // of the answer, over all sessions, from 1
	// Aside says that the answer is not part of the conversation.
	Aside        bool
	Instructions string // of the request, or of the session
	// Items are the conversation that the answer follows.
	Items []wire.Item
	Tools []wire.Tool
}

// Last returns the last item of the conversation.
func (r Request) Last() wire.Item {
	if len(r.Items) == 0 {
		return wire.Item{}
	}
	return r.Items[len(r.Items)-1]
}

// Answer is an answer and the way it is sent.
type Answer struct {
	Text  string
	Calls []Call
	Fail  *wire.ResponseError // after the text
	// Filtered ends the answer as the vendor's filter of contents does.
	Filtered bool
	// First and Gap are the pauses before the answer and between its pieces of 200 ms.
	First, Gap time.Duration
	// Cut breaks the connection after half of the sound.
	Cut bool
	// Raw, if not empty, is sent in place of the answer's words.
	Raw string
	// Early, if not nil, is called when the answer begins.
	Early func()
}

// Call is a call of a tool.
type Call struct{ ID, Name, Arguments string }

// Refused returns what clients asked for that the protocol does not allow.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Sessions returns the number of sessions that have begun.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Items returns the conversation of a session, whose number counts from 1.
func (s *Server) Items(session int) []wire.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session < 1 || session > len(s.sessions) {
		return nil
	}
	return s.sessions[session-1].conversation()
}

// ServeHTTP serves the protocol, and client secrets.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/client_secrets"):
		s.serveSecret(w, r)
	case strings.HasSuffix(r.URL.Path, "/realtime"):
		s.serveSession(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveSecret creates a client secret.
func (s *Server) serveSecret(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ExpiresAfter *struct {
			Seconds int `json:"seconds"`
		} `json:"expires_after"`
		Session json.RawMessage `json:"session"`
	}
	b, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // what cannot be read is refused below
	fail := func(status int, e *wire.Error) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": e}) // the client may have gone
	}
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key && r.Header.Get("Api-Key") != s.Key {
		fail(http.StatusUnauthorized, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided."))
		return
	}
	if len(b) > 0 && json.Unmarshal(b, &body) != nil {
		fail(http.StatusBadRequest, wire.Invalid(wire.CodeInvalidJSON, "", "We could not parse the JSON body of your request."))
		return
	}
	seconds := 600
	if body.ExpiresAfter != nil {
		if seconds = body.ExpiresAfter.Seconds; seconds < 10 || seconds > 7200 {
			fail(http.StatusBadRequest, wire.Invalid(wire.CodeInvalidValue, "expires_after.seconds", "Invalid 'expires_after.seconds': expected 10 to 7200."))
			return
		}
	}
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	s.mu.Lock()
	if s.secrets == nil {
		s.secrets = make(map[string]time.Time)
	}
	value := fmt.Sprintf("ek_%d", len(s.secrets)+1)
	s.secrets[value] = until
	s.mu.Unlock()
	session := wire.NewSession(wire.TypeRealtime)
	session.ID, session.Model = "sess_secret", "gpt-realtime"
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"value": value, "expires_at": until.Unix(), "session": session}) // the client may have gone
}

// known reports whether a key opens a session.
func (s *Server) known(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, ok := s.secrets[key]; ok {
		return time.Now().Before(until)
	}
	return s.Key == "" || key == s.Key
}

// keyOf returns the key of a request.
func keyOf(r *http.Request) string {
	if key := r.Header.Get("Api-Key"); key != "" {
		return key
	}
	for _, p := range strings.Split(r.Header.Get("Sec-Websocket-Protocol"), ",") {
		if key, ok := strings.CutPrefix(strings.TrimSpace(p), "openai-insecure-api-key."); ok {
			return key
		}
	}
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.opened++
	n := s.opened
	s.mu.Unlock()
	if s.Refuse != nil {
		if no := s.Refuse(n); no != nil {
			maps.Copy(w.Header(), no.Header)
			w.WriteHeader(no.Status)
			_, _ = io.WriteString(w, no.Body) // the client may have gone
			return
		}
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ws.SetReadLimit(32 << 20)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	beta := r.Header.Get("Openai-Beta") == "realtime=v1" || r.URL.Query().Get("api-version") != "" ||
		strings.Contains(r.Header.Get("Sec-Websocket-Protocol"), "openai-beta.realtime-v1")
	se := &session{server: s, ws: ws, beta: beta, state: wire.NewSession(wire.TypeRealtime), calls: make(map[string]bool), sounds: make(map[string]int)}
	switch {
	case s.Mute:
		_, _, _ = ws.Read(ctx) // until the client has gone
		<-ctx.Done()
		return
	case beta && !s.Beta:
		se.end(ctx, wire.Invalid("beta_api_shape_disabled", "", "The Realtime Beta API is no longer supported."), 4000)
		return
	case !s.known(keyOf(r)):
		se.end(ctx, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided."), 3000)
		return
	}
	s.mu.Lock()
	s.sessions = append(s.sessions, se)
	se.number = len(s.sessions)
	s.mu.Unlock()
	limit := s.Limit
	if limit == 0 {
		limit = time.Hour
	}
	se.state.ID, se.state.Model = "sess_"+strconv.Itoa(se.number), r.URL.Query().Get("model")+r.URL.Query().Get("deployment")
	se.state.ExpiresAt = time.Now().Add(limit).Unix()
	se.run(ctx, cancel, limit)
}

// turn returns what the user said in the next turn, and whether it is known.
func (s *Server) turn() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	if s.turns > len(s.Heard) {
		return ""
	}
	return s.Heard[s.turns-1]
}

// limited counts an answer against the limit. It returns what is left, and whether the answer
// is refused.
func (s *Server) limited() (limits []wire.RateLimit, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Requests == 0 {
		return []wire.RateLimit{{Name: "requests", Limit: 1000, Remaining: 999, ResetSeconds: 0.06}}, false
	}
	now := time.Now()
	if s.usedAt.IsZero() || now.Sub(s.usedAt) >= s.Reset {
		s.used, s.usedAt = 0, now
	}
	if s.Used {
		s.used, s.Used = s.Requests, false
	}
	if s.used < s.Requests {
		s.used++
	} else {
		refused = true
	}
	left := s.Reset - now.Sub(s.usedAt)
	return []wire.RateLimit{{Name: "requests", Limit: s.Requests, Remaining: s.Requests - s.used, ResetSeconds: left.Seconds()}}, refused
}

// answer returns the answer to a request.
func (s *Server) answer(r Request) Answer {
	s.mu.Lock()
	s.answers++
	r.Number = s.answers
	s.mu.Unlock()
	if s.Answer != nil {
		return s.Answer(r)
	}
	if r.Aside {
		return Answer{Text: Said(r)}
	}
	return Answer{Text: fmt.Sprintf("This is answer %d.", r.Number)}
}

// Said returns the text that a request asks to be said.
func Said(r Request) string {
	_, text, _ := strings.Cut(r.Instructions, "\n")
	return text
}

// note records something that a client may not do.
func (s *Server) note(e *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = append(s.refused, e.Error())
}
