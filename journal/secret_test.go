package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

const vaultAgent = `
slots:
  pin: {type: digits, length: 4, secret: true, prompt: "What is your PIN?"}
  word: {type: string, secret: true, prompt: "And the password?"}
  city: {type: string, prompt: "Which city?"}
actions:
  log_in: {inputs: [pin, word], outputs: [right]}
  audit: {inputs: [pin], outputs: [report], long: true}
flows:
  login:
    description: log in
    trigger: {intents: [log me in]}
    steps:
      - {step: a, type: collect, slot: pin}
      - {step: w, type: collect, slot: word}
      - {step: b, type: action, call: log_in}
      - {step: c, type: branch, slot: pin, cases: {"4711": rich}, default: poor}
      - {step: rich, type: say, message: "You are the one.", next: d}
      - {step: poor, type: say, message: "You are somebody.", next: d}
      - {step: d, type: action, call: audit}
      - {step: e, type: set, slots: {pin: null, word: null}}
      - {step: f, type: collect, slot: city}
      - {step: g, type: say, message: "So {city} it is."}
`

// teller drives a conversation with the vault agent and records what may be shown.
type teller struct {
	t         *testing.T
	c         *conv.Conversation
	v         *conv.Veil
	w         *journal.Writer
	now       time.Time
	trace     bytes.Buffer
	shown     bytes.Buffer // what an observer sees: event, effects and state
	arguments []string     // of the calls, as the tools get them
	said      []string
	utterance int
	after     int
}

