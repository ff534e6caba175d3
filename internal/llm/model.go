package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Wire is the protocol of a vendor. It is safe for concurrent use.
type Wire interface {
	// Body returns the body of a request. A request with a Form has no tools.
	Body(r port.Request) ([]byte, error)
	// Take adds an event to the answer and returns the text that it adds to the reply. The
	// kind is that of the event stream, empty if it has none. An error ends the stream: an
	// [ErrReported], or a description of the invalid event. Take gets the whole body of a
	// response that is not streamed.
	Take(a *Answer, kind string, data []byte) (text string, err error)
}

// Config describes a [Model] to [New].
type Config struct {
	Vendor string // of the adapter; begins messages
	Model  string // name, for people
	URL    string // of the requests
	List   string // URL of the list of models, for Probe; empty if there is none
	Header http.Header
	// Secrets are removed from messages.
	Secrets *strings.Replacer
	Wire    Wire

	Limits
	// Window is the number of tokens that the model takes, with MaxTokens for its answer;
	// 0 means that requests are not cut. See [Cut].
	Window, MaxTokens int
	Report            func(Report)
	Transport         http.RoundTripper // nil for one of its own
}

// Limits bound a request. Zero values select the defaults.
type Limits struct {
	// Connect limits the time to establish a connection and its TLS session; 5 s if
	// 0.
	Connect time.Duration
	// FirstChunk limits the time from the request to the first event; 30 s if 0.
	FirstChunk time.Duration
	// Stall limits the time between events; 15 s if 0. The time that emit takes is
	// not counted, and comments are not events.
	Stall time.Duration
	// MaxEvent limits the size of an event in bytes; 1 MiB if 0.
	MaxEvent int
	// MaxReply limits the size of the server's response in bytes; 8 MiB if 0.
	MaxReply int
}

// Validate returns an error for the first invalid limit.
func (l Limits) Validate() error {
	switch {
	case l.Connect < 0 || l.FirstChunk < 0 || l.Stall < 0:
		return errors.New("connect, first chunk and stall must not be negative")
	case l.MaxEvent < 0 || l.MaxReply < 0:
		return errors.New("max event and max reply must not be negative")
	}
	return nil
}

// withDefaults returns l with defaults in place of zero fields.
func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.Connect, 5 * time.Second},
		{&l.FirstChunk, 30 * time.Second},
		{&l.Stall, 15 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if l.MaxEvent == 0 {
		l.MaxEvent = 1 << 20
	}
	if l.MaxReply == 0 {
		l.MaxReply = 8 << 20
	}
	return l
}

// Model is a language model behind an HTTP endpoint. It implements port.Model and is safe
// for concurrent use. Calls share only connections, which it owns until Close.
type Model struct {
	c      Config
	client *http.Client
	own    *http.Transport // the Model's own transport, or nil
}

var _ port.Model = (*Model)(nil)

// Report describes a finished request. It contains no words of the conversation and
// no key.
type Report struct {
	Model     string // as reported by the server
	RequestID string // set by the server, for its operator
	Finish    string // the finish reason in the vendor's words: "stop", "length", "tool_calls", ...
	Calls     int    // number of tool calls
	Usage     Usage
	Counted   bool          // Usage is known; it is not if the request was interrupted
	First     time.Duration // from the request to the first piece of the reply; 0 if there was none
	Total     time.Duration // from the request to its end
	Err       error         // the error returned by Reply
}

