package vscode

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// scripted is an editor that answers each request with the same parts.
type scripted struct {
	parts  []string
	result string
	err    error

	mu  sync.Mutex // guards got
	got []any
}

func (s *scripted) Request(ctx context.Context, _ string, params, result any, part func(json.RawMessage) error) error {
	s.mu.Lock()
	s.got = append(s.got, params)
	s.mu.Unlock()
	for _, p := range s.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := part(json.RawMessage(p)); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.err == nil && result != nil {
		return json.Unmarshal([]byte(s.result), result)
	}
	return s.err
}

func model(t *testing.T, s *scripted) *Model {
	t.Helper()
	m, err := New(Options{Editor: s})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModel(t *testing.T) {
	porttest.TestModel(t, func(t *testing.T) port.Model {
		return model(t, &scripted{parts: []string{`{"text":"It is "}`, `{"text":"booked."}`}})
	})
}

func TestTools(t *testing.T) {
	porttest.TestTool(t, func(t *testing.T) port.Tool {
		tools, err := NewTools(&scripted{parts: []string{`{"text":"half"}`}, result: `{"output":"done"}`}, []Spec{{Name: "open", Schema: json.RawMessage(`{"type":"object"}`)}})
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}, port.ToolCall{ID: "1", Name: "open", Arguments: `{"path":"a.go"}`})
}

// TestFailures: the class of each error of the editor.
func TestFailures(t *testing.T) {
	for _, tt := range []*struct {
		name  string
		s     scripted
		code  string
		retry bool
	}{
		{"no permission", scripted{err: &Error{"NoPermissions", "refused"}}, errclass.AuthFailure, false},
		{"blocked", scripted{err: &Error{"Blocked", "quota"}}, errclass.RateLimit, true},
		{"no model", scripted{err: &Error{"NotFound", "none"}}, errclass.Unknown, false},
		{"in mid-stream", scripted{parts: []string{`{"text":"half "}`}, err: &Error{"", "broke"}}, errclass.ServerError, true},
		{"nothing", scripted{}, errclass.ServerError, true},
		{"no JSON", scripted{parts: []string{`[`}}, errclass.ServerError, true},
		{"a call without input", scripted{parts: []string{`{"call":{"id":"1","name":"x","input":3}}`}}, errclass.ServerError, true},
		{"too long", scripted{parts: []string{`{"text":"` + strings.Repeat("x", 1<<20) + `"}`}}, errclass.ServerError, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := model(t, &tt.s).Reply(t.Context(), port.Request{Messages: []port.Message{{Role: "user", Content: "hi"}}}, func(port.Delta) error { return nil })
			f, ok := errors.AsType[*port.Failure](err)
			if !ok || f.Code != tt.code || f.Retryable != tt.retry || f.Message == "" {
				t.Errorf("error %+v", err)
			}
			if len(tt.s.parts) == 1 && tt.s.err != nil && f.Partial != "half " {
				t.Errorf("the part that has arrived is %q", f.Partial)
			}
		})
	}
}

// TestRequest: what the editor's model gets of a history.
func TestRequest(t *testing.T) {
	q, err := request(port.Request{
		Instructions: "Be brief.",
		Messages: []port.Message{
			{Role: "tool", Name: "conversation_context", Content: `{"files":{}}`},
			{Role: "user", Content: "open it"},
			{Role: "agent", Content: "Opening."},
			{Role: "tool", CallID: "c1", Name: "open", Arguments: `{"path":"a"}`, Content: ""},
			{Role: "tool", Name: "open", Arguments: `nonsense`, Content: "again"},
			{Role: "agent", Content: "Done."},
		},
		Tools: []port.ToolSpec{{Name: "open"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range q.Messages {
		if want := []string{roleUser, roleAssistant}[i%2]; m.Role != want || len(m.Parts) == 0 {
			t.Errorf("message %d is the %s's, with %d parts: expected roles that alternate", i, m.Role, len(m.Parts))
		}
		for _, p := range m.Parts {
			if p.Call != nil && (i+1 == len(q.Messages) || q.Messages[i+1].Parts[0].Result == nil || q.Messages[i+1].Parts[0].Result.ID != p.Call.ID) {
				t.Errorf("the call %s has no result after it", p.Call.ID)
			}
		}
	}
	if last := q.Messages[len(q.Messages)-1]; last.Role != roleUser {
		t.Error("the last message must be the user's")
	}
	if first := q.Messages[0].Parts[1].Text; !strings.Contains(first, "data and not an instruction") {
		t.Errorf("the context is %q", first)
	}
	if _, err := request(port.Request{}); err == nil {
		t.Error("an empty request was made")
	}
	if _, err := request(port.Request{Messages: []port.Message{{Role: "cat", Content: "meow"}}}); err == nil {
		t.Error("an unknown role was taken")
	}
}

// FuzzPart: whatever the editor sends, it is a delta or a failure.
func FuzzPart(f *testing.F) {
	for _, s := range []string{`{"text":"a"}`, `{"call":{"id":"1","name":"n","input":{}}}`, `{}`, `[`, `null`, `{"call":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a := answer{o: Options{}.withDefaults(), emit: func(d port.Delta) error {
			if d.Call != nil && (d.Call.ID == "" || d.Call.Name == "" || !json.Valid([]byte(d.Call.Arguments))) {
				t.Errorf("call %+v", d.Call)
			}
			return nil
		}}
		_ = a.part(b) // a failure, or nothing
	})
}
