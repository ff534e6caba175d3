package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/routes"
	"github.com/hocketvoice/hocket/server/panel"
)

// Server answers requests. It is safe for concurrent use. Event streams end with
// what they follow: when the hub has drained there is none left.
type Server struct {
	o      Options
	mux    *http.ServeMux
	tokens *tokenTable

	restoring busy

	mu      sync.Mutex
	streams map[string]int // event streams by owner
}

// New makes a server.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Server{o: o.withDefaults(), mux: http.NewServeMux(), tokens: newTokens(), streams: make(map[string]int)}
	for _, e := range s.routes() {
		s.mux.Handle(e.pattern, s.guarded(e))
	}
	s.mux.HandleFunc("GET /healthz", s.health)
	s.mux.HandleFunc("GET /readyz", s.ready)
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.OpenAPI()) })
	s.mux.HandleFunc("GET /events.schema.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, EventSchema()) })
	for _, path := range realtimePaths() {
		if s.o.Realtime != nil {
			s.mux.HandleFunc(path, s.realtime)
		}
	}
	s.mux.HandleFunc("/v1/", s.unknown)
	rest := http.Handler(http.HandlerFunc(s.unknown))
	if s.o.Panel != nil {
		rest = s.panel()
	}
	s.mux.Handle("/", rest)
	return s, nil
}

// guarded lets those through who may.
func (s *Server) guarded(e route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.identify(r)
		NoteOwner(r.Context(), p.owner)
		if err == nil && (p.only != "" || p.start) && !e.single {
			err = fail(http.StatusForbidden, "forbidden", "this token is good for one conversation alone")
		}
		if err == nil {
			err = e.serve(w, r, p)
		}
		if other, ok := errors.AsType[*elsewhere](err); ok {
			s.forward(w, r, other.url)
			return
		}
		if err != nil {
			s.tell(w, r, err)
		}
	})
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.noted(w, r, s.serve) }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	s.cors(w, r)
	if r.Method == http.MethodOptions && !s.isRealtime(r.URL.Path) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknown answers for paths that there are not, or not with this method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if list := routes.Allowed(s.mux, r); list != "" {
		w.Header().Set("Allow", list)
		s.tell(w, r, fail(http.StatusMethodNotAllowed, "method_not_allowed", "%s has no %s: expected %s", r.URL.Path, known(r.Method), list))
		return
	}
	s.tell(w, r, fail(http.StatusNotFound, "no_such_path", "there is no %s %s", r.Method, r.URL.Path))
}

// realtimePaths are those of the OpenAI Realtime protocol, as patterns.
func realtimePaths() []string { return []string{"/v1/realtime", "/v1/realtime/", "/openai/"} }

// isRealtime reports whether a path is one of them.
func (s *Server) isRealtime(path string) bool {
	return s.o.Realtime != nil && slices.ContainsFunc(realtimePaths(), func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// realtime hands on to the protocol's own handler. Without keys it is for this
// machine alone, like everything else; with one a page proves that it may,
// whatever its origin.
func (s *Server) realtime(w http.ResponseWriter, r *http.Request) {
	if s.o.Keys.None() {
		if err := errors.Join(s.checkOrigin(r), s.checkHost(r)); err != nil {
			s.tell(w, r, err)
			return
		}
	}
	if url, ok := s.heldElsewhere(r); ok {
		s.forward(w, r, url)
		return
	}
	s.o.Realtime.ServeHTTP(w, r)
}

// health says that the process is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, Health{Status: "ok"})
}

// readyWait bounds the checks of one /readyz.
const readyWait = 2 * time.Second

// ready says whether conversations may begin, and else why not.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	answer := Health{Status: "ok", Conversations: s.o.Hub.Live()}
	if s.o.Hub.Draining() {
		answer.Status, answer.Reasons = "shutting_down", append(answer.Reasons, "shutting_down")
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyWait)
	defer cancel()
	for _, c := range s.o.Ready {
		err := c.Check(ctx)
		if err == nil {
			continue
		}
		s.o.Log.Warn("not ready", "check", c.Name, "error", err)
		answer.Reasons = append(answer.Reasons, c.Name)
		if answer.Status == "ok" {
			answer.Status = "not_ready"
		}
	}
	if answer.Status == "ok" {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	w.Header().Set("Retry-After", retryAfter)
	writeJSON(w, http.StatusServiceUnavailable, answer)
}

// Health is the answer of /healthz and /readyz.
type Health struct {
	// Status is "ok"; of /readyz "shutting_down" or "not_ready" too.
	Status        string `json:"status"`
	Conversations int    `json:"conversations,omitempty"`
	// Reasons are all that keeps conversations from beginning: "shutting_down", and
	// the names of the checks that failed.
	Reasons []string `json:"reasons,omitempty"`
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ who) error {
	s.o.Metrics.ServeHTTP(w, r)
	return nil
}

// panel serves the panel's files. Browsers ask each time whether they are new.
func (s *Server) panel() http.Handler {
	files := http.FileServerFS(s.o.Panel)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.unknown(w, r)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", panel.ContentSecurityPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=()")
		files.ServeHTTP(w, r)
	})
}
