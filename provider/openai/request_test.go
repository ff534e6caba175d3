package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// lines returns a request's messages in short form, and whether the server accepted
// it.
func (w *world) lines(r port.Request) []string {
	w.t.Helper()
	if _, _, err := w.hear(w.t.Context(), r); err != nil {
		w.t.Fatalf("%v (the server: %v)", err, w.server.Refused())
	}
	requests := w.server.Requests()
	var list []string
	for _, m := range requests[len(requests)-1].Messages {
		line := m.Role + ": " + m.Text()
		for _, c := range m.ToolCalls {
			line += fmt.Sprintf(" [%s %s %s]", c.ID, c.Function.Name, c.Function.Arguments)
		}
		if m.ToolCallID != "" {
			line += " <" + m.ToolCallID + ">"
		}
		list = append(list, line)
	}
	return list
}

// history returns a conversation's history in the form of package session.
func history(items []conv.Item) (list []port.Message) {
	for _, it := range items {
		if it.Role == conv.RoleTool || it.Text != "" {
			list = append(list, port.Message{Role: string(it.Role), Content: it.Text, CallID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		}
	}
	return list
}

func TestHistoryBecomesMessages(t *testing.T) {
	user := func(s string) conv.Item { return conv.Item{Role: conv.RoleUser, Text: s} }
	agent := func(s string) conv.Item { return conv.Item{Role: conv.RoleAgent, Text: s} }
	result := func(id, name, arguments, text string) conv.Item {
		return conv.Item{Role: conv.RoleTool, CallID: id, Name: name, Arguments: arguments, Text: text}
	}
	long := strings.Repeat("x", 80)
	for _, test := range []struct {
		name  string
		items []conv.Item
		want  []string
	}{
		{"what was heard", []conv.Item{
			user("book a flight"),
			{Role: conv.RoleAgent, Text: "Where do you", Full: "Where do you want to go? ", Interrupted: true},
			user("to Boston"),
		}, []string{"user: book a flight", "assistant: Where do you", "user: to Boston"}},
		{"what nobody heard was not said", []conv.Item{
			user("hello"), {Role: conv.RoleAgent, Full: "Hello there", Interrupted: true}, user("a flight"),
		}, []string{"user: hello\na flight"}},
		{"a call with its result", []conv.Item{
			user("book it"), agent("One moment."), result("call_1", "book", `{"to":"BOS"}`, `{"ok":true}`), agent("It is booked."),
		}, []string{"user: book it", `assistant: One moment. [call_1 book {"to":"BOS"}]`, `tool: {"ok":true} <call_1>`, "assistant: It is booked."}},
		{"several calls", []conv.Item{
			user("both"), result("a", "f", "{}", "1"), result("b", "g", "{}", "2"),
		}, []string{"user: both", "assistant:  [a f {}]", "tool: 1 <a>", "assistant:  [b g {}]", "tool: 2 <b>"}},
		{"the call of a flow that begins the history", []conv.Item{result("", "flight.book", "", "")}, []string{
			"assistant:  [call00000 flight_book {}]", "tool: (no output) <call00000>",
		}},
		{"arguments that are not JSON", []conv.Item{result("a", "f", `{"x":`, "INVALID_ARGS")}, []string{
			`assistant:  [a f {"invalid_arguments":"{\"x\":"}]`, "tool: INVALID_ARGS <a>",
		}},
		{"arguments that are not an object", []conv.Item{result("a", "f", `[1]`, "x")}, []string{
			`assistant:  [a f {"invalid_arguments":"[1]"}]`, "tool: x <a>",
		}},
		{"an id and a name that are too long", []conv.Item{result(long, long, `{}`, "x")}, []string{
			"assistant:  [d929cdeea7e6a0f46b59448d36a6fd49 " + long[:64] + " {}]", "tool: x <d929cdeea7e6a0f46b59448d36a6fd49>", // half of the id's SHA-256
		}},
		{"the same call twice", []conv.Item{result("a", "f", `{}`, "x"), result("a", "f", `{}`, "y")}, []string{
			"assistant:  [a f {}]", "tool: x <a>", "assistant:  [call00001 f {}]", "tool: y <call00001>", // ids are unique
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			try(t, answers(fake.Text("x")), nil, func(w *world) {
				want := append([]string{"system: Be brief."}, test.want...)
				got := w.lines(port.Request{Instructions: "Be brief.", Messages: history(test.items)})
				if !slices.Equal(got, want) {
					t.Errorf("messages\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// TestAnyHistoryIsTaken checks that the server accepts any history, and that no word or
// result is lost.
func TestAnyHistoryIsTaken(t *testing.T) {
	text := rapid.SampledFrom([]string{"", " ", "word", "two words", "<b> & \"q\"", "\x00\xff", "ä\n"})
	items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) conv.Item {
		return conv.Item{
			Role:      rapid.SampledFrom([]conv.Role{conv.RoleUser, conv.RoleAgent, conv.RoleTool}).Draw(t, "role"),
			Text:      text.Draw(t, "text"),
			CallID:    rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("c", 60)}).Draw(t, "id"),
			Name:      rapid.SampledFrom([]string{"", "f", "a.b", "ü", strings.Repeat("n", 90)}).Draw(t, "name"),
			Arguments: rapid.SampledFrom([]string{"", "{}", "{", "null", `{"a":1}`, "x"}).Draw(t, "arguments"),
		}
	}), 0, 12)
	rapid.Check(t, func(rt *rapid.T) {
		said := items.Draw(rt, "items")
		list, err := messages(port.Request{Instructions: "Be brief.", Messages: history(said)})
		if err != nil {
			rt.Fatal(err)
		}
		b, err := json.Marshal(list)
		if err != nil {
			rt.Fatal(err)
		}
		var q []fake.Message
		if err := json.Unmarshal(b, &q); err != nil {
			rt.Fatal(err)
		}
		if why := fake.CheckMessages(q); why != "" {
			rt.Fatalf("%s\n%s", why, b)
		}
		words, results := 0, 0
		for _, it := range said {
			if it.Role == conv.RoleTool {
				results++
			} else {
				words += strings.Count(it.Text, "word")
			}
		}
		for _, m := range q {
			if m.Role == "tool" {
				results--
			} else {
				words -= strings.Count(m.Text(), "word")
			}
		}
		if words != 0 || results != 0 {
			rt.Fatalf("%d words and %d results are lost", words, results)
		}
	})
}

func TestRequestsThatCannotBeMade(t *testing.T) {
	for name, test := range map[string]struct {
		r    port.Request
		want string
	}{
		"empty":          {port.Request{}, "neither instructions nor messages"},
		"blank":          {port.Request{Messages: []port.Message{{Role: "user", Content: " "}}}, "neither"},
		"role":           {port.Request{Messages: []port.Message{{Role: "assistant", Content: "x"}}}, `role "assistant"`},
		"name of a tool": {port.Request{Instructions: "x", Tools: []port.ToolSpec{{Name: "a.b"}}}, `invalid tool name "a.b"`},
		"twice":          {port.Request{Instructions: "x", Tools: []port.ToolSpec{{Name: "a"}, {Name: "a"}}}, `duplicate tool name "a"`},
		"schema":         {port.Request{Instructions: "x", Tools: []port.ToolSpec{{Name: "a", Schema: []byte("[]")}}}, `schema of the tool "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			try(t, nil, nil, func(w *world) {
				_, _, err := w.hear(w.t.Context(), test.r)
				wantFailure(t, err, errclass.Unknown, test.want)
				if len(w.server.Requests())+len(w.server.Refused()) != 0 {
					t.Error("a request was made")
				}
			})
		})
	}
}

func TestSettingsReachTheServer(t *testing.T) {
	temperature, seed := 0.0, int64(7)
	settings := func(o *Options, _ *fake.Server) {
		o.MaxTokens, o.Temperature, o.Seed = 100, &temperature, &seed
		o.Organization, o.Project, o.NoUsage = "org-1", "proj-1", true
		o.Headers = map[string]string{"X-Team": "voice"}
		o.Extra = map[string]any{"reasoning_effort": "low", "parallel_tool_calls": false}
	}
	r := question()
	r.Tools = []port.ToolSpec{{Name: "now", Description: "The time <now>"}, {Name: "book", Schema: []byte(` {"type":"object","properties":{"to":{"type":"string"}}} `)}}
	try(t, nil, settings, func(w *world) {
		w.lines(r)
		q := w.server.Requests()[0]
		if q.MaxTokens == nil || *q.MaxTokens != 100 || q.MaxCompletionTokens != nil || q.Temperature == nil || *q.Temperature != 0 ||
			q.Seed == nil || *q.Seed != 7 || q.StreamOptions != nil || q.ReasoningEffort != "low" || q.ParallelToolCalls == nil || *q.ParallelToolCalls {
			t.Errorf("request %+v", q)
		}
		for name, want := range map[string]string{
			"OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1", "X-Team": "voice",
			"Authorization": "Bearer " + testKey, "Accept": "text/event-stream", "User-Agent": "hocket",
		} {
			if got := q.Header.Get(name); got != want {
				t.Errorf("%s: %q, expected %q", name, got, want)
			}
		}
		if len(q.Tools) != 2 || q.Tools[0].Function.Description != "The time <now>" || string(q.Tools[0].Function.Parameters) != `{"type":"object","properties":{}}` ||
			q.Tools[1].Function.Name != "book" || !strings.Contains(string(q.Tools[1].Function.Parameters), `"to"`) {
			t.Errorf("tools %+v", q.Tools)
		}
	})
	t.Run("no key", func(t *testing.T) {
		try(t, nil, func(o *Options, s *fake.Server) { o.KeyEnv, s.Key = "", "" }, func(w *world) { w.lines(question()) })
	})
	t.Run("a wrong key", func(t *testing.T) {
		try(t, nil, func(_ *Options, s *fake.Server) { s.Key = "another" }, func(w *world) {
			f := w.failure(errclass.AuthFailure, "401", "Incorrect API key provided: [key]")
			if f.Retryable {
				t.Error("retryable")
			}
		})
	})
	t.Run("Azure", func(t *testing.T) {
		try(t, nil, func(o *Options, s *fake.Server) {
			o.BaseURL, o.APIVersion, o.Model, o.MaxTokens = "http://voice.openai.azure.test/", "2024-10-21", "gpt-voice", 50
			s.APIVersion, s.Model = o.APIVersion, o.Model
		}, func(w *world) {
			w.lines(question())
			if q := w.server.Requests()[0]; q.MaxCompletionTokens == nil || *q.MaxCompletionTokens != 50 || q.Header.Get("Authorization") != "" {
				t.Errorf("request %+v", q)
			}
		})
	})
}
