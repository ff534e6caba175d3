package porttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// HostedModel describes a vendor's language model and its fake to [TestHostedModel].
type HostedModel struct {
	Fake func(key string) *fakes.Mind
	// Path is the base URL of the fake without its host, such as /v1.
	Path string
	Open func(o llm.Options) (*llm.Model, error)
}

// hosted is a model and its server in a synctest bubble.
type hostedModel struct {
	t       *testing.T
	net     *nettest.Memory
	fake    *fakes.Mind
	model   *llm.Model
	reports []llm.Report
	env     []string // the environment variables that were read
}

// in runs f in a bubble with a model whose server gives the answer.
func (h HostedModel) in(t *testing.T, answer func(fakes.MindRequest) fakes.MindAnswer, change func(*llm.Options), f func(*hostedModel)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &hostedModel{t: t, fake: h.Fake(HostedKey)}
		w.fake.Answer = answer
		w.net = nettest.Serve(t, w.fake)
		way := w.net.Transport()
		defer way.CloseIdleConnections()
		o := llm.Options{
			BaseURL: "http://llm.test" + h.Path, Model: "fake-1", KeyEnv: "MY_KEY", Transport: way,
			Getenv: func(name string) string { w.env = append(w.env, name); return HostedKey },
			Report: func(r llm.Report) { w.reports = append(w.reports, r) },
		}
		if change != nil {
			change(&o)
		}
		m, err := h.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		w.model = m
		f(w)
		for _, why := range w.fake.Refused() {
			t.Errorf("the vendor refuses: %s", why)
		}
	})
}

// say returns a function that gives every request the same answer.
func say(a fakes.MindAnswer) func(fakes.MindRequest) fakes.MindAnswer {
	return func(fakes.MindRequest) fakes.MindAnswer { return a }
}

func modelQuestion() port.Request {
	return port.Request{Instructions: "Be brief.", Messages: []port.Message{{Role: "user", Content: "Is the flight booked?"}}}
}

// hear asks and returns the reply.
func (w *hostedModel) hear(ctx context.Context, r port.Request) (text string, calls []port.ToolCall, err error) {
	var b strings.Builder
	err = w.model.Reply(ctx, r, func(d port.Delta) error {
		b.WriteString(d.Text)
		if d.Call != nil {
			calls = append(calls, *d.Call)
		}
		return nil
	})
	return b.String(), calls, err
}

// fails asks and checks the class of the failure.
func (w *hostedModel) fails(class string, words ...string) *port.Failure {
	w.t.Helper()
	_, _, err := w.hear(w.t.Context(), modelQuestion())
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		w.t.Errorf("error %v, want a failure %s", err, class)
		return &port.Failure{}
	}
	if f.Code != class || f.Retryable != (errclass.Of(class).Retries > 0) {
		w.t.Errorf("class %s, retryable %v, want %s: %s", f.Code, f.Retryable, class, f.Message)
	}
	for _, word := range words {
		if !strings.Contains(f.Message, word) {
			w.t.Errorf("message %q, want %q in it", f.Message, word)
		}
	}
	if strings.Contains(f.Error(), HostedKey) {
		w.t.Errorf("the key is in the error %q", f)
	}
	return f
}

// TestHostedModel is the conformance suite of language models that are reached over HTTP, beside
// [TestModel], which it runs: what is sent and what comes back, faults of the network and of the
// service, and time.
func TestHostedModel(t *testing.T, h HostedModel) {
	t.Run("the port's rules", func(t *testing.T) {
		TestModel(t, func(t *testing.T) port.Model {
			server := httptest.NewServer(h.Fake(HostedKey))
			t.Cleanup(server.Close)
			m, err := h.Open(llm.Options{BaseURL: server.URL + h.Path, Model: "fake-1", KeyEnv: "K", Getenv: func(string) string { return HostedKey }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Close() })
			return m
		})
	})
	t.Run("text is told when it comes", h.pieces)
	t.Run("any history is accepted", h.histories)
	t.Run("calls", h.calls)
	t.Run("forms", h.forms)
	t.Run("limits and tokens", h.limits)
	t.Run("failures of the service", h.failures)
	t.Run("a broken stream", h.broken)
	t.Run("time", h.time)
	t.Run("the end of the context", h.cancels)
	t.Run("the probe", h.probe)
}

