package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/hocketvoice/hocket/internal/failure"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Time limits for the rest of a response that adds nothing to the reply.
const (
	tail  = time.Second           // from the finish reason to the end of the stream: the usage
	drain = 50 * time.Millisecond // after the end, so that the connection can be reused
)

// Model is a language model behind a chat-completions endpoint. It implements
// port.Model and is safe for concurrent use. Calls share only connections.
type Model struct {
	o      Options
	url    string
	header http.Header // of every request, including the key; read-only
	extra  []byte      // members appended to every request
	hide   *strings.Replacer
	client *http.Client
	own    *http.Transport // the Model's own transport, or nil
}

var _ port.Model = (*Model)(nil)

// Report describes a finished request. It contains no words of the conversation and
// no key.
type Report struct {
	Model     string // as reported by the server
	RequestID string // set by the server, for its operator
	Finish    string // the finish reason: "stop", "length", "tool_calls", ...
	Calls     int    // number of tool calls
	Usage     Usage
	Counted   bool          // Usage is known; it is not if the request was interrupted
	First     time.Duration // from the request to the first piece of the reply; 0 if there was none
	Total     time.Duration // from the request to its end
	Err       error         // the error returned by Reply
}

// New returns a model. It reads the key and does not contact the server.
func New(o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	key, err := o.key()
	if err != nil {
		return nil, err
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	extra, err := extraMembers(o.Extra)
	if err != nil {
		return nil, err
	}
	m := &Model{o: o, url: endpoint.String(), extra: extra, hide: secrets(key, o.Headers), header: headers(o, key)}
	way := o.Transport
	if way == nil {
		m.own = o.transport()
		way = m.own
	}
	m.client = &http.Client{
		Transport: way,
		// A redirect would send the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return m, nil
}

// headers returns the headers of every request.
func headers(o Options, key string) http.Header {
	h := make(http.Header)
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "hocket")
	}
	switch {
	case key == "":
	case o.APIVersion != "":
		h.Set(headerAPIKey, key)
	default:
		h.Set(headerAuth, "Bearer "+key)
	}
	if o.Organization != "" {
		h.Set(headerOrg, o.Organization)
	}
	if o.Project != "" {
		h.Set(headerProj, o.Project)
	}
	return h
}

// secrets returns a replacer that removes the key and header values from messages.
// Short header values are not removed, since they are words like "true".
func secrets(key string, headers map[string]string) *strings.Replacer {
	values := slices.Collect(maps.Values(headers))
	values = slices.DeleteFunc(values, func(v string) bool { return len(v) < 8 })
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	if key != "" {
		pairs = append(pairs, key, "[key]")
	}
	for _, value := range values {
		pairs = append(pairs, value, "[header]")
	}
	return strings.NewReplacer(pairs...)
}

// String returns the model's name and URL, without the key.
func (m *Model) String() string { return fmt.Sprintf("openai: %s at %s", m.o.Model, m.url) }

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
// whose Partial is the text so far. Reply does not retry.
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	if r.Form != nil {
		answer, err := m.ReplyJSON(ctx, r, *r.Form)
		if err != nil {
			return err
		}
		return emit(port.Delta{Text: string(answer)})
	}
	_, err := m.ask(ctx, r, nil, emit)
	return err
}

// ReplyJSON requests an answer in a form (response_format json_schema) and returns
// it. The answer is valid JSON; the server may have checked it against the schema,
// this package does not. The request's tools are ignored. Errors are as for Reply;
// a refusal and an answer that is not JSON are failures too.
func (m *Model) ReplyJSON(ctx context.Context, r port.Request, f port.Form) ([]byte, error) {
	if f.Name == "" {
		f.Name = "answer"
	}
	if !goodName.MatchString(f.Name) {
		return nil, m.failure(errclass.Unknown, "invalid form name %q: expected 1 to 64 letters, digits, _ or -", f.Name)
	}
	if !isObject(f.Schema) {
		return nil, m.failure(errclass.Unknown, "the schema of the form %q is not a JSON object", f.Name)
	}
	r.Tools = nil
	d, err := m.ask(ctx, r, &responseFormat{Type: "json_schema", JSONSchema: jsonSchema{
		Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict,
	}}, func(port.Delta) error { return nil })
	if err != nil {
		return nil, err
	}
	answer := []byte(strings.TrimSpace(d.text.String()))
	switch {
	case d.refused:
		f := m.failure(errclass.Unknown, "the model refused to answer")
		f.Partial = string(answer)
		return nil, f
	case !json.Valid(answer):
		f := m.failure(errclass.Unknown, "the answer is not valid JSON (finish reason %q)", d.finish)
		f.Partial = string(answer)
		return nil, f
	}
	return answer, nil
}

// ask makes one request, reads the response to its end, and reports it.
func (m *Model) ask(ctx context.Context, r port.Request, format *responseFormat, emit func(port.Delta) error) (*decoder, error) {
	body, err := m.body(r, format)
	if err != nil {
		return nil, m.failure(errclass.Unknown, "cannot create the request: %v", err)
	}
	a := &answer{m: m, emit: emit, known: make(map[string]bool), started: time.Now()}
	for i := range r.Messages {
		if id := r.Messages[i].CallID; id != "" {
			a.known[id] = true
		}
	}
	err = a.fetch(ctx, body)
	var f *port.Failure
	if errors.As(err, &f) && f.Partial == "" {
		f.Partial = a.d.text.String()
	}
	if m.o.Report != nil {
		a.report.Model, a.report.Finish, a.report.Calls = a.d.model, a.d.finish, len(a.d.calls.calls)
		if u := a.d.usage; u != nil {
			a.report.Counted = true
			a.report.Usage = Usage{
				Prompt: u.PromptTokens, Completion: u.CompletionTokens,
				Cached: u.PromptDetails.CachedTokens, Reasoning: u.CompletionDetails.ReasoningTokens,
			}
		}
		a.report.Total, a.report.Err = time.Since(a.started), err
		m.o.Report(a.report)
	}
	return &a.d, err
}

