package google

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/google/fake"
)

// TestSignatures checks that a call goes back with the signature that it came with, and a call
// from elsewhere with the documented one.
func TestSignatures(t *testing.T) {
	f := fake.New("k")
	f.Answer = func(fakes.MindRequest) fakes.MindAnswer {
		return fakes.MindAnswer{Calls: []fakes.MindCall{{ID: "own", Name: "f", Arguments: "{}"}}}
	}
	server := httptest.NewServer(f)
	defer server.Close()
	m, err := New(Options{Options: llm.Options{BaseURL: server.URL + "/v1beta", Model: "gemini-3-flash", KeyEnv: "K", Getenv: func(string) string { return "k" }}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	r := port.Request{
		Messages: []port.Message{{Role: "user", Content: "x"}, {Role: "tool", CallID: "flow", Name: "f", Content: "y"}},
		Tools:    []port.ToolSpec{{Name: "f"}},
	}
	ask := func() {
		err := m.Reply(t.Context(), r, func(d port.Delta) error {
			r.Messages = append(r.Messages, port.Message{Role: "tool", CallID: d.Call.ID, Name: d.Call.Name, Content: "z"})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask()
	ask()
	var got []string
	for _, s := range f.Requests()[1].Said {
		if s.Role == "call" {
			got = append(got, s.Text)
		}
	}
	if len(got) != 2 || got[0] != "skip_thought_signature_validator" || got[1] != fake.Signature {
		t.Errorf("signatures %q", got)
	}
	var s signatures
	for i := range maxSignatures + 1 {
		s.note(fmt.Sprint("id", i), "x")
	}
	if len(s.calls) != maxSignatures || len(s.order) != maxSignatures || s.of("id0") != "" {
		t.Errorf("%d signatures are kept", len(s.calls))
	}
	old := wire{o: Options{Options: llm.Options{Model: "gemini-2.5-flash"}}}
	if got := old.signature("unknown"); got != "" {
		t.Errorf("a model that signs nothing is sent %q", got)
	}
}
