package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// remote is an agent that follows its messages, on the server of the SDK.
type remote struct {
	*httptest.Server
	card sdk.AgentCard
	key  string // the required key

	goOn      chan struct{}   // lets a waiting task continue
	cancelled chan sdk.TaskID // ids of cancelled tasks
	keys      chan string     // ids of the messages

	mu    sync.Mutex // guards calls and cut
	calls map[string]int
	cut   int // streams to interrupt: the first after its first event, others at once
}

func serve(t *testing.T, change func(*remote)) *remote {
	t.Helper()
	r := &remote{
		goOn: make(chan struct{}), cancelled: make(chan sdk.TaskID, 10), keys: make(chan string, 100), calls: make(map[string]int),
		card: sdk.AgentCard{
			Name: "remote", Description: "Does what it is told.", PreferredTransport: sdk.TransportProtocolJSONRPC,
			Capabilities: sdk.AgentCapabilities{Streaming: true}, Skills: []sdk.AgentSkill{{Name: "plan", Description: "makes plans"}},
		},
	}
	mux := http.NewServeMux()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	mux.Handle("/invoke", r.meddle(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(r, a2asrv.WithLogger(quiet)))))
	mux.HandleFunc("/.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		if err := json.NewEncoder(w).Encode(r.card); err != nil {
			t.Error(err)
		}
	})
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.key != "" && q.Header.Get("Authorization") != "Bearer "+r.key {
			http.Error(w, "who are you, "+q.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	t.Cleanup(r.CloseClientConnections)
	r.card.URL = r.URL + "/invoke"
	if change != nil {
		change(r)
	}
	return r
}

// meddle counts calls by method and interrupts streams.
func (r *remote) meddle(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		q.Body = io.NopCloser(strings.NewReader(string(body)))
		var call struct{ Method string }
		_ = json.Unmarshal(body, &call)
		r.mu.Lock()
		r.calls[call.Method]++
		cut := r.cut > 0 && (call.Method == "message/stream" || call.Method == "tasks/resubscribe")
		if cut {
			r.cut--
		}
		r.mu.Unlock()
		switch {
		case cut && call.Method == "tasks/resubscribe":
			panic(http.ErrAbortHandler)
		case cut:
			w = &cutter{w, 1}
		}
		next.ServeHTTP(w, q)
	})
}

// cutter ends a stream after a number of events.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Flush() {
	f, ok := c.ResponseWriter.(http.Flusher)
	if !ok {
		panic("no flusher")
	}
	f.Flush()
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.left == 0 {
		panic(http.ErrAbortHandler)
	}
	n, err := c.ResponseWriter.Write(b)
	if strings.HasSuffix(string(b), "\n\n") {
		c.left--
	}
	return n, err
}

func (r *remote) count(method string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[method]
}

func text(s string) sdk.Part { return sdk.TextPart{Text: s} }

