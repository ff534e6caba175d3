package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// Server is the endpoint. Its fields must be set before it serves. It is safe for
// concurrent use.
type Server struct {
	// Key is the key that the client must send. If it is empty, the client must
	// send none.
	Key string
	// APIVersion makes it an Azure endpoint with Model as the deployment.
	APIVersion, Model string
	// Answer returns the answer to a request. If it is nil, the last message is
	// repeated in pieces.
	Answer func(Request) Answer

	mu       sync.Mutex // guards the fields below
	requests []Request
	refused  []string
	left     int
}

// Answer is an answer and the way it is sent.
type Answer struct {
	// Status, if not 0, sends Header and Body in place of a stream. A Body without
	// Status is sent with status 200.
	Status int
	Header http.Header
	Body   string

	// Events are the data of the events.
	Events []string
	// Raw, if not empty, is sent in place of Events and the end marker.
	Raw string
	// NoDone omits the end marker.
	NoDone bool

	// Piece is the number of bytes sent at a time; 0 sends each event at once.
	Piece int
	// First and Gap are the pauses before the first piece and between pieces.
	First, Gap time.Duration
	// Cut closes the connection after this number of bytes; 0 means never.
	Cut int
	// Hang keeps the stream open after its end until the client disconnects.
	Hang bool
}

// Requests returns the valid requests in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused returns the reasons for refused requests.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Left returns the number of clients that disconnected before the end of their
// answer.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q Request
	no := s.checkHTTP(r)
	if r.URL.Path == "/v1/models" && r.Method == http.MethodGet && s.APIVersion == "" {
		if no = s.checkKey(r); no == nil {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, text(map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake-1", "object": "model"}}}))
			return
		}
	}
	if no == nil {
		dec := json.NewDecoder(r.Body)
		dec.DisallowUnknownFields()
		if err := dec.Decode(&q); err != nil {
			no = bad("the body: %v", err)
		} else {
			no = check(&q)
		}
	}
	if no != nil {
		s.mu.Lock()
		s.refused = append(s.refused, no.message)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(no.status)
		fmt.Fprint(w, text(map[string]any{"error": map[string]any{
			"message": no.message, "type": "invalid_request_error", "param": nil, "code": no.code,
		}}))
		return
	}
	q.Header = r.Header.Clone()
	s.mu.Lock()
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	answer := s.Answer
	if answer == nil {
		answer = echo
	}
	a := answer(q)
	if !s.send(r.Context(), w, a) {
		s.mu.Lock()
		s.left++
		s.mu.Unlock()
	}
}

// send sends an answer. It returns false if the client has disconnected.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, a Answer) bool {
	maps.Copy(w.Header(), a.Header)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	w.Header().Set("X-Request-Id", "req_fake")
	if a.Status != 0 || a.Body != "" {
		if wait.For(ctx, a.First) != nil {
			return false
		}
		if a.Status != 0 {
			w.WriteHeader(a.Status)
		}
		fmt.Fprint(w, a.Body)
		return true
	}
	out := http.NewResponseController(w)
	if out.Flush() != nil || wait.For(ctx, a.First) != nil {
		return false
	}
	sent := 0
	for i, p := range a.pieces() {
		if i > 0 && wait.For(ctx, a.Gap) != nil {
			return false
		}
		if a.Cut > 0 && sent+len(p) >= a.Cut {
			p = p[:a.Cut-sent]
		}
		if _, err := w.Write(p); err != nil || out.Flush() != nil {
			return false
		}
		sent += len(p)
		if a.Cut > 0 && sent == a.Cut {
			panic(http.ErrAbortHandler) // makes net/http close the connection
		}
	}
	if a.Hang {
		<-ctx.Done()
		return false
	}
	return true
}

// pieces returns the parts that are sent at a time.
func (a Answer) pieces() (list [][]byte) {
	var all []byte
	if a.Raw != "" {
		all = []byte(a.Raw)
		list = [][]byte{all}
	} else {
		events := a.Events
		if !a.NoDone {
			events = append(append([]string(nil), events...), "[DONE]")
		}
		for _, e := range events {
			p := []byte("data: " + e + "\n\n")
			list = append(list, p)
			all = append(all, p...)
		}
	}
	if a.Piece == 0 {
		return list
	}
	list = nil
	for len(all) > 0 {
		n := min(a.Piece, len(all))
		list = append(list, all[:n])
		all = all[n:]
	}
	return list
}

// echo returns an answer that repeats the last message.
func echo(q Request) Answer {
	said := q.Messages[len(q.Messages)-1].Text()
	half := len(said) / 2
	return Text(said[:half], said[half:])
}
