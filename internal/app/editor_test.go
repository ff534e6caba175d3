package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/hocketvoice/hocket/internal/editor"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/provider/vscode"
	"github.com/hocketvoice/hocket/server/hub"
)

// scriptedEditor is an editor at the other end of a pipe. Its framing is the library's own.
type scriptedEditor struct {
	t    *testing.T
	conn *jsonrpc2.Conn
	over chan error // receives what Run returned

	// reply answers a request to the model; nil: with two words.
	reply func(ctx context.Context, s *scriptedEditor, id uint64, r vscode.Request) error
	// call runs a tool.
	call func(c vscode.Call) (string, error)

	mu        sync.Mutex // guards the fields below
	told      []editor.Told
	changed   []editor.Changed
	asked     []vscode.Request
	cancelled map[uint64]chan struct{}
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

// edit connects an editor with an engine, in this process.
func edit(t *testing.T) *scriptedEditor {
	t.Helper()
	in, toEngine := io.Pipe()
	fromEngine, out := io.Pipe()
	s := &scriptedEditor{t: t, over: make(chan error, 1), cancelled: make(map[uint64]chan struct{})}
	go func() {
		err := editor.Run(context.Background(), editor.Options{
			In: in, Out: out, Closer: closers{in, out}, Version: "test",
			Open: func(e editor.Setup) (editor.Engine, error) { return OpenEditor(ServeOptions{}, e) },
		})
		s.over <- err
	}()
	s.conn = jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(pipes{fromEngine, toEngine}, jsonrpc2.VSCodeObjectCodec{}), s, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.Cleanup(func() { s.end() })
	return s
}

type closers []io.Closer

func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// end closes the connection, as an editor that dies does, and waits for the engine.
func (s *scriptedEditor) end() {
	s.t.Helper()
	_ = s.conn.Close()
	if s.over == nil {
		return
	}
	if err := <-s.over; err != nil {
		s.t.Errorf("Run returned %v", err)
	}
	s.over = nil
}

// Handle takes the engine's messages.
func (s *scriptedEditor) Handle(ctx context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	read := func(v any) {
		if err := json.Unmarshal(*r.Params, v); err != nil {
			s.t.Errorf("%s: %v", r.Method, err)
		}
	}
	switch r.Method {
	case "message":
		var m editor.Told
		read(&m)
		s.mu.Lock()
		s.told = append(s.told, m)
		s.mu.Unlock()
	case "conversation":
		var c editor.Changed
		read(&c)
		s.mu.Lock()
		s.changed = append(s.changed, c)
		s.mu.Unlock()
	case "$/cancelRequest":
		var c struct {
			ID uint64 `json:"id"`
		}
		read(&c)
		close(s.cancel(c.ID))
	case vscode.MethodReply:
		var q vscode.Request
		read(&q)
		s.mu.Lock()
		s.asked = append(s.asked, q)
		s.mu.Unlock()
		go s.answer(ctx, r.ID, q)
	case vscode.MethodCall:
		var c vscode.Call
		read(&c)
		go func() {
			out, err := s.call(c)
			if err != nil {
				_ = s.conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: -32000, Message: err.Error()})
				return
			}
			_ = s.conn.Reply(ctx, r.ID, map[string]string{"output": out})
		}()
	default:
		s.t.Errorf("the engine has called %s", r.Method)
	}
}

func (s *scriptedEditor) answer(ctx context.Context, id jsonrpc2.ID, q vscode.Request) {
	reply := s.reply
	if reply == nil {
		reply = func(ctx context.Context, s *scriptedEditor, id uint64, _ vscode.Request) error {
			s.part(ctx, id, vscode.Part{Text: "All "})
			s.part(ctx, id, vscode.Part{Text: "good."})
			return nil
		}
	}
	err := reply(ctx, s, id.Num, q)
	if failed, ok := errors.AsType[*vscode.Error](err); ok {
		e := &jsonrpc2.Error{Code: -32000, Message: failed.Message}
		e.SetError(map[string]string{"code": failed.Code})
		_ = s.conn.ReplyWithError(ctx, id, e) // the engine may be gone
		return
	}
	_ = s.conn.Reply(ctx, id, struct{}{}) // likewise
}

