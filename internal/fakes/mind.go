package fakes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// MindWire is a vendor's side of the protocol of a language model.
type MindWire interface {
	// Check reads a request whose method and content type are right. It returns what the vendor
	// would refuse as a [*Refusal].
	Check(r *http.Request, key string, body []byte) (MindRequest, *Refusal)
	// Events returns the events of an answer, which echoes what is needed of the request.
	Events(q MindRequest, a MindAnswer) []MindEvent
	// Failure returns the body of an error, and what an event of an error within a stream has.
	Failure(status int, message string) string
	// Models returns the path and the body of the list of models.
	Models() (path, body string)
}

// Refusal is why a vendor refuses a request.
type Refusal struct {
	Status  int
	Message string
}

// Refuse returns a refusal of an invalid request.
func Refuse(format string, args ...any) *Refusal {
	return &Refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// MindRequest is a client's request.
type MindRequest struct {
	Model     string
	Said      []MindSaid // with results, the oldest first
	Tools     []string
	Form      string // the name of the form, or of the only tool that may be called
	JSON      bool   // an answer in a form is asked for
	MaxTokens int
	Header    http.Header
}

// MindSaid is what a role has said: words, a call or its result.
type MindSaid struct{ Role, Text, CallID, Name, Arguments string }

// MindCall is a call of the answer.
type MindCall struct{ ID, Name, Arguments string }

// MindEvent is one event of a stream.
type MindEvent struct{ Kind, Data string }

// MindAnswer is an answer and the way it is sent.
type MindAnswer struct {
	Said  []string // the pieces
	Calls []MindCall
	Whole bool // calls come in one piece
	// Length says that the answer was ended by the limit of tokens, Filtered by a filter.
	Length, Filtered bool
	// Broken, if not 0, is the status that an error after the first pieces corresponds to.
	Broken int

	// Status, if not 0, refuses the request, with RetryAfter (seconds).
	Status     int
	RetryAfter string
	Message    string
	// Raw, if not empty, is sent in place of the events, as Type if that is set.
	Raw, Type string
	// Piece is the number of bytes sent at a time; 0 sends each event at once.
	Piece int
	// First and Gap are the pauses before the first piece and between pieces.
	First, Gap time.Duration
	// Cut closes the connection after this number of bytes; 0 means never.
	Cut int
}

// Used are the tokens that a [Mind] counts for each answer.
const (
	UsedPrompt, UsedCached, UsedCompletion = 40, 16, 7
)

// Mind is the server of a language model. Its fields must be set before it serves. It is safe
// for concurrent use.
type Mind struct {
	Wire MindWire
	Key  string
	// Answer returns the answer to a request. If it is nil, the last words are repeated in two
	// pieces.
	Answer func(q MindRequest) MindAnswer

	mu       sync.Mutex // guards the fields below
	requests []MindRequest
	refused  []string
	left     int
}

// Requests returns the valid requests in order.
func (m *Mind) Requests() []MindRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]MindRequest(nil), m.requests...)
}

// Refused returns the reasons for refused requests.
func (m *Mind) Refused() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.refused...)
}

// Left returns the number of clients that disconnected before the end of their answer.
func (m *Mind) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left
}

// maxRequest limits a request, in bytes.
const maxRequest = 8 << 20

// ServeHTTP answers a request.
func (m *Mind) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return // the client has gone
	}
	path, list := m.Wire.Models()
	asked := r.Method == http.MethodGet && r.URL.Path == path
	var q MindRequest
	var no *Refusal
	switch kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case asked:
		_, no = m.Wire.Check(r, m.Key, nil)
	case r.Method != http.MethodPost:
		no = &Refusal{http.StatusMethodNotAllowed, r.Method + " is not supported here"}
	case err != nil || kind != "application/json":
		no = Refuse("the content type is not application/json")
	default:
		q, no = m.Wire.Check(r, m.Key, body)
	}
	if no != nil {
		m.mu.Lock()
		m.refused = append(m.refused, no.Message)
		m.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(no.Status)
		fmt.Fprint(w, m.Wire.Failure(no.Status, no.Message)) //nolint:gosec // JSON, for the tests' own client
		return
	}
	if asked {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, list)
		return
	}
	q.Header = r.Header.Clone()
	m.mu.Lock()
	m.requests = append(m.requests, q)
	m.mu.Unlock()
	answer := m.Answer
	if answer == nil {
		answer = echo
	}
	if !m.send(r.Context(), w, q, answer(q)) {
		m.mu.Lock()
		m.left++
		m.mu.Unlock()
	}
}

// echo repeats the last words, or gives an empty object in a form.
func echo(q MindRequest) MindAnswer {
	if q.JSON {
		return MindAnswer{Said: []string{"{", "}"}}
	}
	said := q.Said[len(q.Said)-1].Text
	half := len(said) / 2
	return MindAnswer{Said: []string{said[:half], said[half:]}}
}

// send sends an answer. It returns false if the client has disconnected.
func (m *Mind) send(ctx context.Context, w http.ResponseWriter, q MindRequest, a MindAnswer) bool {
	if a.Status != 0 {
		if wait.For(ctx, a.First) != nil {
			return false
		}
		if a.RetryAfter != "" {
			w.Header().Set("Retry-After", a.RetryAfter)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.Status)
		fmt.Fprint(w, m.Wire.Failure(a.Status, a.Message))
		return true
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if a.Type != "" {
		w.Header().Set("Content-Type", a.Type)
	}
	out := http.NewResponseController(w)
	if out.Flush() != nil || wait.For(ctx, a.First) != nil {
		return false
	}
	sent := 0
	for i, p := range m.pieces(q, a) {
		if i > 0 && wait.For(ctx, a.Gap) != nil {
			return false
		}
		if a.Cut > 0 && sent+len(p) >= a.Cut {
			p = p[:a.Cut-sent]
		}
		if _, err := io.WriteString(w, p); err != nil || out.Flush() != nil {
			return false
		}
		sent += len(p)
		if a.Cut > 0 && sent == a.Cut {
			panic(http.ErrAbortHandler) // makes net/http close the connection
		}
	}
	return true
}

// Stream returns an answer as it is sent.
func (m *Mind) Stream(q MindRequest, a MindAnswer) string { return strings.Join(m.pieces(q, a), "") }

// pieces returns the parts that are sent at a time.
func (m *Mind) pieces(q MindRequest, a MindAnswer) (list []string) {
	if a.Raw != "" {
		list = []string{a.Raw}
	} else {
		for _, e := range m.Wire.Events(q, a) {
			p := "data: " + e.Data + "\n\n"
			if e.Kind != "" {
				p = "event: " + e.Kind + "\n" + p
			}
			list = append(list, p)
		}
	}
	if a.Piece == 0 {
		return list
	}
	all := strings.Join(list, "")
	list = nil
	for len(all) > 0 {
		n := min(a.Piece, len(all))
		list = append(list, all[:n])
		all = all[n:]
	}
	return list
}

// JSON returns a value as JSON.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fakes: %v", err)) // only maps, texts and numbers
	}
	return string(b)
}

// Halves returns a text in two pieces, or in one.
func Halves(s string, one bool) []string {
	if one || len(s) < 2 {
		return []string{s}
	}
	return []string{s[:len(s)/2], s[len(s)/2:]}
}

// IsObject reports whether b is a JSON object.
func IsObject(b []byte) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(b, &o) == nil && o != nil
}

// Members decodes JSON into v, and refuses members that v does not have.
func Members(body []byte, v any) *Refusal {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return Refuse("the body: %v", err)
	}
	if dec.More() {
		return Refuse("the body has more than one value")
	}
	return nil
}