// Execute is the agent.
func (r *remote) Execute(ctx context.Context, q *a2asrv.RequestContext, queue eventqueue.Queue) error {
	r.keys <- q.Message.ID
	said := texts(q.Message.Parts)
	write := func(ev sdk.Event) error { return queue.Write(ctx, ev) }
	status := func(state sdk.TaskState, words string) error {
		var m *sdk.Message
		if words != "" {
			m = sdk.NewMessageForTask(sdk.MessageRoleAgent, q, text(words))
		}
		ev := sdk.NewStatusUpdateEvent(q, state, m)
		ev.Final = state.Terminal() || state == sdk.TaskStateInputRequired
		return write(ev)
	}
	if said == "at once" {
		return write(sdk.NewMessage(sdk.MessageRoleAgent, text("the answer")))
	}
	artifact := sdk.NewArtifactEvent(q, text("Hello"))
	events := []func() error{
		func() error { return status(sdk.TaskStateSubmitted, "") },
		func() error { return status(sdk.TaskStateWorking, "looking\nit up") },
		func() error { return write(artifact) },
		func() error { return write(sdk.NewArtifactUpdateEvent(q, artifact.Artifact.ID, text(", world!"))) },
	}
	last := map[string]func() error{
		"work":            func() error { return status(sdk.TaskStateCompleted, "done") },
		"refuse":          func() error { return status(sdk.TaskStateRejected, "not my job") },
		"fail":            func() error { return status(sdk.TaskStateFailed, "") },
		"ask":             func() error { return status(sdk.TaskStateInputRequired, "which one?") },
		"wait for a word": func() error { return status(sdk.TaskStateInputRequired, "") },
		"data": func() error {
			return errors.Join(write(sdk.NewArtifactEvent(q, sdk.DataPart{Data: map[string]any{"n": 1}})), status(sdk.TaskStateCompleted, ""))
		},
		"big": func() error {
			return errors.Join(write(sdk.NewArtifactEvent(q, text(strings.Repeat("x", 100_000)))), status(sdk.TaskStateCompleted, ""))
		},
		"huge": func() error {
			return errors.Join(write(sdk.NewArtifactEvent(q, text(strings.Repeat("x", maxResult+1)))), status(sdk.TaskStateCompleted, ""))
		},
		"wait": func() error {
			select {
			case <-r.goOn:
				return status(sdk.TaskStateCompleted, "done")
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}[said]
	if last == nil {
		return fmt.Errorf("I do not know how to %s", said)
	}
	if said == "data" {
		events = events[:2]
	}
	for _, next := range append(events, last) {
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// Cancel cancels a task.
func (r *remote) Cancel(ctx context.Context, q *a2asrv.RequestContext, queue eventqueue.Queue) error {
	r.cancelled <- q.TaskID
	ev := sdk.NewStatusUpdateEvent(q, sdk.TaskStateCanceled, nil)
	ev.Final = true
	return queue.Write(ctx, ev)
}

func opened(t *testing.T, r *remote, change func(*Options)) *Agents {
	t.Helper()
	o := Options{Agents: []Agent{{Name: "remote", URL: r.URL}}, Retry: time.Millisecond}
	if change != nil {
		change(&o)
	}
	m, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// called returns the result of a message.
func called(t *testing.T, m *Agents, message string) (output string, heard []string, f *port.Failure) {
	t.Helper()
	output, err := m.Call(t.Context(), port.ToolCall{ID: "conv_1/a.1", Name: "remote", Arguments: fmt.Sprintf(`{"message":%q}`, message)},
		func(text string) {
			if text != "" {
				heard = append(heard, text)
			}
		})
	f, ok := errors.AsType[*port.Failure](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return output, heard, f
}

func TestPort(t *testing.T) {
	porttest.TestTool(t, func(t *testing.T) port.Tool { return opened(t, serve(t, nil), nil) },
		port.ToolCall{ID: "1", Name: "remote", Arguments: `{"message":"work"}`})
}

// TestTasks checks the results of messages, with and without streaming.
func TestTasks(t *testing.T) {
	for _, streams := range []bool{true, false} {
		r := serve(t, func(r *remote) { r.card.Capabilities.Streaming = streams })
		m := opened(t, r, nil)
		for message, c := range map[string]struct {
			output string
			want   *port.Failure
		}{
			"at once":         {"the answer", nil},
			"work":            {"Hello, world!", nil},
			"data":            {`{"n":1}`, nil},
			"big":             {"Hello, world!\n" + strings.Repeat("x", 100_000), nil},
			"huge":            {"", &port.Failure{Code: "TOOL_ERROR", Message: "remote: the result has more than 1048576 bytes"}},
			"refuse":          {"", &port.Failure{Code: "TOOL_ERROR", Message: "remote: not my job", Partial: "Hello, world!"}},
			"fail":            {"", &port.Failure{Code: "TOOL_ERROR", Message: "remote: the agent reported a failure without a message", Partial: "Hello, world!"}},
			"wait for a word": {"", &port.Failure{Code: "INPUT_REQUIRED", Message: "remote: the agent asked for input, which is not supported: input-required", Partial: "Hello, world!"}},
			"ask":             {"", &port.Failure{Code: "INPUT_REQUIRED", Message: "remote: the agent asked for input, which is not supported: which one?", Partial: "Hello, world!"}},
		} {
			output, heard, f := called(t, m, message)
			if output != c.output || (f == nil) != (c.want == nil) || f != nil && *f != *c.want {
				t.Errorf("%s, streams %v: %.100q, failure %+v", message, streams, output, f)
			}
			if want := []string{"looking it up"}; streams && message != "at once" && !slices.Equal(heard, want) {
				t.Errorf("%s: heard %q", message, heard)
			}
			if key := <-r.keys; key != "conv_1/a.1" {
				t.Errorf("the message has the id %q", key)
			}
		}
		if streams != (r.count("message/stream") == 9) || streams == (r.count("message/send") == 9) {
			t.Errorf("streams %v: %v", streams, r.calls)
		}
		if n := len(r.cancelled); n != 2 && n != 3 { // the task that asks, in both modes, and the one with too much output
			t.Errorf("%d tasks were called off", n)
		}
	}
}

// TestLostConnection checks that a task whose stream is interrupted repeatedly is
// followed to its end with its whole result, and that the message is sent once.
func TestLostConnection(t *testing.T) {
	r := serve(t, func(r *remote) { r.cut = 3 })
	m := opened(t, r, nil)
	var other sync.WaitGroup
	other.Go(func() {
		defer close(r.goOn)
		waittest.Until(t, "three resubscriptions", nil, func() bool { return r.count("tasks/resubscribe") >= 3 })
	})
	output, heard, f := called(t, m, "wait")
	other.Wait()
	if output != "Hello, world!" || f != nil {
		t.Errorf("%q, failure %+v", output, f)
	}
	if !slices.Contains(heard, "looking it up") {
		t.Errorf("heard %q", heard)
	}
	if r.count("message/stream") != 1 || r.count("tasks/resubscribe") < 3 || len(r.cancelled) != 0 {
		t.Errorf("%v, called off %d", r.calls, len(r.cancelled))
	}
}

// TestForgotten checks an agent that has forgotten the task.
func TestForgotten(t *testing.T) {
	r := serve(t, nil)
	m := opened(t, r, nil)
	v := &task{v: m.agents[0], progress: func(string) {}, id: "nobody", state: sdk.TaskStateWorking}
	if err := v.follow(t.Context()); !errors.Is(err, sdk.ErrTaskNotFound) {
		t.Errorf("error %v", err)
	}
}

// TestCalledOff checks that the end of a call cancels the task, and that the
// partial result is kept.
func TestCalledOff(t *testing.T) {
	r := serve(t, nil)
	for name, c := range map[string]struct {
		limit time.Duration
		code  string
		is    error
	}{
		"cancelled": {time.Minute, "CANCELLED", context.Canceled},
		"too long":  {2 * time.Second, "TASK_TIMEOUT", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			m := opened(t, r, func(o *Options) { o.Agents[0].Timeout = c.limit })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			signs := 0
			_, err := m.Call(ctx, port.ToolCall{ID: "1", Name: "remote", Arguments: `{"message":"wait"}`}, func(text string) {
				if text == "" {
					signs++
				}
				if signs == 3 && c.limit == time.Minute { // submitted, and the two artifacts
					cancel()
				}
			})
			f, ok := errors.AsType[*port.Failure](err)
			if !ok || !errors.Is(err, c.is) || f.Code != c.code || f.Partial != "Hello, world!" {
				t.Errorf("error %v, failure %+v", err, f)
			}
			<-r.cancelled // the agent is told to cancel
		})
	}
}

// TestKey checks that the key comes from the environment and is sent to the card's
// server only.
func TestKey(t *testing.T) {
	r := serve(t, func(r *remote) { r.key = "hush-hush" })
	env := func(name string) (string, bool) { return "hush-hush", name == "KEY" }
	keyed := func(o *Options) { o.Agents[0].KeyEnv, o.Getenv = "KEY", env }
	m := opened(t, r, keyed)
	if output, _, f := called(t, m, "work"); output != "Hello, world!" || f != nil {
		t.Errorf("%q, failure %+v", output, f)
	}
	r.key = "another"
	if _, _, f := called(t, m, "work"); f == nil || f.Code != errclass.ServerError || !strings.Contains(f.Message, "401") || strings.Contains(f.Message, "hush") {
		t.Errorf("%+v", f)
	}
	r.key = "hush-hush"
	r.card.URL = "http://127.0.0.1:1/invoke"
	o := Options{Agents: []Agent{{Name: "remote", URL: r.URL}}}
	keyed(&o)
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "the key is only sent to "+r.URL) {
		t.Errorf("%v", err)
	}
	o.Agents[0].KeyEnv = ""
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "a2a: remote: its card: the server responded 401") {
		t.Errorf("%v", err)
	}
	o.Agents[0].KeyEnv = "OTHER"
	if _, err := Open(t.Context(), o); err == nil || err.Error() != "a2a: remote: the environment variable OTHER is not set" {
		t.Errorf("%v", err)
	}
}

// TestCards checks the required content of a card.
func TestCards(t *testing.T) {
	r := serve(t, nil)
	m := opened(t, r, func(o *Options) { o.Agents[0].URL += "/.well-known/agent-card.json" })
	if s := m.Specs()[0]; !s.Long || !s.Irreversible || s.Confirm || s.Description != "Does what it is told.\nplan: makes plans" {
		t.Errorf("%+v", s)
	}
	r.card.PreferredTransport = "" // means JSON-RPC
	opened(t, r, nil)
	r.card.PreferredTransport = sdk.TransportProtocolGRPC
	one := Options{Agents: []Agent{{Name: "remote", URL: r.URL}}}
	if _, err := Open(t.Context(), one); err == nil || err.Error() != "a2a: remote: the agent card does not offer JSON-RPC" {
		t.Errorf("%v", err)
	}
	r.card.AdditionalInterfaces = []sdk.AgentInterface{{Transport: sdk.TransportProtocolJSONRPC, URL: "nowhere"}}
	if _, err := Open(t.Context(), one); err == nil || !strings.Contains(err.Error(), `the agent card has the URL "nowhere"`) {
		t.Errorf("%v", err)
	}
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/big.json":
			_, _ = io.WriteString(w, strings.Repeat("x", maxCard+1))
		case "/away.json":
			http.Redirect(w, q, r.URL+"/.well-known/agent-card.json", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "<html>")
		}
	}))
	defer odd.Close()
	for path, want := range map[string]string{"/": "not an agent card", "/big.json": "more than 1048576 bytes", "/away.json": "another host"} {
		if _, err := Open(t.Context(), Options{Agents: []Agent{{Name: "odd", URL: odd.URL + path}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	for want, o := range map[string]Options{
		`a2a: agent 1 has the name "a b"`:                     {Agents: []Agent{{Name: "a b", URL: "http://h"}}},
		"two agents have the name a":                          {Agents: []Agent{{Name: "a", URL: "http://h"}, {Name: "a", URL: "http://h"}}},
		"a2a: a: the URL must have the form http://HOST/PATH": {Agents: []Agent{{Name: "a", URL: "ftp://h"}}},
		"a2a: a: timeouts must not be negative":               {Agents: []Agent{{Name: "a", URL: "http://h", Timeout: -1}}},
		"a2a: option Retry is -1ns: expected 0 or more":       {Retry: -1},
		"a2a: a: its card: no answer within 1ns":              {Agents: []Agent{{Name: "a", URL: r.URL, StartTimeout: 1}}},
		"a2a: a: its card: Get \"http://127.0.0.1:1/":         {Agents: []Agent{{Name: "a", URL: "http://127.0.0.1:1"}}},
	} {
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// TestRefusals checks the ways in which an agent may refuse a message.
func TestRefusals(t *testing.T) {
	answer, card := "", []byte(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			_, _ = w.Write(card)
			return
		}
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer s.Close()
	card = fmt.Appendf(nil, `{"name":"x","url":%q,"capabilities":{"streaming":true}}`, s.URL)
	m, err := Open(t.Context(), Options{Agents: []Agent{{Name: "remote", URL: s.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"x","data":{"error":"no such skill"}}}`: "remote: no such skill: invalid params",
		`data: {"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"x"}}` + "\n\n":                   "remote: internal error",
		`data: {` + "\n\n":   "remote: failed to parse SSE data",
		`data: {}` + "\n\n":  "remote:",
		`no JSON`:            "the agent ended the stream without a message",
		": hello\n\n":        "the agent ended the stream without a message",
		`{"result":{"a":1}}`: "remote:",
	} {
		answer = text
		if _, _, f := called(t, m, "x"); f == nil || f.Code != errclass.ServerError || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %+v", text, f)
		}
	}
	card = bytes.Replace(card, []byte("true"), []byte("false"), 1)
	answer = `{"jsonrpc":"2.0","id":"1","result":{"kind":"task","id":"","contextId":"c","status":{"state":"working"}}}`
	silent := Options{Agents: []Agent{{Name: "remote", URL: s.URL, Timeout: 5 * time.Second}}}
	if m, err := Open(t.Context(), silent); err != nil {
		t.Error(err)
	} else if _, _, f := called(t, m, "x"); f == nil || f.Message != "remote: the agent answered with a task without an id" {
		t.Errorf("a task without an id: %+v", f)
	} else if err := m.Close(); err != nil {
		t.Error(err)
	}
	_, err = m.Call(t.Context(), port.ToolCall{Name: "remote", Arguments: `[]`}, nil)
	if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != errclass.InvalidArgs {
		t.Errorf("%v", err)
	}
}

// FuzzEvents checks that any events are processed within the limits.
func FuzzEvents(f *testing.F) {
	for _, text := range []string{
		`{"kind":"message","messageId":"1","role":"agent","parts":[{"kind":"text","text":"hi"}]}`,
		`{"kind":"task","id":"1","contextId":"1","status":{"state":"completed"},"artifacts":[null,{"artifactId":"a","parts":[{"kind":"data","data":{"a":1}}]}]}`,
		`{"kind":"status-update","taskId":"1","contextId":"1","final":true,"status":{"state":"working","message":{"parts":[{"kind":"file","file":{"uri":"x"}}]}}}`,
		`{"kind":"artifact-update","taskId":"1","contextId":"1","append":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"\ud800"}]}}`,
	} {
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		v := &task{v: &agent{a: &Agent{}}, artifacts: make(map[sdk.ArtifactID][]byte), progress: func(text string) {
			if len(text) > maxProgress+3 || strings.Contains(text, "\n") {
				t.Fatalf("told %q", text)
			}
		}}
		for _, b := range [][]byte{first, second} {
			ev, err := sdk.UnmarshalEventJSON(b)
			if err == nil && v.take(ev) == nil && len(v.result()) > maxResult+maxArtifacts {
				t.Fatal("a result that is too long")
			}
		}
		v.state = sdk.TaskStateCompleted
		if _, err := v.end(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzCard checks that any card either yields an http or https endpoint to which the
// key may be sent, or is refused with a message.
func FuzzCard(f *testing.F) {
	for _, text := range []string{
		`{"url":"http://127.0.0.1/a"}`, `{"url":"http://127.0.0.1/a","preferredTransport":"GRPC","additionalInterfaces":[{"transport":"JSONRPC","url":"http://evil.example/"}]}`,
		`{"url":"file:///etc/passwd"}`, `{"url":"http://127.0.0.1@evil.example/"}`, `{"skills":[null,{"tags":null}]}`, `null`, `{}`,
	} {
		f.Add([]byte(text))
	}
	v := &agent{a: &Agent{URL: "http://127.0.0.1/card"}, secret: "hush-hush"}
	f.Fuzz(func(t *testing.T, text []byte) {
		var card sdk.AgentCard
		if json.Unmarshal(text, &card) != nil {
			return
		}
		at, err := v.endpoint(&card)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" || strings.Contains(err.Error(), "hush") {
				t.Fatalf("%q is refused with %q", text, err)
			}
			return
		}
		u, err := url.Parse(at.URL)
		if err != nil || u.Scheme != "http" || u.Host != "127.0.0.1" {
			t.Fatalf("%q has the key go to %q, %v", text, at.URL, err)
		}
	})
}