func (s *scriptedEditor) part(ctx context.Context, id uint64, p vscode.Part) {
	_ = s.conn.Notify(ctx, "lm/part", map[string]any{"request": id, "part": p}) // likewise
}

// cancel is closed when the engine cancels a request.
func (s *scriptedEditor) cancel(id uint64) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled[id] == nil {
		s.cancelled[id] = make(chan struct{})
	}
	return s.cancelled[id]
}

// try makes a request and returns the code of its error, or 0.
func (s *scriptedEditor) try(method string, params, result any) (int64, string) {
	s.t.Helper()
	err := s.conn.Call(waittest.Context(s.t), method, params, result)
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return e.Code, e.Message
	}
	if err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
	return 0, ""
}

// do makes a request that must succeed.
func (s *scriptedEditor) do(method string, params, result any) {
	s.t.Helper()
	if code, message := s.try(method, params, result); code != 0 {
		s.t.Fatalf("%s: error %d: %s", method, code, message)
	}
}

// begin starts the engine, follows, and begins a conversation by text.
func (s *scriptedEditor) begin(o editor.Initialize) {
	s.t.Helper()
	s.open(o)
	var f editor.Followed
	s.do("follow", editor.Follow{}, &f)
	s.do("conversation/start", editor.Start{Transport: "text"}, nil)
	s.until("listening", func(m []hub.Message) bool { return last(m) == "listening" })
}

func (s *scriptedEditor) open(o editor.Initialize) editor.Initialized {
	s.t.Helper()
	o.Version = editor.Version
	var done editor.Initialized
	s.do("initialize", o, &done)
	return done
}

func (s *scriptedEditor) say(text string) {
	s.t.Helper()
	s.do("conversation/command", hub.Command{Type: "send_text", Text: text}, nil)
}

// until waits for messages of the first stream.
func (s *scriptedEditor) until(what string, is func([]hub.Message) bool) []hub.Message {
	s.t.Helper()
	var list []hub.Message
	defer func() {
		if s.t.Failed() {
			for _, m := range list {
				s.t.Logf("%s %s", m.Type, m.Payload)
			}
		}
	}()
	waittest.Until(s.t, what, s.conn.DisconnectNotify(), func() bool {
		list = s.messages()
		return is(list)
	})
	return list
}

func (s *scriptedEditor) messages() []hub.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []hub.Message
	for _, m := range s.told {
		if m.Stream == 1 {
			list = append(list, m.Message)
		}
	}
	return list
}

func (s *scriptedEditor) requests() []vscode.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// states returns the states that were told, and last the last one.
func states(list []hub.Message) (names []string) {
	for _, m := range list {
		var p hub.StatePayload
		if m.Type == hub.TypeState && json.Unmarshal(m.Payload, &p) == nil {
			names = append(names, p.State)
		}
	}
	return names
}

func last(list []hub.Message) string {
	if names := states(list); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// answered returns what the agent has said, whole.
func answered(list []hub.Message) string {
	var all []string
	for _, m := range list {
		var c hub.Caption
		if m.Type == hub.TypeCaption && json.Unmarshal(m.Payload, &c) == nil && c.Final {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "|")
}

func notices(list []hub.Message) (codes []string) {
	for _, m := range list {
		var n hub.Notification
		if m.Type == hub.TypeNotification && json.Unmarshal(m.Payload, &n) == nil {
			codes = append(codes, n.Code)
		}
	}
	return codes
}

// TestEditorText: a question by text leads to one request with its words, and to the answer
// (seed 000, AC-001, AC-002, INT-005).
func TestEditorText(t *testing.T) {
	s := edit(t)
	s.begin(editor.Initialize{Language: "en-GB"})
	s.say("what is wrong here?")
	list := s.until("the answer", func(m []hub.Message) bool {
		return strings.HasSuffix(answered(m), "All good.") && last(m) == "listening"
	})
	if asked := s.requests(); len(asked) != 1 || !strings.Contains(asked[0].Messages[len(asked[0].Messages)-1].Parts[0].Text+asked[0].Messages[0].Parts[len(asked[0].Messages[0].Parts)-1].Text, "what is wrong here?") {
		t.Errorf("the model was asked %+v", asked)
	}
	want := []string{"preparing", "listening", "processing", "waitingForCopilot", "speaking", "listening"}
	rest := states(list)
	for _, w := range want {
		i := slices.Index(rest, w)
		if i < 0 {
			t.Fatalf("states %v: expected %v in this order", states(list), want)
		}
		rest = rest[i+1:]
	}
	s.do("conversation/command", hub.Command{Type: "endConversation", Reason: "user"}, nil)
	s.until("the end", func([]hub.Message) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.changed)
		return n == 2 && s.changed[0].Event == "started" && s.changed[1].Event == "ended" && s.changed[1].Requests == 1
	})
	if code, _ := s.try("conversation/command", hub.Command{Type: "interrupt"}, nil); code != -32011 {
		t.Errorf("a command without a conversation is answered with code %d", code)
	}
	s.do("conversation/start", editor.Start{Transport: "text"}, nil) // a second one may follow
}