// answer is a request and its response. Only the goroutine of Reply uses it.
type answer struct {
	m       *Model
	emit    func(port.Delta) error
	known   map[string]bool // ids of calls in the context
	started time.Time

	d      decoder
	report Report
}

// fetch sends the request and reads the response.
func (a *answer) fetch(parent context.Context, body []byte) error {
	if err := parent.Err(); err != nil {
		return err
	}
	ctx, w := newWatch(parent)
	defer w.stop()
	w.await(&silence{"the server did not start to answer", a.m.o.FirstChunk})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.m.url, bytes.NewReader(body))
	if err != nil {
		return a.m.failure(errclass.Unknown, "cannot create the request: %v", err)
	}
	req.Header = a.m.header.Clone()
	res, err := a.m.client.Do(req)
	if err != nil {
		return a.m.broken(parent, ctx, err)
	}
	defer res.Body.Close()
	a.report.RequestID = requestID(res.Header)
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		if parent.Err() != nil {
			return a.m.broken(parent, ctx, err)
		}
		return a.m.refused(res, text) // with the available part of the body
	}
	in := &bounded{r: res.Body, left: a.m.o.MaxReply}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "text/event-stream":
		err = a.stream(parent, ctx, w, in)
	case err == nil && kind == "application/json":
		err = a.whole(parent, ctx, in)
	default:
		return a.m.failure(errclass.Unknown, "the server responded with %s: expected an event stream (is the base URL correct?)", noWords(res.Header))
	}
	if err != nil {
		return err
	}
	if err := parent.Err(); err != nil {
		return err
	}
	w.pause()
	if err := a.finish(parent); err != nil {
		return err
	}
	w.await(&silence{"the answer did not end", drain})
	_, _ = io.Copy(io.Discard, in) // an error costs the connection but not the reply
	return nil
}

// requestID returns the server's id of a request, for diagnostics.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id"} {
		if id := h.Get(name); id != "" {
			return failure.Clip(id)
		}
	}
	return ""
}

// errCut reports a stream that ended before its reply was complete.
var errCut = errors.New("the stream ended before the reply was complete")

// stream reads an event stream to its end.
func (a *answer) stream(parent, ctx context.Context, w *watch, in *bounded) error {
	stall := &silence{"the server stalled during its answer", a.m.o.Stall}
	rest := &silence{"the answer did not end", tail}
	for event, err := range sse.Read(in, &sse.ReadConfig{MaxEventSize: a.m.o.MaxEvent}) {
		if err != nil {
			if a.d.complete() && parent.Err() == nil {
				return nil // only the end marker is missing
			}
			if errors.Is(err, bufio.ErrTooLong) {
				return a.m.failure(errclass.ServerError, "an event of the stream is longer than %d bytes", a.m.o.MaxEvent)
			}
			return a.m.broken(parent, ctx, cmp.Or(in.err, errCut))
		}
		if parent.Err() != nil {
			return parent.Err()
		}
		w.pause()
		if err := a.take(event.Type, []byte(event.Data)); err != nil {
			return err
		}
		switch {
		case a.d.done:
			return nil
		case a.d.finish != "":
			w.await(rest)
		default:
			w.await(stall)
		}
	}
	if err := parent.Err(); err != nil {
		return err
	}
	if !a.d.complete() {
		return a.m.broken(parent, ctx, errCut)
	}
	return nil
}

// whole reads the response of a server that does not stream.
func (a *answer) whole(parent, ctx context.Context, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return a.m.broken(parent, ctx, err)
	}
	if err := a.take("", data); err != nil {
		return err
	}
	if !a.d.complete() && !a.d.begun() {
		return a.m.failure(errclass.ServerError, "the answer contains no reply")
	}
	return nil
}

// take decodes one event and emits its text.
func (a *answer) take(kind string, data []byte) error {
	text, err := a.d.take(kind, data)
	if reported := (*errReported)(nil); errors.As(err, &reported) {
		return a.m.reported(reported.body)
	}
	if err != nil {
		return a.m.failure(errclass.ServerError, "%v", err)
	}
	if a.report.First == 0 && a.d.begun() {
		a.report.First = time.Since(a.started)
	}
	if text == "" {
		return nil
	}
	return a.emit(port.Delta{Text: text})
}

// finish checks the finish reason and emits the calls.
func (a *answer) finish(ctx context.Context) error {
	calls := len(a.d.calls.calls)
	switch a.d.finish {
	case "content_filter":
		return a.m.failure(errclass.Unknown, "the server's content filter stopped the reply")
	case "error", "abort", "insufficient_system_resource":
		return a.m.failure(errclass.ServerError, "the server aborted the reply (%s)", a.d.finish)
	case "length":
		switch {
		case calls > 0:
			// An incomplete call is useless.
			return a.m.failure(errclass.InvalidArgs, "the token limit cut off a tool call")
		case a.d.text.Len() == 0:
			return a.m.failure(errclass.Unknown, "the token limit was reached before the reply began")
		}
	}
	list, err := a.d.calls.finished(a.known)
	if err != nil {
		return a.m.failure(errclass.ServerError, "%v", err)
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.emit(port.Delta{Call: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}
