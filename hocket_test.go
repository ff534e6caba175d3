package hocket_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

func parse(t *testing.T, text string) *hocket.Agent {
	t.Helper()
	a, err := hocket.ParseAgent(hocket.File{Name: "a.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// talk says the lines in a conversation by text and returns the agent's last
// answer.
func talk(t *testing.T, a *hocket.Agent, lines ...string) string {
	t.Helper()
	chat, err := a.Chat()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)
	reply, err := chat.Start(t.Context(), now)
	for _, line := range lines {
		if err != nil {
			t.Fatal(err)
		}
		reply, err = chat.Say(t.Context(), now, line)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(reply.Said, " ")
}

// TestSettingsHold checks that the engine settings in an agent's files apply to its
// calls.
func TestSettingsHold(t *testing.T) {
	a := parse(t, "settings: {language: de, turn: {policy: silence, silence: {after: 1s}}, barge_in: words, limits: {session: 90s}, speech: {voice: kal16}}\n"+
		"flows: {hi: {steps: [{step: a, type: say, message: Hallo.}]}}\n")
	o, err := hocket.Call{Agent: a}.Options()
	if err != nil {
		t.Fatal(err)
	}
	if o.Turn.Policy != "silence" || o.Turn.Silence.After != time.Second || o.Conv.Endpoint != "silence" ||
		o.Conv.BargeIn.Reply.Policy != turn.BargeInWords || o.Conv.Limits.Session != 90*time.Second || o.Voice != "kal16" || o.Conv.Language != "de" {
		t.Errorf("got %+v", o)
	}
	if !o.Conv.SpeakNotices || !o.Conv.ResumeAfterFalseInterruption {
		t.Error("a caller has no screen: notices must be spoken")
	}
	if o.Turn.Silence.Thresholds.EnergyHigh == turn.Off {
		t.Error("without a detector the level alone finds speech: it must not be off")
	}
}

// TestTrainedDetector checks that a trained detector turns off the level threshold,
// and a level detector does not.
func TestTrainedDetector(t *testing.T) {
	a := parse(t, "flows: {hi: {steps: [{step: a, type: say, message: Hello.}]}}\n")
	level, err := energy.New(energy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for d, off := range map[port.Detector]bool{level: false, &porttest.Detector{}: true} {
		o, err := hocket.Call{Agent: a, Detector: d}.Options()
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Onset.Thresholds.EnergyHigh == turn.Off; got != off {
			t.Errorf("%s: the level is off: %v, expected %v", d.Name(), got, off)
		}
	}
}

// TestRefused checks that errors in an agent are reported before its first
// conversation.
func TestRefused(t *testing.T) {
	say := "flows: {hi: {steps: [{step: a, type: say, message: Hello.}]}}\n"
	call := "flows: {hi: {steps: [{step: a, type: action, call: book}]}}\n"
	load := func(text string) error {
		_, err := hocket.ParseAgent(hocket.File{Name: "a.yaml", Data: []byte(text)})
		return err
	}
	session := func(text string, tools ...port.Tool) error {
		a := parse(t, text)
		a.Tools = tools
		_, err := hocket.Call{Agent: a, Leg: porttest.NewLeg(porttest.LegOptions{})}.Session()
		return err
	}
	nothing := func(context.Context, struct{}) (string, error) { return "", nil }
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a file":               {load("flows: 3"), "a.yaml:1"},
		"a setting":            {load("settings: {limits: {session: 10s}}\n" + say), "a.yaml:1:21: limits.session_warning: is 30s: expected less than session, 10s"},
		"no action":            {session("actions: {book: {}}\n" + call), "action book: expected a tool of this name in Tools, or http in the files"},
		"a type of no schema":  {session(say, hocket.Func("f", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil })), "tool f: "},
		"no struct":            {session(say, hocket.Func("f", "", func(context.Context, int) (int, error) { return 0, nil })), "tool f: the argument type must be a struct or a map"},
		"a name":               {session(say, hocket.Func("a b", "", nothing)), `tool "a b": the name must have`},
		"two of a name":        {session(say, hocket.Func("f", "", nothing), hocket.Func("f", "", nothing)), "f"},
		"what a call lacks":    {session("actions: {book: {}}\n"+call, hocket.Func("book", "", func(context.Context, struct{ Seat int }) (int, error) { return 0, nil })), "action book: book requires the input Seat"},
		"no agent":             {hocket.Call{}.Run(t.Context()), "Agent must be set"},
		"no leg":               {hocket.Call{Agent: parse(t, say)}.Run(t.Context()), "no leg"},
		"neither flows nor AI": {hocket.Call{Agent: &hocket.Agent{Name: "x"}}.Run(t.Context()), "agent x: files or a model must be set"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: got %v, expected %q", name, tc.err, tc.want)
		}
	}
	if _, ok := errors.AsType[*hocket.AgentError](load("flows: 3")); !ok {
		t.Error("the problems of files must be an *AgentError")
	}
}

// TestLoadAgent checks that an agent from a folder has the folder's name.
func TestLoadAgent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "desk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("flows: {hi: {trigger: {intents: [hi]}, steps: [{step: a, type: say, message: Hello.}]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := hocket.LoadAgent(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "desk" || a.Language() != "en" {
		t.Errorf("got %q, %q", a.Name, a.Language())
	}
	if said := talk(t, a, "hi"); said != "Hello." {
		t.Errorf("it said %q", said)
	}
}

// TestActionOverHTTP checks that an http action of the files works without program
// code.
func TestActionOverHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"name": r.URL.Query().Get("n") + "teen"})
	}))
	defer srv.Close()
	t.Setenv("SHOP", srv.URL)
	said := talk(t, parse(t, `
slots: {n: {type: integer, prompt: "Which one?"}}
actions: {look: {inputs: [n], outputs: [name], http: {method: GET, url: "${SHOP}/look?n={n}"}}}
flows:
  find:
    trigger: {intents: ["find something"]}
    steps:
      - {step: which, type: collect, slot: n}
      - {step: look, type: action, call: look}
      - {step: told, type: say, message: "It is {name}."}
`), "find something", "six")
	if said != "It is 6teen." {
		t.Errorf("it said %q", said)
	}
}