func (h HostedModel) pieces(t *testing.T) {
	h.in(t, say(fakes.MindAnswer{Said: []string{"It ", "is ", "bookéd."}, Gap: time.Second}), nil, func(w *hostedModel) {
		var at []time.Duration
		var said []string
		start := time.Now()
		if err := w.model.Reply(w.t.Context(), modelQuestion(), func(d port.Delta) error {
			at, said = append(at, time.Since(start)), append(said, d.Text)
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
		if strings.Join(said, "|") != "It |is |bookéd." || at[1]-at[0] != time.Second || at[2]-at[1] != time.Second {
			w.t.Errorf("%q at %v", said, at)
		}
		if len(w.env) != 1 || w.env[0] != "MY_KEY" {
			w.t.Errorf("read the environment variables %q, want MY_KEY alone", w.env)
		}
	})
	h.in(t, say(fakes.MindAnswer{Said: []string{"It is bookéd, ", "ja?"}, Piece: 1}), nil, func(w *hostedModel) {
		if text, _, err := w.hear(w.t.Context(), modelQuestion()); text != "It is bookéd, ja?" || err != nil {
			w.t.Errorf("byte by byte: %q, error %v", text, err)
		}
	})
}

// histories checks that the service accepts contexts of any order, and that no word is lost.
func (h HostedModel) histories(t *testing.T) {
	user := func(s string) port.Message { return port.Message{Role: "user", Content: s} }
	agent := func(s string) port.Message { return port.Message{Role: "agent", Content: s} }
	system := func(s string) port.Message { return port.Message{Role: "system", Content: s} }
	call := func(id, name, arguments, result string) port.Message {
		return port.Message{Role: "tool", CallID: id, Name: name, Arguments: arguments, Content: result}
	}
	long := strings.Repeat("c", 90)
	for name, list := range map[string][]port.Message{
		"nothing":                    nil,
		"the agent begins":           {agent("welcome"), user("hello")},
		"the agent alone":            {agent("welcome")},
		"the agent is last":          {user("hello"), agent("welcome")},
		"twice the same":             {user("one"), user("two"), agent("three"), agent("four"), user("five")},
		"the system in between":      {user("one"), agent("two"), system("three"), user("four")},
		"the system first":           {system("one"), user("two")},
		"the system last":            {user("one"), agent("two"), system("three")},
		"what was not heard":         {user("one"), agent(" "), user("two")},
		"a call first":               {call("a", "f", `{"x":1}`, "one"), user("two")},
		"a call with words":          {user("one"), agent("two"), call("a", "f", "{}", "three"), agent("four"), user("five")},
		"calls in a row":             {user("one"), call("a", "f", "{}", "two"), call("b", "g", "{}", "three")},
		"the same id":                {user("one"), call("a", "f", "{}", "two"), call("a", "f", "{}", "three")},
		"odd ids, names, arguments":  {user("one"), call("a.b c", "1 ü", `{"x":`, "two"), call(long, long, "[1]", "three"), call("", "", "", "")},
		"a call, then words of both": {user("one"), call("a", "f", "{}", "two"), user("three"), agent("four"), user("five")},
	} {
		h.in(t, nil, nil, func(w *hostedModel) {
			if _, _, err := w.hear(w.t.Context(), port.Request{Instructions: "Be brief.", Messages: list}); err != nil {
				w.t.Errorf("%s: %v", name, err)
				return
			}
			var got strings.Builder
			for _, s := range w.fake.Requests()[0].Said {
				got.WriteString(s.Text + "\n")
			}
			at := 0
			for _, m := range list {
				word := strings.TrimSpace(m.Content)
				i := strings.Index(got.String()[at:], word)
				if i < 0 {
					w.t.Errorf("%s: %q is lost or out of order in %q", name, word, got.String())
					return
				}
				at += i + len(word)
			}
		})
	}
}

func (h HostedModel) calls(t *testing.T) {
	tools := []port.ToolSpec{
		{Name: "book", Description: "books a flight", Schema: []byte(`{"type":"object","properties":{"to":{"type":"string"}}}`)},
		{Name: "hours"},
	}
	want := []fakes.MindCall{{ID: "id1", Name: "book", Arguments: `{"to":"Böston \"x\""}`}, {ID: "id2", Name: "book", Arguments: `{"to":"Denver"}`}, {ID: "id3", Name: "hours", Arguments: "{}"}}
	for _, whole := range []bool{false, true} {
		for _, said := range [][]string{nil, {"One ", "moment."}} {
			h.in(t, say(fakes.MindAnswer{Said: said, Calls: want, Whole: whole}), nil, func(w *hostedModel) {
				r := modelQuestion()
				r.Tools = tools
				text, calls, err := w.hear(w.t.Context(), r)
				if err != nil || text != strings.Join(said, "") || len(calls) != 3 {
					w.t.Fatalf("%q, %v, error %v", text, calls, err)
				}
				for i, c := range calls {
					if c.ID != want[i].ID || c.Name != want[i].Name || !sameJSON(c.Arguments, want[i].Arguments) {
						w.t.Errorf("call %+v, want %+v", c, want[i])
					}
					r.Messages = append(r.Messages, port.Message{Role: "tool", CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Content: "done"})
				}
				// The results go back, and ids that are known are replaced.
				_, again, err := w.hear(w.t.Context(), r)
				if err != nil || len(again) != 3 {
					w.t.Fatalf("%v, error %v", again, err)
				}
				for _, c := range again {
					if c.ID == "" || slices.ContainsFunc(want, func(k fakes.MindCall) bool { return k.ID == c.ID }) {
						w.t.Errorf("the id %q is used twice", c.ID)
					}
				}
				if got := w.fake.Requests()[0].Tools; !slices.Equal(got, []string{"book", "hours"}) {
					w.t.Errorf("tools %q", got)
				}
			})
		}
	}
	for _, choice := range []string{"none", "required", "book"} {
		h.in(t, nil, nil, func(w *hostedModel) {
			r := modelQuestion()
			r.Tools, r.ToolChoice = tools, choice
			if _, _, err := w.hear(w.t.Context(), r); err != nil {
				w.t.Errorf("choice %s: %v", choice, err)
			}
			if q := w.fake.Requests()[0]; choice == "book" && q.Form != choice {
				w.t.Errorf("the choice is %q, want %s", q.Form, choice)
			}
		})
	}
	h.in(t, say(fakes.MindAnswer{Said: []string{"I "}, Calls: want[:1], Length: true}), nil, func(w *hostedModel) {
		_ = w.fails(errclass.InvalidArgs, "cut off a tool call")
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func (h HostedModel) forms(t *testing.T) {
	form := port.Form{Name: "where", Description: "where to", Schema: []byte(`{"type":"object","properties":{"to":{"type":"string"}}}`)}
	h.in(t, func(q fakes.MindRequest) fakes.MindAnswer {
		if !q.JSON || len(q.Said) == 0 {
			t.Errorf("request %+v, want one for JSON", q)
		}
		return fakes.MindAnswer{Said: []string{`{"to":`, `"Boston"}`}}
	}, nil, func(w *hostedModel) {
		r := modelQuestion()
		r.Form = &form
		if text, _, err := w.hear(w.t.Context(), r); text != `{"to":"Boston"}` || err != nil {
			w.t.Errorf("%q, error %v", text, err)
		}
	})
	h.in(t, say(fakes.MindAnswer{Said: []string{"I would rather not."}}), nil, func(w *hostedModel) {
		r := modelQuestion()
		r.Form = &form
		if _, _, err := w.hear(w.t.Context(), r); err == nil || !strings.Contains(err.Error(), "not valid JSON") {
			w.t.Errorf("error %v", err)
		}
	})
}

func (h HostedModel) limits(t *testing.T) {
	h.in(t, say(fakes.MindAnswer{Said: []string{"It is"}, Length: true}), func(o *llm.Options) { o.MaxTokens = 123 }, func(w *hostedModel) {
		text, _, err := w.hear(w.t.Context(), modelQuestion())
		if text != "It is" || err != nil || w.fake.Requests()[0].MaxTokens != 123 {
			w.t.Errorf("%q, %+v, error %v", text, w.fake.Requests(), err)
		}
		r := w.reports[0]
		if !r.Counted || r.Usage.Prompt != fakes.UsedPrompt || r.Usage.Cached != fakes.UsedCached || r.Usage.Completion != fakes.UsedCompletion ||
			r.Model != "fake-1" || r.Finish == "" {
			w.t.Errorf("report %+v", r)
		}
	})
	h.in(t, nil, func(o *llm.Options) { o.MaxTokens, o.Window = 100, 400 }, func(w *hostedModel) {
		r := modelQuestion()
		var list []port.Message
		for i := range 40 {
			list = append(list, port.Message{Role: "user", Content: fmt.Sprintf("question %d", i)}, port.Message{Role: "tool", CallID: fmt.Sprint("id", i), Name: "f", Arguments: "{}", Content: "result"},
				port.Message{Role: "agent", Content: strings.Repeat("answer ", 5)})
		}
		r.Messages = append(list, r.Messages...)
		if _, _, err := w.hear(w.t.Context(), r); err != nil {
			w.t.Fatal(err)
		}
		said := w.fake.Requests()[0].Said
		size := 0
		for _, s := range said {
			size += len(s.Text) + len(s.Arguments) + len(s.Name)
		}
		if last := said[len(said)-1]; last.Text != "Is the flight booked?" || said[0].Text != "Be brief." || size > 3*300 || size < 3*100 {
			w.t.Errorf("%d bytes in %d messages from %+v to %+v", size, len(said), said[0], last)
		}
	})
	h.in(t, say(fakes.MindAnswer{Said: []string{"x"}, Filtered: true}), nil, func(w *hostedModel) {
		_ = w.fails(errclass.Unknown, "filter")
	})
}
