package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/routes"
	"github.com/hocketvoice/hocket/internal/timezone"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Server handles the paths of the protocol. It is safe for concurrent use.
type Server struct {
	o     Options
	mux   *http.ServeMux
	since time.Time // when the server was created

	mu      sync.Mutex       // guards the fields below
	conns   map[string]*conn // by the id of the call or the conversation
	resumes map[digest]*conn // by valid tokens
	closed  bool
	gone    chan struct{} // closed when the server is closed and the last conversation has ended
}

// New returns a server.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	s := &Server{o: o, mux: http.NewServeMux(), since: time.Now(), conns: make(map[string]*conn), resumes: make(map[digest]*conn), gone: make(chan struct{})}
	for _, base := range []string{"", "/openai"} { // Azure's prefix
		s.mux.HandleFunc("GET "+base+"/v1/realtime", s.serveSocket)
		s.mux.HandleFunc("GET "+base+"/v1/models", s.serveModels)
		s.mux.HandleFunc("GET "+base+"/v1/models/{id...}", s.serveModel)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/client_secrets", s.serveClientSecrets)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/sessions", s.serveSessions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/transcription_sessions", s.serveSessions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/calls", s.serveCalls)
		s.mux.HandleFunc("OPTIONS "+base+"/v1/realtime/calls", s.serveOptions)
		s.mux.HandleFunc("POST "+base+"/v1/realtime/calls/{id}/{do}", s.serveCall)
	}
	s.mux.HandleFunc("GET /openai/realtime", s.serveSocket)
	s.mux.HandleFunc("/", s.unknown)
	return s, nil
}

// unknown answers requests for unknown paths, and for known paths with another method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if list := routes.Allowed(s.mux, r); list != "" {
		w.Header().Set("Allow", list)
		httpError(w, http.StatusMethodNotAllowed, wire.Invalid("method_not_supported", "", "Only %s requests are accepted here.", list))
		return
	}
	httpError(w, http.StatusNotFound, wire.Invalid("not_found", "", "Invalid URL (%s %s)", r.Method, r.URL.Path))
}

// ServeHTTP serves one request. A WebSocket connection lasts as long as its request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends all conversations and waits for their end or that of ctx. The clients are
// told that they may return.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed && len(s.conns) == 0 {
		close(s.gone)
	}
	s.closed = true
	all := slices.Collect(maps.Values(s.conns))
	s.mu.Unlock()
	for _, c := range all {
		c.conclude(closeRestart, "the server restarts")
	}
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a conversation under an id, which is that of its call or its own. It
// returns false if the server is closed.
func (s *Server) begin(ctx context.Context, id string, a *arrival) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	for _, d := range []digest{a.next.digest, a.before} {
		if d != (digest{}) {
			s.resumes[d] = a.c
		}
	}
	a.c.resume, a.c.before = a.next.digest, a.before
	s.conns[id] = a.c
	// The conversation outlives its connection; Close waits for it.
	go func() {
		defer s.end(id, a)
		a.c.run(ctx)
	}()
	return true
}

func (s *Server) end(id string, a *arrival) {
	a.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, id)
	a.c.gone = true
	s.forget(a.c)
	if s.closed && len(s.conns) == 0 {
		close(s.gone)
	}
}

const (
	keyProtocol  = "openai-insecure-api-key."
	betaProtocol = "openai-beta.realtime-v1"
)

// protocols returns the subprotocols that the client offers.
func protocols(r *http.Request) []string {
	var list []string
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(p))
		}
	}
	return list
}

// key returns the client's key from the header, the query or the subprotocols, or "".
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

// isBeta reports whether the client uses the beta dialect.
func isBeta(r *http.Request) bool {
	return strings.Contains(r.Header.Get("OpenAI-Beta"), "realtime=v1") || slices.Contains(protocols(r), betaProtocol) ||
		r.URL.Query().Has("api-version")
}

// maxMessage limits the size of an event in bytes: the largest append in base64, and 64
// KiB for the rest.
const maxMessage = wire.MaxAppend/3*4 + 64<<10