// TestModel checks that an agent made in Go answers with its model, which gets the
// instructions and the tools, and that a tool gets valid arguments.
func TestModel(t *testing.T) {
	type in struct {
		City string `json:"city"`
	}
	var asked []string
	var seen []port.Request
	a := &hocket.Agent{
		Name: "go", Greeting: "Hello.", Instructions: "Be brief.",
		Tools: []port.Tool{hocket.Func("weather", "the weather of a city", func(_ context.Context, i in) (string, error) {
			asked = append(asked, i.City)
			return "rain", nil
		})},
		Model: &porttest.Model{Answer: func(r port.Request) []port.Delta {
			seen = append(seen, r)
			switch last := r.Messages[len(r.Messages)-1]; {
			case last.Role == "tool" && last.Content == "rain":
				return []port.Delta{{Text: "It rains."}}
			case last.Role == "tool":
				return []port.Delta{{Call: &port.ToolCall{ID: "2", Name: "weather", Arguments: `{"city":"Ulm"}`}}}
			default:
				return []port.Delta{{Call: &port.ToolCall{ID: "1", Name: "weather", Arguments: `{"town":"Ulm"}`}}}
			}
		}},
	}
	if said := talk(t, a, "what is the weather in Ulm"); said != "It rains." {
		t.Errorf("it said %q", said)
	}
	if !slices.Equal(asked, []string{"Ulm"}) {
		t.Errorf("the function was called for %q: only arguments that fit may reach it", asked)
	}
	if seen[0].Instructions != "Be brief." || len(seen[0].Tools) != 1 || seen[0].Tools[0].Name != "weather" {
		t.Errorf("the model was asked %+v", seen[0])
	}
}