// New returns a model. It does not contact the server.
func New(c Config) *Model {
	c.Limits = c.withDefaults()
	if c.Secrets == nil {
		c.Secrets = strings.NewReplacer()
	}
	m := &Model{c: c}
	way := c.Transport
	if way == nil {
		m.own = transport(c.Connect)
		way = m.own
	}
	m.client = &http.Client{
		Transport: way,
		// A redirect would send the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return m
}

// transport returns a Model's own transport. It disables compression, since a
// compressor would delay the stream.
func transport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256, // up to the number of calls, each of which waits for its next turn
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Transport returns the Model's own transport, which tests change before the first request,
// or nil if it was given another.
func (m *Model) Transport() *http.Transport { return m.own }

// URL returns the URL of the requests.
func (m *Model) URL() string { return m.c.URL }

// Header returns a copy of the headers of the requests, with the key.
func (m *Model) Header() http.Header { return m.c.Header.Clone() }

// Plain returns a message of the Model's errors without the adapter's name at its beginning.
func (m *Model) Plain(message string) string { return strings.TrimPrefix(message, m.c.Vendor+": ") }

// String returns the model's name and URL, without the key.
func (m *Model) String() string { return fmt.Sprintf("%s: %s at %s", m.c.Vendor, m.c.Model, m.c.URL) }

// GoString returns the same as String, since the fields contain the key.
func (m *Model) GoString() string { return m.String() }

// Close closes idle connections. It does not affect running requests.
func (m *Model) Close() error {
	if m.own != nil {
		m.own.CloseIdleConnections()
	}
	return nil
}

// Reply sends a request and calls emit with the pieces of the reply: text as it
// arrives, and at the end the whole tool calls in the order in which they began.
// The arguments of a call are as the model wrote them, "{}" if there are none; they
// may be invalid JSON.
//
// A reply that was cut off at MaxTokens is not an error if it contains only text;
// the Report tells. When ctx ends, or emit returns an error, Reply ends the request
// at once and returns that error. All other errors are of type [*port.Failure],
// whose Partial is the text so far. Reply does not retry. When it returns, its request
// has ended and emit is not called again.
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	if r.Form != nil {
		answer, err := m.ReplyJSON(ctx, r, *r.Form)
		if err != nil {
			return err
		}
		return emit(port.Delta{Text: string(answer)})
	}
	_, err := m.ask(ctx, r, emit)
	return err
}

// ReplyJSON requests an answer in a form and returns it. The answer is valid JSON; the server
// may have checked it against the schema, this package does not. The request's tools are
// ignored. Errors are as for Reply; a refusal and an answer that is not JSON are failures too.
func (m *Model) ReplyJSON(ctx context.Context, r port.Request, f port.Form) ([]byte, error) {
	if f.Name == "" {
		f.Name = "answer"
	}
	if !goodName.MatchString(f.Name) {
		return nil, m.failure(errclass.Unknown, "invalid form name %q: expected 1 to 64 letters, digits, _ or -", f.Name)
	}
	if !IsObject(f.Schema) {
		return nil, m.failure(errclass.Unknown, "the schema of the form %q is not a JSON object", f.Name)
	}
	r.Tools, r.ToolChoice, r.Form = nil, "", &f
	d, err := m.ask(ctx, r, func(port.Delta) error { return nil })
	if err != nil {
		return nil, err
	}
	answer := []byte(strings.TrimSpace(d.Text.String()))
	switch {
	case d.Refused:
		f := m.failure(errclass.Unknown, "the model refused to answer")
		f.Partial = string(answer)
		return nil, f
	case !json.Valid(answer):
		f := m.failure(errclass.Unknown, "the answer is not valid JSON (finish reason %q)", d.Finish)
		f.Partial = string(answer)
		return nil, f
	}
	return answer, nil
}

// ask makes one request, reads the response to its end, and reports it.
func (m *Model) ask(ctx context.Context, r port.Request, emit func(port.Delta) error) (*Answer, error) {
	r = Cut(r, m.c.Window, m.c.MaxTokens)
	body, err := m.c.Wire.Body(r)
	if err != nil {
		return nil, m.failure(errclass.Unknown, "cannot create the request: %v", err)
	}
	a := &exchange{m: m, emit: emit, known: make(map[string]bool), started: time.Now()}
	a.d.Form = r.Form != nil
	for i := range r.Messages {
		if id := r.Messages[i].CallID; id != "" {
			a.known[id] = true
		}
	}
	err = a.fetch(ctx, body)
	var f *port.Failure
	if errors.As(err, &f) && f.Partial == "" {
		f.Partial = a.d.Text.String()
	}
	if m.c.Report != nil {
		a.report.Model, a.report.Finish, a.report.Calls = a.d.Model, a.d.Finish, len(a.d.Calls.calls)
		if u := a.d.Usage; u != nil {
			a.report.Counted, a.report.Usage = true, *u
		}
		a.report.Total, a.report.Err = time.Since(a.started), err
		m.c.Report(a.report)
	}
	return &a.d, err
}

// IsObject reports whether b is one JSON object.
func IsObject(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}
