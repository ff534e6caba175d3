package session

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/seeds"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// The delays of the adapters that come with the engine, as their benchmarks measured them
// on two busy cores of x86-64; a client's connection is there before.
const (
	openDelay     = 353 * ms // provider/pocketsphinx BenchmarkOpen: a new decoder
	finalizeDelay = 225 * ms // BenchmarkUtterance/expected-cut: the final of a turn that is cut in a word
	voiceDelay    = 23 * ms  // provider/flite BenchmarkSpeak/slt: the first sound
	detectorDelay = 32 * ms  // detector/silero: one window
)

// measured is a recognizer that takes as long as a real one.
type measured struct{ *porttest.Recognizer }

func (r measured) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	pass(openDelay)
	s, err := r.Recognizer.Open(ctx, cfg, sink)
	return measuredStream{s}, err
}

type measuredStream struct{ port.RecognizerStream }

func (s measuredStream) Finalize() error {
	pass(finalizeDelay)
	return s.RecognizerStream.Finalize()
}

// limitsPlan is a call with services that take their time.
func limitsPlan(p plan) plan {
	p.stay, p.conv.DeadAir.Off = true, true
	p.parts = func(o *Options) { o.Recognizer = measured{o.Recognizer.(*porttest.Recognizer)} }
	p.synth = func(s *porttest.Synthesizer) {
		s.Before = func(context.Context, string, func(port.Speech) error) error {
			pass(voiceDelay)
			return nil
		}
	}
	return p
}

// moments are when something first happened in a call.
type moments map[string]time.Time

// timed holds a call on the clock of a bubble and notes when each fact was stepped, each
// phase entered, each effect decided ("-> request_reply") and each notice of a phase told
// ("told speaking"), the first time behind the last mark.
func timed(t *testing.T, p plan, mark func(m moments, what string)) moments {
	t.Helper()
	m := moments{}
	synctest.Test(t, func(t *testing.T) {
		m["start"] = time.Now()
		note := func(what string) {
			if _, seen := m[what]; !seen {
				m[what] = time.Now()
			}
			if mark != nil {
				mark(m, what)
			}
		}
		p.leg.Live = true
		c := newCall(t, p)
		c.live = true
		c.s.OnStep(func(s Step) { // on the loop's goroutine, as all that notes
			note(conv.EventType(s.Event))
			for _, tr := range s.Output.Transitions {
				note(tr.To.String())
			}
			for _, e := range s.Output.Effects {
				note("-> " + conv.EffectType(e))
			}
		})
		c.err = c.s.Run(t.Context())
		synctest.Wait()
		c.check()
	})
	return m
}

// TestSeedLimits holds the times of seed 000 (REQ-007, PER-001 to PER-003, AC-001, AC-004,
// AC-005) in virtual time, with the real adapters' delays and the real uplink, loop,
// downlink and pacing between them. What a network and a busy machine add is printed by
// `hocket bench latency`.
func TestSeedLimits(t *testing.T) {
	var f struct {
		TimingMS map[string]float64 `json:"timing_ms"`
	}
	seeds.Load(t, "agent-voice", &f)
	holds := func(name, what string, from, to time.Time) {
		t.Helper()
		limit, known := f.TimingMS[name]
		switch took := to.Sub(from); {
		case !known:
			t.Errorf("the table has no %s", name)
		case from.IsZero() || to.IsZero():
			t.Errorf("%s: it did not happen", what)
		case took < 0 || took > time.Duration(limit)*ms:
			t.Errorf("%s takes %v: expected at most %v ms", what, took, limit)
		default:
			t.Logf("%s: %v of %v ms", what, took, limit)
		}
	}

	// AC-001: from the call of Run to Listening, with a new decoder.
	end := func(c *call, n int) {
		if n == 500 {
			c.leg.HangUp()
		}
	}
	p := limitsPlan(plan{texts: []string{"book a flight"}, replies: []string{answer}, lines: []line{{answers, 700 * ms}}, each: end})
	m := timed(t, p, nil)
	holds("start_to_listening", "start to listening", m["start"], m["listening.ready"])

	// PER-001: from the end of the turn, by the default policy, to Processing and to the
	// request with the final words.
	holds("final_to_processing", "the end of the turn to processing", m["turn.ended"], m["processing.understanding"])
	holds("final_to_processing", "the end of the turn to the request with the final words", m["turn.ended"], m["-> request_reply"])
	if final := m["stt.final"].Sub(m["turn.ended"]); final < finalizeDelay {
		t.Errorf("the final words come %v behind the end of the turn: the recognizer took no time", final)
	}

	// REQ-007, PER-002, AC-004: a voice without words, by the preset that has the seed's
	// times; two words, by the default.
	for _, c := range []struct {
		name, detected string
		bargeIn        turn.Profiles
		text           string
	}{
		{"a voice", "speech.started", turn.Profiles{Greeting: turn.SeedsBargeIn(), Reply: turn.SeedsBargeIn()}, ""},
		{"two words", "words", turn.Profiles{}, "no wait a moment please"},
	} {
		p := limitsPlan(plan{
			conv: conv.Options{Greeting: answer, BargeIn: c.bargeIn}, texts: []string{c.text},
			lines: []line{{over(25), 1500 * ms}}, each: end,
		})
		p.rec = func(r *porttest.Recognizer) { r.PerWord = 100 * ms }
		words := 0
		m := timed(t, p, func(m moments, what string) {
			if what == "stt.partial" && m["interrupted"].IsZero() {
				if words++; words <= 2 {
					m["words"] = time.Now()
				}
			}
			if slices.Contains([]string{"listening.ready", "listening.capturing"}, what) && !m["interrupted"].IsZero() && m["back"].IsZero() {
				m["back"] = time.Now()
			}
		})
		detected := m[c.detected]
		holds("interrupt_preempts_speaking", c.name+" to interrupted", detected, m["interrupted"])
		holds("interrupt_preempts_speaking", c.name+" to silence", detected, m["-> flush_playout"])
		holds("interrupt_to_listening", c.name+" to listening, with the detector's window", detected.Add(-detectorDelay), m["back"])
	}

	// PER-003, AC-005: from the signal that the session is ready to the phase before.
	p = limitsPlan(plan{conv: conv.Options{Greeting: answer}})
	p.each = func(c *call, n int) {
		switch n {
		case 40:
			_ = c.s.Suspend("renewal")
		case 90:
			_ = c.s.Resume()
		}
		end(c, n)
	}
	m = timed(t, p, func(m moments, what string) {
		if what == "speaking" && !m["session.renewed"].IsZero() && m["again"].IsZero() {
			m["again"] = time.Now()
		}
	})
	if m["suspended"].IsZero() || !m["speaking"].Before(m["suspended"]) {
		t.Errorf("it was not suspended while it spoke: %v", m)
	}
	holds("resume_from_suspended", "ready to the phase before", m["session.renewed"], m["again"])
}
