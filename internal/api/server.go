package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/internal/panel"
)

// Server answers requests. It is safe for concurrent use. Event streams end with
// what they follow: when the hub has drained there is none left.
type Server struct {
	o      Options
	mux    *http.ServeMux
	tokens *tokens

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
	if s.o.Panel != nil {
		s.mux.Handle("/", s.panel())
	}
	return s, nil
}

// guarded lets those through who may.
func (s *Server) guarded(e route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.identify(r)
		if err == nil && (p.only != "" || p.start) && !e.single {
			err = fail(http.StatusForbidden, "forbidden", "this token is good for one conversation alone")
		}
		if err == nil {
			err = e.serve(w, r, p)
		}
		if err != nil {
			s.tell(w, r, err)
		}
	})
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.cors(w, r)
	if r.Method == http.MethodOptions && !s.isRealtime(r.URL.Path) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknown answers for paths that there are not.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
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
	s.o.Realtime.ServeHTTP(w, r)
}

// health says that the process is alive.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, Health{Status: "ok"})
}

// ready says whether conversations may begin.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.o.Hub.Draining() {
		w.Header().Set("Retry-After", "5")
		writeJSON(w, http.StatusServiceUnavailable, Health{Status: "shutting_down", Conversations: s.o.Hub.Live()})
		return
	}
	writeJSON(w, http.StatusOK, Health{Status: "ok", Conversations: s.o.Hub.Live()})
}

// Health is the answer of /healthz and /readyz.
type Health struct {
	Status        string `json:"status"`
	Conversations int    `json:"conversations,omitempty"`
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
		files.ServeHTTP(w, r)
	})
}