// serveSocket handles GET /v1/realtime, a connection over WebSocket.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	accept := &websocket.AcceptOptions{
		Subprotocols:   []string{"realtime"},
		OriginPatterns: []string{"localhost:*", "127.0.0.1:*", "localhost", "127.0.0.1"},
		// A client with a key may connect from a page of any origin.
		InsecureSkipVerify: s.o.Authorize != nil,
	}
	var a *arrival
	var bad *wire.Error
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // otherwise Accept refuses the request
		if a, bad = s.arrive(r); bad == nil {
			s.promise(r.Context(), a)
			a.tell(w.Header())
		}
	}
	ws, err := websocket.Accept(w, r, accept)
	if err != nil {
		if a != nil {
			a.end()
		}
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // does nothing if the connection is closed
	ws.SetReadLimit(maxMessage)
	l := newLink(&socket{ws}, isBeta(r))
	if bad != nil {
		l.refuse(r.Context(), bad)
		return
	}
	s.serve(r.Context(), l, a)
}

// arrive admits a client to a new conversation or back to its own.
func (s *Server) arrive(r *http.Request) (*arrival, *wire.Error) {
	start, from, bad := s.start(r)
	if bad != nil {
		return nil, bad
	}
	from.Model = start.Model
	if token := resumeToken(r); token != "" {
		a, bad := s.comeBack(from, token)
		switch {
		case a == nil && bad == nil:
			return s.restore(r.Context(), from, token, nil)
		case a != nil && a.c.call != nil:
			a.end()
			return nil, errResume // a call can only be resumed as a call
		}
		return a, bad
	}
	return s.open(r.Context(), from, start, nil)
}

// zoneParameter is the query parameter with the client's time zone. The protocol has none.
const zoneParameter = "timezone"

// start returns the initial configuration of a conversation and the client, without the
// model, which more of the request may name.
func (s *Server) start(r *http.Request) (start wire.Session, from Caller, bad *wire.Error) {
	q := r.URL.Query()
	start = wire.NewSession(wire.TypeRealtime)
	switch intent := q.Get("intent"); intent {
	case "", "realtime", "conversation":
	case "transcription":
		start = wire.NewSession(wire.TypeTranscription)
		start.Input.Transcription = &wire.Transcription{}
	default:
		return start, from, wire.Invalid("invalid_intent", "intent", "Invalid intent '%s'.", intent)
	}
	if q.Has(zoneParameter) {
		if from.Location, bad = location(q.Get(zoneParameter)); bad != nil {
			return start, from, bad
		}
	}
	k := key(r)
	made, owner, ok, bad := s.secret(r.Context(), k)
	if bad != nil {
		return start, from, bad
	}
	if from.Owner = owner; ok {
		start = made
	} else if from.Owner, ok = s.authorized(r, k); !ok {
		return start, from, wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided.")
	}
	if q.Has("call_id") {
		return start, from, wire.Invalid(wire.CodeUnsupported, "call_id", "Side connections to a call are not supported by this server.")
	}
	if m := q.Get("model"); m != "" {
		start.Model = m
	} else if m := q.Get("deployment"); m != "" {
		start.Model = m
	}
	return start, from, nil
}

// location returns the time zone with a name.
func location(name string) (*time.Location, *wire.Error) {
	loc, err := timezone.Load(name)
	if err != nil {
		return nil, wire.Invalid(wire.CodeInvalidValue, zoneParameter, "Invalid value: %.64q: %v.", name, err)
	}
	return loc, nil
}

// authorized returns the owner of a key and whether the key is valid.
func (s *Server) authorized(r *http.Request, key string) (owner string, ok bool) {
	if s.o.Authorize == nil {
		return "", true
	}
	return s.o.Authorize(r, key)
}

// defaults returns the configuration of a client that has not sent one.
func defaults(from Caller) wire.Session {
	start := wire.NewSession(wire.TypeRealtime)
	start.Model = from.Model
	return start
}

