package conv_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/turn"
)

const guarded = `
slots:
  pin: {type: digits, length: 4, secret: %v, prompt: "What is your PIN?"}
  city: {type: string, prompt: "Which city?"}
flows:
  login:
    description: log in
    trigger: {intents: [log me in]}
    steps:
      - {step: a, type: collect, slot: pin}
      - {step: b, type: collect, slot: city}
      - {step: c, type: say, message: "So {city} it is."}
`

// BenchmarkStepVeiled is a frequent step by what the veil has to do: nothing, with an agent
// without secrets or before the first secret; behind it, with a history of some turns.
func BenchmarkStepVeiled(b *testing.B) {
	for _, c := range []struct {
		name   string
		secret bool
		lines  []string
		more   int // lines about nothing, for a history
	}{
		{"no secret slots", false, []string{"log me in", "4711", "Denver"}, 20},
		{"before the first", true, []string{"hello"}, 20},
		{"behind the first", true, []string{"log me in", "4711", "Denver"}, 0},
		{"behind the first, 20 turns", true, []string{"log me in", "4711", "Denver"}, 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			made, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: fmt.Appendf(nil, guarded, c.secret)}})
			if made == nil {
				b.Fatal(problems)
			}
			m, err := conv.New(conv.Options{Agent: made, Endpoint: turn.PolicyRecognizer, DeadAir: turn.DeadAirOptions{Off: true}})
			if err != nil {
				b.Fatal(err)
			}
			v, err := conv.NewVeil(m)
			if err != nil {
				b.Fatal(err)
			}
			now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
			step := func(ev conv.Event) {
				now = now.Add(10 * time.Millisecond)
				if _, err := v.Step(now, ev); err != nil {
					b.Fatal(err)
				}
			}
			var take func(effects []conv.Effect)
			take = func(effects []conv.Effect) {
				for _, e := range append([]conv.Effect(nil), effects...) {
					switch e := e.(type) {
					case conv.OpenSession:
						step(conv.SessionReady{ID: "s"})
					case conv.PrimeAudio:
						step(conv.AudioReady{})
					case conv.Speak:
						step(conv.PlayoutStarted{Turn: e.Turn, Part: e.Part})
					case conv.EndSpeech:
						step(conv.PlayoutFinished{Turn: e.Turn, Part: e.Part})
					default:
						continue
					}
					take(m.Last().Effects)
				}
			}
			say := func(ev conv.Event) { step(ev); take(m.Last().Effects) }
			say(conv.UserStart{})
			for _, line := range c.lines {
				say(conv.UserText{Text: line})
			}
			for i := range c.more {
				say(conv.UserText{Text: fmt.Sprintf("tell me about number %d of the list", i)})
			}
			step(conv.SpeechStarted{Utterance: 99})
			texts := []string{"and what", "and what about"}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				step(conv.STTPartial{Utterance: 99, Text: texts[i%2], Confidence: 0.9, Stability: 0.9})
			}
		})
	}
}