// TestModelInTheFile checks that one file is enough for an agent with a model, that a Model
// set by the program takes its place, and that the rules are those of the program.
func TestModelInTheFile(t *testing.T) {
	web := httptest.NewServer(&fake.Server{Key: "the-key", Answer: func(q fake.Request) fake.Answer { return fake.Text("I am " + q.Model + ".") }})
	defer web.Close()
	t.Setenv("FAKE_KEY", "the-key")
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	clerk := "instructions: You are a clerk.\n"
	at := "base_url: \"" + web.URL + "/v1\""

	a := parse(t, clerk+"model: {name: small, key_env: FAKE_KEY, "+at+"}\n")
	if said := talk(t, a, "who are you?"); said != "I am small." {
		t.Errorf("it said %q", said)
	}
	a.Model = &porttest.Model{Answer: func(port.Request) []port.Delta { return []port.Delta{{Text: "I am another."}} }}
	if said := talk(t, a, "who are you?"); said != "I am another." {
		t.Errorf("it said %q", said)
	}

	for name, tc := range map[string]struct{ text, want string }{
		"a key of others":   {"model: {name: m, key_env: OPENAI_API_KEY, " + at + "}\n" + clerk, "a.yaml:1:18: model.key_env: the key belongs to api.openai.com"},
		"an Azure key":      {"model: {name: m, api_version: x, " + at + "}\n" + clerk, "a.yaml:1:18: model.api_version: the key belongs to openai.azure.com"},
		"no scheme":         {"model: {name: m, base_url: \"localhost:11434/v1\"}\n" + clerk, "a.yaml:1:18: model.base_url: does not begin with http:// or https://"},
		"no name":           {"model: {" + at + "}\n" + clerk, "model: has no name"},
		"an unknown field":  {"model: {name: m, base_ulr: x}\n" + clerk, "base_ulr"},
		"a key that is not": {"model: {name: m, key_env: NOT_SET, " + at + "}\n" + clerk, "NOT_SET"},
	} {
		_, err := hocket.ParseAgent(hocket.File{Name: "a.yaml", Data: []byte(tc.text)})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: got %v, expected %q", name, err, tc.want)
		}
	}

	if _, err := parse(t, clerk).Chat(); err == nil || !strings.Contains(err.Error(), "a.yaml: the agent has instructions and no flows, and no language model is configured") {
		t.Errorf("got %v", err)
	}
	both := parse(t, clerk+"flows: {hi: {trigger: {intents: [hi]}, steps: [{step: a, type: say, message: Hello.}]}}\n")
	if said := talk(t, both, "tell me a joke", "hi"); said != "Hello." {
		t.Errorf("without a model the flows said %q", said)
	}
}

// TestFunctionFails checks that an error becomes a failure with a class, and that a
// failure is passed on unchanged.
func TestFunctionFails(t *testing.T) {
	for _, tc := range []struct{ err, want error }{
		{errors.New("closed"), &port.Failure{Code: errclass.ToolError, Message: "f: closed"}},
		{&port.Failure{Code: errclass.RateLimit, Message: "later"}, &port.Failure{Code: errclass.RateLimit, Message: "later"}},
	} {
		f := hocket.Func("f", "", func(context.Context, struct{}) (int, error) { return 0, tc.err })
		_, err := f.Call(t.Context(), port.ToolCall{Name: "f"}, nil)
		got, ok := errors.AsType[*port.Failure](err)
		want, _ := errors.AsType[*port.Failure](tc.want)
		if !ok || *got != *want {
			t.Errorf("got %v, expected %v", err, tc.want)
		}
	}
}

// TestFunctionPanics checks that a function that panics fails its call alone: the
// conversation goes on, and so does the program.
func TestFunctionPanics(t *testing.T) {
	a := parse(t, "actions: {reserve: {}}\nflows: {book: {trigger: {intents: [a table please]}, steps: [{step: a, type: action, call: reserve}]}}\n")
	a.Tools = []port.Tool{hocket.Func("reserve", "reserves a table", func(context.Context, map[string]any) (string, error) {
		panic("no table")
	})}
	if said := talk(t, a, "a table please"); !strings.Contains(said, "went wrong") {
		t.Errorf("%q", said)
	}
}

// TestNothingToParse checks that an error without a file names none.
func TestNothingToParse(t *testing.T) {
	if _, err := hocket.ParseAgent(); err == nil || err.Error() != "error: no files" {
		t.Errorf("%v", err)
	}
}

// TestVirtualCall: a call in virtual time, with its transcript.
func TestVirtualCall(t *testing.T) {
	a := parse(t, "settings: {greeting: Good day.}\nflows: {hi: {trigger: {intents: [thank you]}, steps: [{step: a, type: say, message: You are welcome.}]}}\n")
	voice := make([]int16, 320)
	for i := range voice {
		voice[i] = int16(8000 * (i%2*2 - 1))
	}
	spoke := 0
	leg := porttest.NewLeg(porttest.LegOptions{Person: func(m porttest.Moment) porttest.Sound {
		switch {
		case m.Quiet > 25 && m.N > 100 && spoke < 40:
			spoke++
			return porttest.Sound{PCM: voice}
		case spoke >= 40 && m.Quiet > 200:
			return porttest.Sound{Err: io.EOF}
		default:
			return porttest.Sound{}
		}
	}})
	var lines []string
	call := hocket.Call{
		Agent: a, Leg: leg, Recognizer: &porttest.Recognizer{Texts: []string{"thank you"}}, Synthesizer: &porttest.Synthesizer{},
		Said: func(s session.Spoken) { lines = append(lines, string(s.Role)+": "+s.Text) },
	}
	if err := call.RunVirtual(t.Context(), time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"agent: Good day.", "user: thank you", "agent: You are welcome."}; !slices.Equal(lines, want) {
		t.Errorf("got %q, expected %q", lines, want)
	}
}
