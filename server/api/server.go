package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/routes"
	"github.com/hocketvoice/hocket/server/panel"
)

// Server handles requests. It is safe for concurrent use. Event streams end with
// the conversation or list that they follow, so none is left after the hub has
// drained.
type Server struct {
	o      Options
	mux    *http.ServeMux
	tokens *tokenTable

	restoring busy
	checked   checked

	mu      sync.Mutex
	streams map[string]int // event streams by owner
}

// New returns a server.
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
	s.mux.HandleFunc("GET /openapi.json", s.openAPI)
	s.mux.HandleFunc("GET /events.schema.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, EventSchema()) })
	for _, path := range realtimePaths() {
		if s.o.Realtime != nil {
			s.mux.HandleFunc(path, s.realtime)
		}
	}
	for carrier, h := range s.o.Phones {
		s.mux.Handle("/"+carrier+"/", h)
	}
	s.mux.HandleFunc("/v1/", s.unknown)
	rest := http.Handler(http.HandlerFunc(s.unknown))
	if s.o.Panel != nil {
		rest = s.panel()
	}
	s.mux.Handle("/", rest)
	return s, nil
}

// guarded wraps the handler of a route with the access check.
func (s *Server) guarded(e route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.identify(r) //nolint:contextcheck // the context is the request's
		NoteOwner(r.Context(), p.owner)
		if err == nil && (p.only != "" || p.start) && !e.single {
			err = fail(http.StatusForbidden, "forbidden", "this token is valid for one conversation only")
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

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inner, prefix := s.below(r)
	s.noted(w, inner, prefix, s.serve)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "" {
		http.Redirect(w, r, (&url.URL{Path: "/", RawQuery: r.URL.RawQuery}).String(), http.StatusPermanentRedirect)
		return
	}
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

// unknown answers requests for unknown paths and unsupported methods.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if list := routes.Allowed(s.mux, r); list != "" {
		w.Header().Set("Allow", list)
		s.tell(w, r, fail(http.StatusMethodNotAllowed, "method_not_allowed", "%s does not support %s: expected %s", r.URL.Path, known(r.Method), list))
		return
	}
	s.tell(w, r, fail(http.StatusNotFound, "no_such_path", "unknown path: %s %s", r.Method, r.URL.Path))
}

// realtimePaths returns the patterns of the OpenAI Realtime protocol.
func realtimePaths() []string {
	return []string{"/v1/realtime", "/v1/realtime/", "/v1/models", "/v1/models/", "/openai/"}
}

// isRealtime reports whether a path belongs to the OpenAI Realtime protocol.
func (s *Server) isRealtime(path string) bool {
	return s.o.Realtime != nil && slices.ContainsFunc(realtimePaths(), func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// realtime passes a request to the protocol's handler. If there are no keys, it refuses
// other origins and hosts, like all routes. Otherwise the handler requires a key, and the
// origin does not matter.
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

// health answers /healthz.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, Health{Status: "ok"})
}

// readyWait bounds the checks of one /readyz request.
const readyWait = 2 * time.Second

// ready answers /readyz: whether conversations may begin, and the reasons if not.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	answer := Health{Status: "ok", Conversations: s.o.Hub.Live()}
	if s.o.Hub.Draining() {
		answer.Status, answer.Reasons = "shutting_down", append(answer.Reasons, "shutting_down")
	}
	if s.o.Connecting != nil {
		answer.Connecting = s.o.Connecting()
	}
	if s.o.Hub.Full() {
		answer.Reasons = append(answer.Reasons, "full")
		if answer.Status == "ok" {
			answer.Status = "full"
		}
	}
	if s.o.Hub.Late() {
		answer.Reasons = append(answer.Reasons, "late")
		if answer.Status == "ok" {
			answer.Status = "late"
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyWait)
	defer cancel()
	for i, c := range s.o.Ready {
		err := c.Check(ctx)
		s.checked.note(s.o.Log, i, c, err)
		switch {
		case err == nil:
		case c.Optional:
			answer.Degraded = append(answer.Degraded, c.Name)
		default:
			answer.Reasons = append(answer.Reasons, c.Name)
			if answer.Status == "ok" {
				answer.Status = "not_ready"
			}
		}
	}
	if answer.Status == "ok" {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	w.Header().Set("Retry-After", retryAfter)
	writeJSON(w, http.StatusServiceUnavailable, answer)
}

// checked has the last outcome of each check, so that the log has a line for a change and
// not for each request. It is safe for concurrent use.
type checked struct {
	mu   sync.Mutex
	last map[int]string // errors, by index
}

// note logs the outcome of a check if it is not that of the last time.
func (k *checked) note(log *slog.Logger, i int, c Check, err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	k.mu.Lock()
	was := k.last[i]
	if k.last == nil {
		k.last = make(map[int]string)
	}
	k.last[i] = now
	k.mu.Unlock()
	switch {
	case now == was:
	case err == nil:
		log.Info("ready again", "check", c.Name)
	case c.Optional:
		log.Warn("degraded", "check", c.Name, "error", err)
	default:
		log.Warn("not ready", "check", c.Name, "error", err)
	}
}

// Health is the response of /healthz and /readyz.
type Health struct {
	// Status is "ok"; for /readyz also "shutting_down", "full", "late" or "not_ready".
	Status        string `json:"status"`
	Conversations int    `json:"conversations,omitempty"`
	// Connecting is the number of calls whose connection is not established yet.
	Connecting int `json:"connecting,omitempty"`
	// Reasons lists what prevents new conversations: "shutting_down", "full", "late" (calls, not text) and the
	// names of failed checks.
	Reasons []string `json:"reasons,omitempty"`
	// Degraded lists the names of failed checks that do not prevent new conversations.
	Degraded []string `json:"degraded,omitempty"`
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request, _ who) error {
	s.o.Metrics.ServeHTTP(w, r)
	return nil
}

// panel serves the panel's files. Browsers revalidate them with each request.
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
		h.Set("X-Frame-Options", "DENY") // for browsers without support for frame-ancestors
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "microphone=(self), camera=(), geolocation=()")
		files.ServeHTTP(w, r)
	})
}
