package conv_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
)

// typical are the events of a call, each with the phase that it comes in.
func typical() []struct {
	name  string
	phase conv.Phase
	event conv.Event
} {
	return []struct {
		name  string
		phase conv.Phase
		event conv.Event
	}{
		{"speech.started", conv.ListeningReady, conv.SpeechStarted{Utterance: 9}},
		{"speech.stopped", conv.ListeningCapturing, conv.SpeechStopped{Utterance: 9}},
		{"stt.partial", conv.ListeningCapturing, conv.STTPartial{Utterance: 9, Text: "book a flight to", Confidence: 0.8}},
		{"stt.partial over the agent", conv.Speaking, conv.STTPartial{Utterance: 9, Text: "mhm", Confidence: 0.8}},
		{"stt.final", conv.ListeningCapturing, conv.STTFinal{Utterance: 9, Text: "book a flight", Confidence: 0.8}},
		{"turn.ended", conv.ListeningCapturing, conv.TurnEnded{Utterance: 9, Cause: "easyturn"}},
		{"reply.requested", conv.Understanding, conv.ReplyRequested{}},
		{"reply.delta", conv.Generating, conv.ReplyDelta{Text: " and"}},
		{"reply.delta, a sentence", conv.Generating, conv.ReplyDelta{Text: "Which day? "}},
		{"reply.done", conv.Speaking, conv.ReplyDone{}},
		{"playout.started", conv.Generating, conv.PlayoutStarted{}},
		{"playout.progress", conv.Speaking, conv.PlayoutProgress{Heard: time.Second}},
		{"playout.finished", conv.Speaking, conv.PlayoutFinished{}},
		{"barge-in", conv.Speaking, conv.UserInterrupt{Source: "vad"}},
		{"tool.called", conv.Waiting, conv.ToolCalled{ID: "n", Name: "search"}},
		{"tool.done", conv.ToolRunning, conv.ToolDone{ID: "a", Output: "3"}},
		{"late reply.delta", conv.Speaking, conv.ReplyDelta{Turn: 99, Text: "late"}},
		{"deadline, early", conv.Speaking, conv.DeadlinePassed{}},
	}
}

// ready is a conversation in the phase whose buffers have grown already, as they have
// in a call that is some turns old.
func ready(t testing.TB, p conv.Phase) *conv.Conversation {
	t.Helper()
	r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Conv
}

// script is a call of two turns with a barge-in, as events and the times between them.
func script(b testing.TB) (events []conv.Event, gaps []time.Duration) {
	lines := []string{
		"user.start", "session.ready", "audio.ready",
		"+800ms speech.started utterance=1",
	}
	for _, text := range []string{"book", "book a", "book a flight", "book a flight to", "book a flight to boston"} {
		lines = append(lines, fmt.Sprintf("+100ms stt.partial utterance=1 text=%q confidence=0.9", text))
	}
	lines = append(lines, "+100ms speech.stopped utterance=1", `+200ms stt.final utterance=1 text="book a flight to boston" confidence=0.9`, "reply.requested")
	for _, text := range []string{"Gladly", ". ", "From", " which", " city", " would", " you", " like", " to", " fly", "? "} {
		lines = append(lines, fmt.Sprintf("+20ms reply.delta text=%q", text))
	}
	lines = append(lines, "reply.done", "+20ms playout.started")
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("+100ms playout.progress heard_ms=%d", 100*(i+1)))
	}
	lines = append(lines, "+10ms speech.started utterance=2", `+200ms stt.partial utterance=2 text="from new york"`,
		"wait 60ms", `+100ms stt.final utterance=2 text="from new york please" confidence=0.9`, "reply.requested",
		"+100ms tool.called id=a name=search", `+300ms tool.done id=a output="3 flights"`, "reply.requested")
	for _, text := range []string{"There", " are", " three", ". "} {
		lines = append(lines, fmt.Sprintf("+20ms reply.delta text=%q", text))
	}
	lines = append(lines, "reply.done", "+20ms playout.started")
	for i := range 15 {
		lines = append(lines, fmt.Sprintf("+100ms playout.progress heard_ms=%d", 100*(i+1)))
	}
	lines = append(lines, "+20ms playout.finished", "+300ms user.stop", "session.ended")
	r, err := convtest.NewRun(conv.Options{Endpoint: "recognizer"}, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, text := range lines {
		l, err := convtest.ParseLine(text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Do(l); err != nil {
			b.Fatal(err)
		}
	}
	var last time.Duration
	for _, s := range r.Steps {
		events, gaps = append(events, s.Event), append(gaps, s.At-last)
		last = s.At
	}
	return events, gaps
}

// BenchmarkStep measures each typical event by itself, and all events of a call one
// behind the other. Goal: below 1 us, at most one allocation.
func BenchmarkStep(b *testing.B) {
	b.Run("call", func(b *testing.B) {
		events, gaps := script(b)
		c, err := conv.New(conv.Options{Endpoint: "recognizer"})
		if err != nil {
			b.Fatal(err)
		}
		now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			now = now.Add(gaps[i])
			c.Step(now, events[i])
			if i++; i == len(events) {
				i = 0
			}
		}
	})
	for _, c := range typical() {
		b.Run(c.name, func(b *testing.B) {
			m := ready(b, c.phase)
			st := m.Fork().State()
			// The state is put back before each step, and the clock reads around the
			// step alone. The median is told: other programs run here too.
			took := make([]time.Duration, 0, 1<<20)
			for b.Loop() {
				m.Become(st)
				from := time.Now()
				m.Step(st.Now, c.event)
				if d := time.Since(from); len(took) < cap(took) {
					took = append(took, d)
				}
			}
			b.ReportMetric(float64(median(took)-clockCost()), "ns/step")
			b.ReportMetric(0, "ns/op") // it has the putting back in it
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// clockCost is what two readings of the clock take.
func clockCost() time.Duration {
	var took [1000]time.Duration
	for i := range took {
		from := time.Now()
		took[i] = time.Since(from)
	}
	return median(took[:])
}

// BenchmarkSnapshot is what a checkpoint costs. Goal: below 100 us.
func BenchmarkSnapshot(b *testing.B) {
	m := ready(b, conv.Speaking)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
}