// open creates a new conversation.
func (s *Server) open(ctx context.Context, from Caller, start wire.Session, call Call) (*arrival, *wire.Error) {
	parts, err := s.o.Open(ctx, from)
	if err != nil && !errors.Is(err, ErrUnknownModel) {
		parts.end()
		if errors.Is(err, ErrBusy) {
			return nil, errFull
		}
		return nil, internalError
	}
	return s.make(begin{owner: from.Owner, session: start, parts: parts, openErr: err, call: call})
}

// internalError is sent to clients for errors that they cannot correct.
var internalError = &wire.Error{Type: wire.ServerError, Code: "cannot_start", Message: "The conversation cannot be made."}

// make creates a conversation from its parts. It releases the parts if it fails.
func (s *Server) make(b begin) (*arrival, *wire.Error) {
	b.session.ID = newID("sess")
	b.named = b.session.Model != ""
	b.session.Model = cmp.Or(b.session.Model, b.parts.Model)
	b.session.ExpiresAt = expiry(s.o.Lifetime)
	if v := &b.session.Output.Voice; *v == "" {
		*v = cmp.Or(b.parts.Session.Voice, "default")
	}
	c, err := newConn(&s.o, b)
	if err != nil {
		b.parts.end()
		return nil, internalError
	}
	c.heard = func(ctx context.Context) { s.arrived(ctx, c) }
	return &arrival{c: c, next: s.nextGrant(), end: b.parts.end}, nil
}

// end releases the resources of the parts.
func (p *Parts) end() {
	if p.Close != nil {
		_ = p.Close() // the error has no receiver
	}
}

// serve serves a connection, with which a conversation begins or continues.
func (s *Server) serve(ctx context.Context, l *link, a *arrival) {
	c := a.c
	switch attached := c.attach(l); {
	case !attached && a.back: // it is ending here; whether it can go on is known after that
		l.refuse(ctx, errAgain)
		return
	case !attached:
		l.refuse(ctx, errResume)
		return
	case !a.back && !s.begin(context.WithoutCancel(ctx), c.id, a):
		a.end()
		l.t.Close(closeRestart, "the server restarts")
		return
	}
	if !a.returns() { // otherwise promise has stored it
		_ = s.issue(ctx, c) // on failure the client still has a valid token
	}
	c.detach(l, c.carry(ctx, l))
}

// socket is a transport over a WebSocket.
type socket struct{ ws *websocket.Conn }

// Read implements transport.
func (s *socket) Read(ctx context.Context) ([]byte, error) {
	_, b, err := s.ws.Read(ctx)
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd:
		return nil, errDone
	default:
		return b, err
	}
}

// Write implements transport.
func (s *socket) Write(ctx context.Context, b []byte) error {
	return s.ws.Write(ctx, websocket.MessageText, b)
}

// Ping implements transport.
func (s *socket) Ping(ctx context.Context) error { return s.ws.Ping(ctx) }

// Close implements transport.
func (s *socket) Close(code int, reason string) {
	_ = s.ws.Close(websocket.StatusCode(code), reason) // the connection may have ended
}

// refuse sends an error and closes the connection. It is used instead of an HTTP
// status, since browsers do not show the answer to a failed handshake.
func (l *link) refuse(ctx context.Context, bad *wire.Error) {
	b, err := wire.Marshal(newID("event"), wire.ErrorEvent{Error: *bad})
	if err != nil {
		panic("realtime: marshal an error: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	_ = l.t.Write(ctx, b) // the connection may have ended
	code := closeRefused
	switch {
	case bad.Code == wire.CodeInvalidKey:
		code = closeKey
	case bad == errFull, bad == errAgain:
		code = closeBusy
	case bad.Type == wire.ServerError:
		code = closeError
	}
	l.t.Close(code, bad.Type+"."+bad.Code)
}

// httpError writes an error response.
func httpError(w http.ResponseWriter, status int, err *wire.Error) {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, status, map[string]any{"error": err})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("realtime: marshal a response: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may have gone
}
