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
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// Server is the handler of the protocol's paths. It is safe for concurrent use.
type Server struct {
	o     Options
	mux   *http.ServeMux
	since time.Time // it was made

	mu      sync.Mutex       // guards all below
	conns   map[string]*conn // by the id of the call, or of the conversation
	resumes map[digest]*conn // by the tokens that are good for them
	closed  bool
	gone    chan struct{} // closed when the server is, and the last conversation has ended
}

// New makes a server.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	s := &Server{o: o, mux: http.NewServeMux(), since: time.Now(), conns: make(map[string]*conn), resumes: make(map[digest]*conn), gone: make(chan struct{})}
	for _, base := range []string{"", "/openai"} { // Azure's paths begin with it
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

// unknown answers for paths that there are not, or not with this method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if list := routes.Allowed(s.mux, r); list != "" {
		w.Header().Set("Allow", list)
		httpError(w, http.StatusMethodNotAllowed, wire.Invalid("method_not_supported", "", "Only %s requests are accepted here.", list))
		return
	}
	httpError(w, http.StatusNotFound, wire.Invalid("not_found", "", "Invalid URL (%s %s)", r.Method, r.URL.Path))
}

// ServeHTTP serves one request; a connection lasts as long as its request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends the conversations, whose clients may come back, and waits for them or
// for ctx.
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

// begin starts a conversation, under the id of its call or its own; false: the
// server is closing.
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
	// It outlives its connection; Close waits for it.
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
	var a *arrival
	var bad *wire.Error
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") { // else Accept refuses
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
	defer func() { _ = ws.CloseNow() }() // harmless when it is closed
	ws.SetReadLimit(maxMessage)
	l := newLink(&socket{ws}, isBeta(r))
	if bad != nil {
		l.refuse(r.Context(), bad)
		return
	}
	s.serve(r.Context(), l, a)
}

// arrive lets a client in, to a new conversation or back to its own, or says why
// not.
func (s *Server) arrive(r *http.Request) (*arrival, *wire.Error) {
	start, owner, bad := s.start(r)
	if bad != nil {
		return nil, bad
	}
	from := Caller{Owner: owner, Model: start.Model}
	if token := resumeToken(r); token != "" {
		a, bad := s.comeBack(from, token)
		switch {
		case a == nil && bad == nil:
			return s.restore(r.Context(), from, token, nil)
		case a != nil && a.c.call != nil:
			a.end()
			return nil, errResume // a call comes back as one
		}
		return a, bad
	}
	return s.open(r.Context(), from, start, nil)
}

// start is who connects, and the configuration that a conversation begins with.
func (s *Server) start(r *http.Request) (start wire.Session, owner string, bad *wire.Error) {
	q := r.URL.Query()
	start = wire.NewSession(wire.TypeRealtime)
	switch intent := q.Get("intent"); intent {
	case "", "realtime", "conversation":
	case "transcription":
		start = wire.NewSession(wire.TypeTranscription)
		start.Input.Transcription = &wire.Transcription{}
	default:
		return start, "", wire.Invalid("invalid_intent", "intent", "Invalid intent '%s'.", intent)
	}
	k := key(r)
	made, owner, ok, bad := s.secret(r.Context(), k)
	if bad != nil {
		return start, "", bad
	}
	if ok {
		start = made
	} else if owner, ok = s.authorized(r, k); !ok {
		return start, "", wire.Invalid(wire.CodeInvalidKey, "", "Incorrect API key provided.")
	}
	if q.Has("call_id") {
		return start, "", wire.Invalid(wire.CodeUnsupported, "call_id", "Side connections to a call are not supported by this server.")
	}
	if m := q.Get("model"); m != "" {
		start.Model = m
	} else if m := q.Get("deployment"); m != "" {
		start.Model = m
	}
	return start, owner, nil
}

// authorized says whether a key is good, and whose it is.
func (s *Server) authorized(r *http.Request, key string) (owner string, ok bool) {
	if s.o.Authorize == nil {
		return "", true
	}
	return s.o.Authorize(r, key)
}

// defaults are the configuration of a client that says nothing.
func defaults(from Caller) wire.Session {
	start := wire.NewSession(wire.TypeRealtime)
	start.Model = from.Model
	return start
}

// open makes a new conversation.
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

// internalError is what a client is told that nobody can help.
var internalError = &wire.Error{Type: wire.ServerError, Code: "cannot_start", Message: "The conversation cannot be made."}

// make makes a conversation of its parts, which it ends where that fails.
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

// end ends what was opened.
func (p *Parts) end() {
	if p.Close != nil {
		_ = p.Close() // there is nobody to tell
	}
}

// serve serves a connection: its conversation begins with it, or goes on.
func (s *Server) serve(ctx context.Context, l *link, a *arrival) {
	c := a.c
	switch attached := c.attach(l); {
	case !attached: // it has just ended
		l.refuse(ctx, errResume)
		return
	case !a.back && !s.begin(context.WithoutCancel(ctx), c.id, a):
		a.end()
		l.t.Close(closeRestart, "the server restarts")
		return
	}
	if !a.returns() { // else it was promised
		_ = s.issue(ctx, c) // it has no other token
	}
	c.detach(l, c.carry(ctx, l))
}

// socket is a WebSocket as a transport.
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
	_ = s.ws.Close(websocket.StatusCode(code), reason) // it may be gone
}

// refuse tells what is wrong with a handshake, which a browser cannot read from a
// refused one, and closes.
func (l *link) refuse(ctx context.Context, bad *wire.Error) {
	b, err := wire.Marshal(newID("event"), wire.ErrorEvent{Error: *bad})
	if err != nil {
		panic("realtime: an error does not marshal: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	_ = l.t.Write(ctx, b) // it may be gone
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

// httpError answers a request that is refused.
func httpError(w http.ResponseWriter, status int, err *wire.Error) {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
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
