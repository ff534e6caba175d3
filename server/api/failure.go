package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

// Failure is an error in a response.
type Failure struct {
	Error FailureError `json:"error"`
}

// FailureError contains a code for programs and a message for people.
type FailureError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// failure is an error with its HTTP status.
type failure struct {
	status  int
	code    string
	message string
}

// Error returns the message.
func (f *failure) Error() string { return f.message }

func fail(status int, code, format string, args ...any) error {
	return &failure{status, code, fmt.Sprintf(format, args...)}
}

// failureOf returns the failure for an error of another package.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if active, ok := errors.AsType[*session.ActiveError](err); ok {
		return &failure{http.StatusConflict, "conversation_active", active.Error()}
	}
	if refused, ok := errors.AsType[*session.ContextError](err); ok {
		return &failure{http.StatusBadRequest, "bad_context", refused.Error()}
	}
	switch {
	case errors.Is(err, hub.ErrCommand):
		return &failure{http.StatusBadRequest, "bad_command", err.Error()}
	case errors.Is(err, session.ErrEnded):
		return &failure{http.StatusConflict, "conversation_ended", "the conversation has ended"}
	case errors.Is(err, hub.ErrFull):
		return &failure{http.StatusServiceUnavailable, "full", err.Error()}
	case errors.Is(err, hub.ErrLate):
		return &failure{http.StatusServiceUnavailable, "late", err.Error()}
	case errors.Is(err, hub.ErrDraining):
		return &failure{http.StatusServiceUnavailable, "shutting_down", err.Error()}
	case errors.Is(err, hub.ErrStart):
		return &failure{http.StatusServiceUnavailable, "cannot_start", err.Error()}
	case errors.Is(err, hub.ErrUserFull):
		return &failure{http.StatusTooManyRequests, "too_many_conversations", err.Error()}
	case errors.Is(err, hub.ErrStreams):
		return &failure{http.StatusTooManyRequests, "too_many_streams", err.Error()}
	default:
		return &failure{http.StatusInternalServerError, "internal", "internal error: see the server's log"}
	}
}

// retryAfter is the number of seconds after which a client that was refused for
// lack of capacity may try again.
const retryAfter = "5"

// tell answers a request with an error.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, err error) {
	f := failureOf(err)
	if f.status == http.StatusInternalServerError || f.code == "store_unavailable" {
		s.o.Log.Error("request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	switch f.status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		after := retryAfter
		if f.code == tryAgain {
			after = "1"
		}
		w.Header().Set("Retry-After", after)
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="hocket"`)
	}
	writeJSON(w, f.status, Failure{FailureError{f.code, f.message}})
}

// TooManyRequests refuses a request from an address with too many concurrent
// requests.
func TooManyRequests(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", retryAfter)
	writeJSON(w, http.StatusTooManyRequests, Failure{FailureError{"too_many_requests", "too many concurrent requests from this address"}})
}

// writeJSON answers a request. It ignores write errors.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the client has disconnected
}

// read decodes the body of a request, one JSON object.
func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("unexpected data after the object")
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return tooLarge(large)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return fail(http.StatusBadRequest, "bad_json", "the body is not valid JSON: %v", err)
	case errors.Is(err, io.EOF):
		return fail(http.StatusBadRequest, "bad_json", "the body is empty: expected a JSON object")
	case errors.As(err, &kind) && kind.Field != "":
		return fail(http.StatusBadRequest, "bad_request", "field %s is a %s: expected %s", kind.Field, kind.Value, kind.Type)
	case errors.As(err, &kind):
		return fail(http.StatusBadRequest, "bad_request", "the body is a JSON %s: expected an object", kind.Value)
	default:
		return fail(http.StatusBadRequest, "bad_request", "the body: %v", err)
	}
}

// body returns the body of a request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.o.MaxBody))
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge(large)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "bad_request", "the body: %v", err)
	}
	return b, nil
}

func tooLarge(err *http.MaxBytesError) error {
	return fail(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes", err.Limit)
}