func newTeller(t *testing.T, o conv.Options, source string) *teller {
	t.Helper()
	o.Endpoint, o.DeadAir = turn.PolicyRecognizer, turn.DeadAirOptions{Off: true}
	h, err := journal.NewHeader(started, o, []agent.File{{Name: "agent.yaml", Data: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	s := &teller{t: t, c: c, now: started}
	if s.v, err = conv.NewVeil(c); err != nil {
		t.Fatal(err)
	}
	if s.w, err = journal.NewWriter(&s.trace, h); err != nil {
		t.Fatal(err)
	}
	s.step(conv.UserStart{})
	return s
}

// step takes facts, and those that follow from them.
func (s *teller) step(events ...conv.Event) {
	s.t.Helper()
	for len(events) > 0 {
		ev := events[0]
		events = events[1:]
		s.now = s.now.Add(10 * time.Millisecond)
		shown, err := s.v.Step(s.now, ev)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.w.Put(s.now, shown); err != nil {
			s.t.Fatal(err)
		}
		if shown.After != nil {
			s.after++
		}
		b, err := json.Marshal([]any{shown.Event, shown.Conversation.Last(), shown.Conversation.State()})
		if err != nil {
			s.t.Fatal(err)
		}
		s.shown.Write(append(b, '\n'))
		for _, e := range s.c.Last().Effects {
			events = append(events, s.perform(e)...)
		}
	}
}

func (s *teller) perform(e conv.Effect) []conv.Event {
	switch e := e.(type) {
	case conv.OpenSession:
		return []conv.Event{conv.SessionReady{ID: "s"}}
	case conv.PrimeAudio:
		return []conv.Event{conv.AudioReady{}}
	case conv.Speak:
		s.said = append(s.said, e.Text)
		return []conv.Event{conv.PlayoutStarted{Turn: e.Turn, Part: e.Part}}
	case conv.EndSpeech:
		return []conv.Event{conv.PlayoutFinished{Turn: e.Turn, Part: e.Part}}
	case conv.FlushPlayout:
		return []conv.Event{conv.PlayoutFlushed{Turn: e.Turn, Part: e.Part, Heard: e.Heard}}
	case conv.RunTool:
		s.arguments = append(s.arguments, e.Arguments)
		return []conv.Event{conv.ToolDone{ID: e.ID, Output: `{"right": true, "echo": ` + e.Arguments + `}`}}
	case conv.StartTask:
		s.arguments = append(s.arguments, e.Arguments)
		return []conv.Event{
			conv.TaskProgress{ID: e.ID, Text: "looking at 4711 with " + e.Arguments}, conv.TaskDone{ID: e.ID, Output: `{"report": "47-11 is fine", "n": 4711}`},
		}
	case conv.Release:
		return []conv.Event{conv.SessionEnded{}}
	default:
		return nil
	}
}

func (s *teller) types(text string) { s.t.Helper(); s.step(conv.UserText{Text: text}) }

// says simulates a voice: what is heard while it speaks, and at the end.
func (s *teller) says(text string, partials ...string) {
	s.t.Helper()
	s.utterance++
	n := s.utterance
	s.step(conv.SpeechStarted{Utterance: n})
	for _, p := range partials {
		s.step(conv.STTPartial{Utterance: n, Text: p, Confidence: 0.9, Stability: 0.9})
	}
	s.step(conv.SpeechStopped{Utterance: n}, conv.STTFinal{Utterance: n, Text: text, Confidence: 0.95, Endpoint: true})
}

// without fails if one of the texts occurs in what was recorded or shown, or if the
// trace does not replay by itself.
func (s *teller) without(secrets ...string) {
	s.t.Helper()
	for what, b := range map[string]*bytes.Buffer{"trace": &s.trace, "view of an observer": &s.shown} {
		for _, line := range strings.SplitAfter(b.String(), "\n")[1:] { // the first has the agent
			for _, secret := range secrets {
				if strings.Contains(strings.ToLower(line), strings.ToLower(secret)) {
					s.t.Errorf("the %s has %q: %.600s", what, secret, line)
				}
			}
		}
	}
	var last *conv.Conversation
	p := journal.Player{Each: func(_ journal.Line, _ conv.Event, c *conv.Conversation) { last = c }}
	if err := p.Play(bytes.NewReader(s.trace.Bytes())); err != nil {
		if d, ok := errors.AsType[*journal.Difference](err); ok {
			s.t.Fatalf("%v", d)
		}
		s.t.Fatal(err)
	}
	if p.Taken != s.after {
		s.t.Errorf("%d steps were taken as recorded, want %d", p.Taken, s.after)
	}
	replayed, err1 := last.Snapshot()
	shown, err2 := s.v.Shown().Snapshot()
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(replayed, shown) {
		s.t.Errorf("error %v; the replay ends with\n%s\nand the conversation shows\n%s", err, replayed, shown)
	}
}

// TestSecretIsNotInATrace checks that neither an utterance that answers a request
// for a secret nor the secret's value reaches the trace or observers, that the
// trace replays, and that tools get the secret.
func TestSecretIsNotInATrace(t *testing.T) {
	for _, c := range []struct {
		name string
		say  func(*teller)
	}{
		{"typed", func(s *teller) { s.types("log me in"); s.types("my pin is 4711"); s.types("Sesame") }},
		{"spoken", func(s *teller) {
			s.says("log me in", "log")
			s.says("it is four seven one one", "it", "it is four", "it is four seven", "it is four seven one")
			s.says("sesame", "ses", "sesame")
		}},
		{"misheard and asked again", func(s *teller) {
			s.types("log me in")
			s.says("forty seven eleven fifty", "forty", "forty seven")
			s.says("four seven one", "four seven one")
			s.says("4711", "47")
			s.says("sesame")
		}},
		{"corrected", func(s *teller) {
			s.types("log me in")
			s.types("8822")
			s.types("no, the pin is 4711")
			s.types("sesame")
		}},
		{"volunteered", func(s *teller) {
			s.says("log me in my pin is 4711", "log me", "log me in my pin", "log me in my pin is 47", "log me in my pin is 4711")
			s.types("sesame")
		}},
		{"broken into", func(s *teller) {
			s.types("log me in")
			s.step(conv.SpeechStarted{Utterance: 90})
			s.step(conv.STTPartial{Utterance: 90, Text: "four seven", Confidence: 0.9, Stability: 0.9})
			s.step(conv.ConnectionLost{}, conv.ConnectionRestored{})
			s.types("4711")
			s.types("sesame")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTeller(t, conv.Options{}, vaultAgent)
			c.say(s)
			if !slices.Equal(s.arguments, []string{`{"pin":"4711","word":"sesame"}`, `{"pin":"4711"}`}) && !slices.Equal(s.arguments, []string{`{"pin":"4711","word":"Sesame"}`, `{"pin":"4711"}`}) {
				t.Fatalf("the tools got %q; said %q", s.arguments, s.said)
			}
			s.types("Denver")
			if !slices.Contains(s.said, "You are the one.") && !strings.Contains(strings.Join(s.said, " "), "You are the one.") || !strings.Contains(strings.Join(s.said, " "), "Denver") {
				t.Errorf("said %q", s.said)
			}
			s.without("4711", "47-11", "8822", "sesame", "four seven", "forty", "is 47", `"47"`)
			if !bytes.Contains(s.trace.Bytes(), []byte("Denver")) {
				t.Error("a value that is not secret is gone too")
			}
			t.Logf("%d of the steps are facts, %d bytes", s.after, s.trace.Len())
		})
	}
}