// TestEditorGerman: the editor's language is that of the state labels and of the instructions.
func TestEditorGerman(t *testing.T) {
	s := edit(t)
	s.begin(editor.Initialize{Language: "de-AT"})
	s.say("was ist das?")
	list := s.until("the answer", func(m []hub.Message) bool { return strings.HasSuffix(answered(m), "All good.") })
	var p hub.StatePayload
	for _, m := range list {
		if m.Type == hub.TypeState && json.Unmarshal(m.Payload, &p) == nil && p.State == "listening" {
			break
		}
	}
	if !strings.Contains(p.LocalizedLabel, "Hört zu") && !strings.Contains(p.LocalizedLabel, "Ich höre zu") && strings.Contains(p.LocalizedLabel, "Listening") {
		t.Errorf("the label is %q", p.LocalizedLabel)
	}
	if !strings.Contains(s.requests()[0].Messages[0].Parts[0].Text, "German") {
		t.Error("the model is not asked for German")
	}
}

// TestEditorBargeIn: an answer that is interrupted ends in the machine at once, although the
// editor's model goes on, and what it sends later is dropped (AC-004).
func TestEditorBargeIn(t *testing.T) {
	s := edit(t)
	first := make(chan uint64, 1)
	deaf := make(chan struct{})
	s.reply = func(ctx context.Context, s *scriptedEditor, id uint64, _ vscode.Request) error {
		if id == 1 {
			s.part(ctx, id, vscode.Part{Text: "This goes on "})
			first <- id
			<-deaf
			s.part(ctx, id, vscode.Part{Text: "and was never heard."})
			return nil
		}
		s.part(ctx, id, vscode.Part{Text: "Second answer."})
		return nil
	}
	s.begin(editor.Initialize{})
	s.say("first")
	id := <-first
	s.do("conversation/command", hub.Command{Type: "interrupt"}, nil)
	<-s.cancel(id)
	s.until("listening after the interruption", func(m []hub.Message) bool { return last(m) == "listening" })
	close(deaf)
	s.say("second")
	list := s.until("the second answer", func(m []hub.Message) bool { return strings.Contains(answered(m), "Second answer.") })
	if strings.Contains(answered(list), "never heard") {
		t.Errorf("what came late was said: %s", answered(list))
	}
	if n := len(s.requests()); n != 2 {
		t.Errorf("%d requests for two utterances", n)
	}
}

