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

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// How long the rest of an answer is waited for when there is nothing more to
// come from it.
const (
	tail  = time.Second           // between the reason of the end and the end: the usage
	drain = 50 * time.Millisecond // behind the end, so that the connection can be used again
)

// Model is a language model behind a chat-completions endpoint. It implements
// port.Model. Multiple goroutines may use it at once; each call has a request of
// its own and shares only connections with others.
type Model struct {
	o      Options
	url    string
	header http.Header // of every request, with the key; nobody changes it
	extra  []byte      // members at the end of every request
	hide   *strings.Replacer
	client *http.Client
	own    *http.Transport // the Model's own transport, if it has one
}

var _ port.Model = (*Model)(nil)

// Report is what is known about a request when it is over. It holds no words of
// the conversation and no key.
type Report struct {
	Model     string // that answered, by the server's own account
	RequestID string // of the server, for its operator
	Finish    string // the server's reason for the end: "stop", "length", "tool_calls", ...
	Calls     int    // of tools
	Usage     Usage
	Counted   bool          // the server has told Usage; it cannot if it was interrupted
	First     time.Duration // from the request to the first piece of the reply, 0 if none came
	Total     time.Duration // from the request to its end
	Err       error         // what Reply returned
}

// New makes a model. It reads the key, and asks the server nothing.
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
		// A redirect would take the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return m, nil
}

// headers are those of every request.
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

// secrets replaces the key and the values of headers in what is told. Short
// values of headers are words like "true", and no secrets.
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

// String names the model without its key.
func (m *Model) String() string { return fmt.Sprintf("openai: %s at %s", m.o.Model, m.url) }

// GoString is String: the fields hold the key.
func (m *Model) GoString() string { return m.String() }

// Close gives the idle connections back. Requests that run are not touched.
func (m *Model) Close() error {
	if m.own != nil {
		m.own.CloseIdleConnections()
	}
	return nil
}

// Reply asks for an answer and calls emit with its pieces: text as it comes, and
// at the end the calls of tools, each of them whole, in the order in which they
// began. The arguments of a call are what the model wrote, "{}" for none; they
// may be no JSON.
//
// A reply that was cut off at MaxTokens is a reply if it holds text alone; the
// Report says so. When ctx ends, the request is ended at once, nothing more is
// delivered and ctx's error returned; an error of emit ends the reply in the
// same way. Everything else that goes wrong is a [*port.Failure] whose Partial is
// the text so far. Reply asks once; who wants a retry asks again.
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

// ReplyJSON asks for an answer in a form (response_format json_schema) and
// returns it: JSON, which the server has held against the schema if it can, and
// this package has not. Tools of the request are left out. It fails as Reply
// does; a refusal and an answer that is no JSON are failures too.
func (m *Model) ReplyJSON(ctx context.Context, r port.Request, f port.Form) ([]byte, error) {
	if f.Name == "" {
		f.Name = "answer"
	}
	if !goodName.MatchString(f.Name) {
		return nil, m.failure(errclass.Unknown, "the form %q has a bad name, expected 1 to 64 letters, digits, _ and -", f.Name)
	}
	if !isObject(f.Schema) {
		return nil, m.failure(errclass.Unknown, "the schema of the form %q is no JSON object", f.Name)
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
		f := m.failure(errclass.Unknown, "the model refuses to answer")
		f.Partial = string(answer)
		return nil, f
	case !json.Valid(answer):
		f := m.failure(errclass.Unknown, "the answer is no JSON (the reason of its end is %q)", d.finish)
		f.Partial = string(answer)
		return nil, f
	}
	return answer, nil
}

// ask makes one request, follows its answer to the end, and reports.
func (m *Model) ask(ctx context.Context, r port.Request, format *responseFormat, emit func(port.Delta) error) (*decoder, error) {
	body, err := m.body(r, format)
	if err != nil {
		return nil, m.failure(errclass.Unknown, "the request cannot be made: %v", err)
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

// answer is one request and what comes back. It lives on the goroutine of its
// Reply.
type answer struct {
	m       *Model
	emit    func(port.Delta) error
	known   map[string]bool // the ids of calls that the context has
	started time.Time

	d      decoder
	report Report
}

// fetch sends the request and follows the answer.
func (a *answer) fetch(parent context.Context, body []byte) error {
	if err := parent.Err(); err != nil {
		return err
	}
	ctx, w := newWatch(parent)
	defer w.stop()
	w.await(&silence{"the server has not begun to answer", a.m.o.FirstChunk})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.m.url, bytes.NewReader(body))
	if err != nil {
		return a.m.failure(errclass.Unknown, "the request cannot be made: %v", err)
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
		return a.m.refused(res, text) // with what there is of the text
	}
	in := &bounded{r: res.Body, left: a.m.o.MaxReply}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "text/event-stream":
		err = a.stream(parent, ctx, w, in)
	case err == nil && kind == "application/json":
		err = a.whole(parent, ctx, in)
	default:
		return a.m.failure(errclass.Unknown, "the server answers with %s, expected an event stream (is the base URL right?)", noWords(res.Header))
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
	w.await(&silence{"the answer has not ended", drain})
	_, _ = io.Copy(io.Discard, in) // what fails here costs a connection, and no reply
	return nil
}

// requestID is the server's own name for a request, for diagnostics.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Apim-Request-Id"} {
		if id := h.Get(name); id != "" {
			return clip(id)
		}
	}
	return ""
}

// errCut is the end of a stream that has not come to the end of its reply.
var errCut = errors.New("the stream ended before the reply did")

// stream follows a stream of events to its end.
func (a *answer) stream(parent, ctx context.Context, w *watch, in *bounded) error {
	stall := &silence{"the server has stalled in its answer", a.m.o.Stall}
	rest := &silence{"the answer has not ended", tail}
	for event, err := range sse.Read(in, &sse.ReadConfig{MaxEventSize: a.m.o.MaxEvent}) {
		if err != nil {
			if a.d.complete() && parent.Err() == nil {
				return nil // the end of the stream is missing, and nothing of the reply
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

// whole takes the answer of a server that does not stream.
func (a *answer) whole(parent, ctx context.Context, in io.Reader) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return a.m.broken(parent, ctx, err)
	}
	if err := a.take("", data); err != nil {
		return err
	}
	if !a.d.complete() && !a.d.begun() {
		return a.m.failure(errclass.ServerError, "the answer holds no reply")
	}
	return nil
}

// take decodes one event and hands its text on.
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

// finish looks at the reason of the end and hands the calls on.
func (a *answer) finish(ctx context.Context) error {
	calls := len(a.d.calls.calls)
	switch a.d.finish {
	case "content_filter":
		return a.m.failure(errclass.Unknown, "the server's content filter stopped the reply")
	case "error", "abort", "insufficient_system_resource":
		return a.m.failure(errclass.ServerError, "the server broke the reply off (%s)", a.d.finish)
	case "length":
		switch {
		case calls > 0:
			// Half a call is none.
			return a.m.failure(errclass.InvalidArgs, "the bound on tokens cut a call of a tool off")
		case a.d.text.Len() == 0:
			return a.m.failure(errclass.Unknown, "the bound on tokens was reached before the reply began")
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
