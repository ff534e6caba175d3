package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/coder/websocket"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Server is the handler of the protocol's paths. It is safe for concurrent use.
type Server struct {
	o       Options
	mux     *http.ServeMux
	secrets secrets

	mu     sync.Mutex       // guards all below
	conns  map[string]*conn // by the id of the call, or of the conversation
	closed bool
	gone   chan struct{} // closed when the server is, and the last connection has ended
}

// New makes a server.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	s := &Server{o: o, mux: http.NewServeMux(), conns: make(map[string]*conn), gone: make(chan struct{})}
	for _, base := range []string{"", "/openai"} { // Azure's paths begin with it
		s.mux.HandleFunc("GET "+base+"/v1/realtime", s.serveSocket)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/client_secrets", s.serveClientSecrets)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/sessions", s.serveSessions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/transcription_sessions", s.serveSessions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/calls", s.serveCalls)
		s.mux.HandleFunc("OPTIONS "+base+"/v1/realtime/calls", s.serveOptions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/calls/{id}/{do}", s.serveCall)
	}
	s.mux.HandleFunc("GET /openai/realtime", s.serveSocket)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		httpError(w, http.StatusNotFound, wire.Invalid("not_found", "", "Invalid URL (%s %s)", r.Method, r.URL.Path))
	})
	return s, nil
}

// ServeHTTP serves one request; a connection lasts as long as its request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends the connections, whose clients may come back, and waits for them or
// for ctx.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed && len(s.conns) == 0 {
		close(s.gone)
	}
	s.closed = true
	for _, c := range s.conns {
		c.out.close(closeRestart, "the server restarts")
	}
	s.mu.Unlock()
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin counts a connection; false: the server is closing.
func (s *Server) begin(id string, c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[id] = c
	return true
}

func (s *Server) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, id)
	if s.closed && len(s.conns) == 0 {
		close(s.gone)
	}
}

const (
	keyProtocol  = "openai-insecure-api-key."
	betaProtocol = "openai-beta.realtime-v1"
)

// protocols are the subprotocols that the client offers.
func protocols(r *http.Request) []string {
	var list []string
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(p))
		}
	}
	return list
}

// key is the client's key, wherever it has put it.
func key(r *http.Request) string {
	if k, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(k)
	}
	if k := r.Header.Get("Api-Key"); k != "" {
		return k
	}
	if k := r.URL.Query().Get("api-key"); k != "" {
		return k
	}
	for _, p := range protocols(r) {
		if k, ok := strings.CutPrefix(p, keyProtocol); ok {
			return k
		}
	}
	return ""
}

// isBeta reports whether the client speaks the older dialect.
func isBeta(r *http.Request) bool {
	return strings.Contains(r.Header.Get("OpenAI-Beta"), "realtime=v1") || slices.Contains(protocols(r), betaProtocol) ||
		r.URL.Query().Has("api-version")
}

// maxMessage bounds one event: the largest append, as base64, and room for the
// rest of it.
const maxMessage = wire.MaxAppend/3*4 + 64<<10

// serveSocket is a connection over WebSocket.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	accept := &websocket.AcceptOptions{
		Subprotocols:   []string{"realtime"},
		OriginPatterns: []string{"localhost:*", "127.0.0.1:*", "localhost", "127.0.0.1"},
		// With a key a page proves that it may connect, whatever its origin.
		InsecureSkipVerify: s.o.Authorize != nil,
	}
	ws, err := websocket.Accept(w, r, accept)
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // harmless when it is closed
	ws.SetReadLimit(maxMessage)
	t := &socket{ws}
	start, bad := s.start(r)
	if bad != nil {
		t.turnAway(r.Context(), bad)
		return
	}
	s.serve(r.Context(), t, nil, newID("conv"), isBeta(r), start)
}

// start is the configuration that a connection begins with.
func (s *Server) start(r *http.Request) (wire.Session, *wire.Error) {
	q := r.URL.Query()
	start := wire.NewSession(wire.TypeRealtime)
	switch intent := q.Get("intent"); intent {
	case "", "realtime", "conversation":
	case "transcription":
		start = wire.NewSession(wire.TypeTranscription)
		start.Input.Transcription = &wire.Transcription{}
	default:
		return start, wire.Invalid("invalid_intent", "intent", "Invalid intent '%s'.", intent)
	}
	k := key(r)
	if secret, ok := s.secrets.find(k); ok {
		start = secret
	} else if !s.authorized(r, k) {
		return start, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided.")
	}
	if q.Has("call_id") {
		return start, wire.Invalid(wire.CodeUnsupported, "call_id", "Side connections to a call are not supported by this server.")
	}
	if m := q.Get("model"); m != "" {
		start.Model = m
	} else if m := q.Get("deployment"); m != "" {
		start.Model = m
	}
	return start, nil
}

func (s *Server) authorized(r *http.Request, key string) bool {
	return s.o.Authorize == nil || s.o.Authorize(r, key)
}

// serve holds a conversation over a transport.
func (s *Server) serve(ctx context.Context, t transport, call Call, id string, beta bool, start wire.Session) {
	parts, end, err := s.o.Open(ctx, start.Model)
	if end != nil {
		defer func() { _ = end() }() // there is nobody to tell
	}
	if err != nil && !errors.Is(err, ErrUnknownModel) {
		t.Close(closeError, "the conversation cannot be made")
		return
	}
	start.ID = newID("sess")
	start.ExpiresAt = expiry(s.o.Lifetime)
	if start.Output.Voice == "" {
		start.Output.Voice = "default"
		if parts.Voice != "" {
			start.Output.Voice = parts.Voice
		}
	}
	c, err := newConn(&s.o, t, call, beta, newID("conv"), start, parts, err)
	if err != nil || !s.begin(id, c) {
		t.Close(closeError, "the conversation cannot be made")
		return
	}
	defer s.end(id)
	c.run(ctx)
}

// socket is a WebSocket as a transport.
type socket struct{ ws *websocket.Conn }

// Read implements transport.
func (s *socket) Read(ctx context.Context) ([]byte, error) {
	_, b, err := s.ws.Read(ctx)
	return b, err
}

// Write implements transport.
func (s *socket) Write(ctx context.Context, b []byte) error {
	return s.ws.Write(ctx, websocket.MessageText, b)
}

// Ping implements transport.
func (s *socket) Ping(ctx context.Context) error { return s.ws.Ping(ctx) }

// Close implements transport.
func (s *socket) Close(code int, reason string) {
	_ = s.ws.Close(websocket.StatusCode(code), reason) // it may be gone
}

// turnAway tells what is wrong with a handshake, which a browser cannot read from
// a refused one, and closes.
func (s *socket) turnAway(ctx context.Context, bad *wire.Error) {
	b, err := wire.Marshal(newID("event"), wire.ErrorEvent{Error: *bad})
	if err != nil {
		panic("realtime: an error does not marshal: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	_ = s.Write(ctx, b) // it may be gone
	code := 4000
	if bad.Code == wire.CodeInvalidKey {
		code = closeKey
	}
	s.Close(code, wire.InvalidRequest+"."+bad.Code)
}

// httpError answers a request that is refused.
func httpError(w http.ResponseWriter, status int, err *wire.Error) {
	writeJSON(w, status, map[string]any{"error": err})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("realtime: an answer does not marshal: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}