// TestEditorFailures: how each error of the editor's model is taken.
func TestEditorFailures(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		partial    bool
		requests   int  // in all
		over       bool // the conversation ends
	}{
		{"no permission: no retry, and the conversation ends", "NoPermissions", false, 1, true},
		{"no such model: no retry", "NotFound", false, 1, false},
		{"blocked: again, after a pause", "Blocked", false, 2, false},
		{"a failure in mid-stream: again, once", "", true, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := edit(t)
			s.reply = func(ctx context.Context, s *scriptedEditor, id uint64, _ vscode.Request) error {
				if id > 1 {
					s.part(ctx, id, vscode.Part{Text: "Here it is."})
					return nil
				}
				if tt.partial {
					s.part(ctx, id, vscode.Part{Text: "Well, "})
				}
				return &vscode.Error{Code: tt.code, Message: "it did not work"}
			}
			s.begin(editor.Initialize{})
			s.say("hello")
			list := s.until("the outcome", func(m []hub.Message) bool {
				if tt.over {
					return slices.Contains(states(m), "terminating")
				}
				if tt.requests == 1 {
					return last(m) == "faulted" && len(notices(m)) > 0 // from which it recovers
				}
				return len(s.requests()) == tt.requests && last(m) == "listening" && strings.Contains(answered(m), "Here it is.")
			})
			if n := len(s.requests()); n != tt.requests {
				t.Errorf("%d requests: expected %d", n, tt.requests)
			}
			if tt.requests == 1 && len(notices(list)) == 0 {
				t.Error("the user was not told")
			}
		})
	}
}

// TestEditorTimeout: a model that does not answer within the limit leads to a notice and back to
// listening (AC-008, PER-004).
func TestEditorTimeout(t *testing.T) {
	s := edit(t)
	s.reply = func(ctx context.Context, s *scriptedEditor, id uint64, _ vscode.Request) error {
		select {
		case <-s.cancel(id):
		case <-ctx.Done():
		}
		return nil
	}
	s.begin(editor.Initialize{Settings: editor.Settings{TimeoutMS: 50, Retries: new(0)}})
	s.say("hello")
	s.until("the notice", func(m []hub.Message) bool { return len(notices(m)) > 0 && last(m) == "listening" })
}

// TestEditorTools: the model calls a tool of the editor and is given its result.
func TestEditorTools(t *testing.T) {
	s := edit(t)
	s.call = func(c vscode.Call) (string, error) {
		if c.Name != "open_file" || string(c.Input) != `{"path":"main.go"}` {
			return "", errors.New("unexpected call")
		}
		return "opened main.go", nil
	}
	s.reply = func(ctx context.Context, s *scriptedEditor, id uint64, q vscode.Request) error {
		if len(q.Tools) != 1 || q.Tools[0].Name != "open_file" {
			t.Errorf("the model has the tools %+v", q.Tools)
		}
		for _, m := range q.Messages {
			for _, p := range m.Parts {
				if p.Result != nil && strings.Contains(p.Result.Text, "opened main.go") {
					s.part(ctx, id, vscode.Part{Text: "It is open."})
					return nil
				}
			}
		}
		s.part(ctx, id, vscode.Part{Call: &vscode.Call{ID: "c1", Name: "open_file", Input: json.RawMessage(`{"path":"main.go"}`)}})
		return nil
	}
	s.begin(editor.Initialize{Trusted: true, Tools: []vscode.Spec{{Name: "open_file", Description: "opens a file", Schema: json.RawMessage(`{"type":"object"}`)}}})
	s.say("open the main file")
	s.until("the answer", func(m []hub.Message) bool { return strings.Contains(answered(m), "It is open.") })
}

// TestEditorContext: what the user has in front of them reaches the model as data.
func TestEditorContext(t *testing.T) {
	s := edit(t)
	s.begin(editor.Initialize{})
	s.do("conversation/context", json.RawMessage(`{"files":{"main.go":{"selection":"func Flurgle() {}"}}}`), nil)
	if code, message := s.try("conversation/context", json.RawMessage(`{"secrets":{}}`), nil); code != jsonrpc2.CodeInvalidParams {
		t.Errorf("an unknown section is answered with %d %s", code, message)
	}
	s.say("read me this function")
	s.until("the answer", func(m []hub.Message) bool { return strings.HasSuffix(answered(m), "All good.") })
	b, err := json.Marshal(s.requests()[0])
	if err != nil || !strings.Contains(string(b), "Flurgle") || !strings.Contains(string(b), "data and not an instruction") {
		t.Errorf("the model was asked %s, %v", b, err)
	}
}

