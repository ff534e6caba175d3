package api

import (
	"bufio"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// This file implements the records of requests. They contain no query, body or
// header, since those contain tokens and what was said.

// RequestWatcher counts requests. It is safe for concurrent use.
type RequestWatcher interface {
	RequestBegan()
	// RequestEnded reports the end of a request; an event stream or WebSocket ends
	// with its connection. route is the pattern of its path, from a small set.
	// method is a known HTTP method or "other".
	RequestEnded(route, method string, status int, took time.Duration)
}

// request is the state of a running request.
type request struct {
	prefix string // of paths in the response
	owner  atomic.Pointer[string]
}

type requestKey struct{}

// NoteOwner sets the owner of a request for the access log. It is meant for
// handlers in [Options] that authenticate requests themselves.
func NoteOwner(ctx context.Context, owner string) {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		q.owner.Store(&owner)
	}
}

// noted serves a request and records the result. prefix is added to the path in the
// header Location.
func (s *Server) noted(w http.ResponseWriter, r *http.Request, prefix string, serve http.HandlerFunc) {
	began, id := time.Now(), requestID(r)
	w.Header().Set("X-Request-Id", id)
	q := &request{prefix: prefix}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
	out := &recorder{ResponseWriter: w, status: http.StatusOK, request: q}
	if s.o.Requests != nil {
		s.o.Requests.RequestBegan()
	}
	defer func() { //nolint:contextcheck // the request's context goes with its line
		method, route := known(r.Method), routeOf(r)
		took := time.Since(began)
		if s.o.Requests != nil {
			s.o.Requests.RequestEnded(route, method, out.status, took)
		}
		if s.o.Access == nil {
			return
		}
		owner := ""
		if p := q.owner.Load(); p != nil {
			owner = *p
		}
		s.o.Access.LogAttrs(r.Context(), slog.LevelInfo, "request",
			slog.String("method", method), slog.String("route", route), slog.Int("status", out.status), slog.Int64("bytes", out.bytes.Load()),
			slog.Float64("seconds", took.Seconds()), slog.String("owner", owner), slog.String("remote", r.RemoteAddr), slog.String("request", id))
	}()
	serve(out, r)
}

// requestID returns the client's id of a request if it is valid, and otherwise a
// new one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c)
	}
	if id == "" || len(id) > 64 || strings.TrimLeftFunc(id, plain) != "" {
		return "req_" + rand.Text()[:20]
	}
	return id
}

// known returns a known HTTP method, or "other", since clients may send any.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// routeOf returns the pattern of a request's path, without the method.
func routeOf(r *http.Request) string {
	if _, path, ok := strings.Cut(r.Pattern, " "); ok {
		return path
	}
	if r.Pattern == "" {
		return "none" // a preflight or a redirect of the mux
	}
	return r.Pattern
}

// recorder is a response writer that records the response. Other methods are found
// by http.ResponseController through Unwrap.
type recorder struct {
	http.ResponseWriter
	request *request
	status  int
	wrote   bool
	bytes   atomic.Int64
}

// Unwrap returns the underlying writer.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// WriteHeader records the status and adds the prefix to the header Location.
func (o *recorder) WriteHeader(status int) {
	if to := o.Header().Get("Location"); o.request.prefix != "" && !o.wrote && status >= http.StatusOK && strings.HasPrefix(to, "/") {
		o.Header().Set("Location", o.request.prefix+to)
	}
	if !o.wrote {
		o.status, o.wrote = status, status >= http.StatusOK || status == http.StatusSwitchingProtocols
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes written.
func (o *recorder) Write(b []byte) (int, error) {
	o.wrote = true
	n, err := o.ResponseWriter.Write(b)
	o.bytes.Add(int64(n))
	return n, err
}

// Hijack takes over the connection and counts the bytes written to it.
func (o *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(o.ResponseWriter).Hijack()
	if err != nil {
		return conn, rw, err
	}
	counted := &countedConn{Conn: conn, bytes: &o.bytes}
	rw.Writer.Reset(counted)
	return counted, rw, nil
}

// countedConn counts the bytes written.
type countedConn struct {
	net.Conn
	bytes *atomic.Int64
}

// Write counts the bytes written.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}