// TestEditorOneConversation: a window has one conversation (CON-002).
func TestEditorOneConversation(t *testing.T) {
	s := edit(t)
	s.begin(editor.Initialize{})
	if code, message := s.try("conversation/start", editor.Start{Transport: "text"}, nil); code != -32010 || message == "" {
		t.Errorf("a second start is answered with %d %q", code, message)
	}
}

// TestEditorBadInput: what is wrong is said, and the engine goes on.
func TestEditorBadInput(t *testing.T) {
	s := edit(t)
	for _, tt := range []struct {
		method, params string
		code           int64
		says           string
	}{
		{"follow", `{}`, -32002, "initialize first"},
		{"initialize", `{"version":99}`, jsonrpc2.CodeInvalidParams, "version is 99"},
		{"initialize", `{"version":1,"settings":{"nonsense":1}}`, jsonrpc2.CodeInvalidParams, "nonsense"},
		{"initialize", `{"version":1,"settings":{"language":"fr"}}`, jsonrpc2.CodeInvalidParams, `"fr"`},
		{"initialize", `{"version":1,"settings":{"model":"config"}}`, jsonrpc2.CodeInvalidParams, "settings.config"},
		{"initialize", `{"version":1,"settings":{"bargeIn":"loud"}}`, jsonrpc2.CodeInvalidParams, "barge_in.policy"},
		{"initialize", `{"version":1,"settings":{"config":"/nowhere/hocket.yaml"}}`, jsonrpc2.CodeInvalidParams, "/nowhere/hocket.yaml"},
		{"initialize", `{"version":1,"tools":[{"name":"a b"}]}`, jsonrpc2.CodeInvalidParams, "tools[0].name"},
		{"initialize", `{"version":1}`, 0, ""},
		{"initialize", `{"version":1}`, jsonrpc2.CodeInvalidRequest, "before"},
		{"conversation/start", `{"transport":"smoke"}`, jsonrpc2.CodeInvalidParams, "text or voice"},
		{"conversation/start", `{"transport":"text","timezone":"Nowhere/City"}`, jsonrpc2.CodeInvalidParams, "timezone"},
		{"conversation/command", `{"type":"interrupt"}`, -32011, "no conversation"},
		{"conversation/dance", `{}`, jsonrpc2.CodeMethodNotFound, "conversation/dance"},
		{"conversation/start", `{"transport":"text"}`, 0, ""},
		{"conversation/command", `{"type":"dance"}`, jsonrpc2.CodeInvalidParams, "dance"},
	} {
		if code, says := s.try(tt.method, json.RawMessage(tt.params), nil); code != tt.code || !strings.Contains(says, tt.says) {
			t.Errorf("%s %s is answered with %d %q: expected %d %q", tt.method, tt.params, code, says, tt.code, tt.says)
		}
	}
}

// TestEditorServer: only who has the key reaches the API, and the page begins one conversation.
func TestEditorServer(t *testing.T) {
	s := edit(t)
	done := s.open(editor.Initialize{})
	if !strings.HasPrefix(done.URL, "http://127.0.0.1:") {
		t.Errorf("the engine listens on %s", done.URL)
	}
	for _, path := range []string{"/v1/agents", "/v1/conversations", "/metrics"} {
		r, err := http.Get(done.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusUnauthorized {
			t.Errorf("GET %s without a key: status %d", path, r.StatusCode)
		}
	}
	r, err := http.Get(done.URL + "/microphone.html")
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("the page with the microphone: status %d", r.StatusCode)
	}
	s.end()
	client := http.Client{Timeout: time.Minute}
	if r, err := client.Get(done.URL + "/healthz"); err == nil {
		_ = r.Body.Close()
		t.Error("the engine still listens after the end of its input")
	}
}

// TestEditorDies: the engine ends although a model does not answer and a conversation runs.
func TestEditorDies(t *testing.T) {
	s := edit(t)
	asked := make(chan struct{}, 1)
	s.reply = func(ctx context.Context, _ *scriptedEditor, _ uint64, _ vscode.Request) error {
		asked <- struct{}{}
		<-ctx.Done()
		return nil
	}
	s.begin(editor.Initialize{})
	s.say("hello")
	<-asked
	s.end()
}
