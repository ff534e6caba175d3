package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

const greeting = "Good day, how can I help?"

// scenario is a call with what is expected of it.
type scenario struct {
	name string
	plan func() plan
	want func(*call)
}

// withBargeIn is a conversation in which replies may be interrupted so.
func withBargeIn(o turn.BargeInOptions) conv.Options {
	return conv.Options{BargeIn: turn.Profiles{Reply: o}}
}

const answer = "I can do that for you. Shall I look for a flight in the morning or in the evening?"

// answerFrames is how many frames it lasts: its letters, without spaces, of 60 ms
// each.
var answerFrames = 3 * len(strings.ReplaceAll(answer, " ", ""))

// interrupted is a call whose first answer the person breaks into.
func interrupted(o turn.BargeInOptions, after int, says time.Duration, words string) plan {
	return plan{
		conv:    withBargeIn(o),
		texts:   []string{"book a flight to boston", words, ""},
		lines:   []line{{answers, 1200 * ms}, {over(after), says}},
		replies: []string{answer, "All right, in the evening."},
	}
}

var scenarios = []scenario{
	{"a question and its answer", func() plan {
		return plan{
			conv:    conv.Options{Greeting: greeting},
			texts:   []string{"book a flight to boston", "in the evening please"},
			lines:   []line{{answers, 1200 * ms}, {answers, 1000 * ms}},
			replies: []string{answer, "All right, in the evening."},
		}
	}, func(c *call) {
		c.wantPhases("preparing", "listening.ready", "speaking", "listening.ready", "listening.capturing", "processing.understanding",
			"processing.generating", "speaking", "listening.ready", "listening.capturing", "speaking", "listening.ready")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "in the evening please")
		c.wantSaid(conv.RoleAgent, greeting, answer, "All right, in the evening.")
		c.never("interrupted")
		c.never("faulted")
		if c.late != 0 {
			c.t.Errorf("%d late facts", c.late)
		}
	}},
	{"barge-in by words", func() plan { return interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening") }, func(c *call) {
		c.wantPhases("speaking", "interrupted stt.partial", "listening.capturing interrupt.cleared", "processing.understanding", "speaking")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "no in the evening")
		said := c.said(conv.RoleAgent)
		if len(said) != 2 || said[0] == "" || !strings.HasPrefix(answer, said[0]) || said[0] == answer {
			c.t.Errorf("of the answer %q was heard: want its beginning", said[0])
		}
		if !slices.Contains(c.effects, "duck_playout") {
			c.t.Error("the agent was not turned down before it was stopped")
		}
	}},
	{"barge-in by energy", func() plan {
		return interrupted(turn.BargeInOptions{Policy: turn.BargeInEnergy}, 50, 900*ms, "no in the evening")
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted speech.started", "listening.capturing", "speaking")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "no in the evening")
		said, stopped := -1, -1
		for i, m := range c.marks {
			if m.what == "says" {
				said = m.frame
			}
			if m.what == "interrupted" {
				stopped = c.marks[i].frame
			}
		}
		if stopped != said && !(c.live && stopped == said+1) { // on the clock both fall on the same beat
			c.t.Errorf("stopped in frame %d, the first loud one was %d", stopped, said)
		}
	}},
	{"barge-in by words alone", func() plan {
		return interrupted(turn.BargeInOptions{Policy: turn.BargeInWords}, 50, 900*ms, "no in the evening")
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted stt.partial", "listening.capturing", "speaking")
		if slices.Contains(c.effects, "duck_playout") {
			c.t.Error("turned down by a sound")
		}
	}},
	{"no barge-in", func() plan {
		return interrupted(turn.BargeInOptions{Policy: turn.BargeInNone}, 50, 900*ms, "no in the evening")
	}, func(c *call) {
		c.never("interrupted")
		c.wantPhases("speaking", "listening.ready", "speaking"[:0]+"terminating")
		if said := c.said(conv.RoleAgent); said[0] != answer {
			c.t.Errorf("%q was heard, want all of it", said[0])
		}
	}},
	{"a long sound without words", func() plan { return interrupted(turn.BargeInOptions{}, 50, 900*ms, "") }, func(c *call) {
		c.wantPhases("speaking", "interrupted speech.sustained", "listening.capturing", "listening.ready")
		c.wantSaid(conv.RoleUser, "book a flight to boston")
	}},
	{"a long sound without words, in the time of seed 000", func() plan {
		return interrupted(turn.SeedsBargeIn(), 50, 900*ms, "")
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted speech.sustained", "listening.capturing")
		began, cut := 0, false
		for _, m := range c.marks {
			limit := 0 // frames of 20 ms
			switch {
			case m.what == "says":
				began = m.frame
			case m.what == "interrupted": // REQ-007
				limit, cut = 150/20, true
			case m.what == "listening.capturing" && cut: // PER-002
				limit, cut = 400/20, false
			}
			if limit != 0 && m.frame-began > limit {
				c.t.Errorf("%s came %d frames after the voice, at most %d are wanted", m.what, m.frame-began, limit)
			}
		}
	}},
	{"a cough", func() plan { return interrupted(turn.BargeInOptions{}, 50, 160*ms, "") }, func(c *call) {
		c.never("interrupted")
		if !slices.Contains(c.effects, "duck_playout") || !slices.Contains(c.effects, "resume_playout") {
			c.t.Error("the agent was not turned down and up again")
		}
		c.wantSaid(conv.RoleAgent, answer)
		c.wantSaid(conv.RoleUser, "book a flight to boston")
	}},
	{"a backchannel", func() plan { return interrupted(turn.BargeInOptions{}, 50, 320*ms, "mhm") }, func(c *call) {
		c.never("interrupted")
		c.wantSaid(conv.RoleAgent, answer)
		c.wantSaid(conv.RoleUser, "book a flight to boston")
	}},
	{"three interruptions", func() plan {
		return plan{
			texts: []string{"book a flight", "no wait a moment", "stop that at once", "no i said stop", "goodbye then"},
			lines: []line{
				{answers, 900 * ms}, {over(40), 900 * ms}, {over(40), 900 * ms}, {over(40), 900 * ms}, {answers, 700 * ms},
			},
			replies: []string{answer, answer, answer, answer, "Goodbye."},
		}
	}, func(c *call) {
		if n := c.count("interrupted"); n != 3 {
			c.t.Errorf("%d interruptions, want 3\n%s", n, strings.Join(c.log, "\n"))
		}
		if len(c.said(conv.RoleUser)) != 5 || len(c.cancels) != 3 {
			c.t.Errorf("the user said %q, cancelled turns %v", c.said(conv.RoleUser), c.cancels)
		}
		if said := c.said(conv.RoleAgent); said[len(said)-1] != "Goodbye." {
			c.t.Errorf("the last answer was %q", said[len(said)-1])
		}
	}},
	{"an interruption in the first 20 ms", func() plan {
		return interrupted(turn.BargeInOptions{Policy: turn.BargeInEnergy}, 1, 900*ms, "no in the evening")
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted speech.started", "listening.capturing", "speaking")
		if said := c.said(conv.RoleAgent); len(said) < 2 || said[0] != "" {
			c.t.Errorf("the agent said %q: nothing of the first was heard", said)
		}
	}},
	{"an interruption at the very end", func() plan {
		p := interrupted(turn.BargeInOptions{Policy: turn.BargeInEnergy}, 1, 900*ms, "no in the evening")
		p.lines[1].when = over(answerFrames)
		return p
	}, func(c *call) {
		if c.live && c.next == 1 {
			return // on the clock the person may look before or behind the last frame
		}
		c.wantSaid(conv.RoleUser, "book a flight to boston", "no in the evening")
		if said := c.said(conv.RoleAgent); len(said) < 2 || said[0] != answer {
			c.t.Errorf("the agent said %q: all of the first was heard", said)
		}
	}},
	{"the user answers over the last words", func() plan {
		p := interrupted(turn.BargeInOptions{}, 1, 320*ms, "tomorrow")
		p.lines[1].when = over(answerFrames - 36)
		return p
	}, func(c *call) {
		// One word, shorter than the half second that interrupts: it is over when
		// the agent is, and it is the answer.
		c.never("interrupted")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "tomorrow")
		c.wantSaid(conv.RoleAgent, answer, "All right, in the evening.")
		c.wantPhases("speaking", "listening.ready playout.finished", "listening.capturing queued", "speaking")
	}},
	{"the user is still heard when the agent has finished", func() plan {
		p := interrupted(turn.BargeInOptions{}, 1, 500*ms, "tomorrow at noon")
		p.lines[1].when = over(answerFrames - 15)
		return p
	}, func(c *call) {
		c.never("interrupted")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "tomorrow at noon")
		c.wantSaid(conv.RoleAgent, answer, "All right, in the evening.")
		c.wantPhases("speaking", "listening.ready playout.finished", "listening.capturing queued", "speaking")
	}},
	{"the user picks a word of the question before it is over", func() plan {
		p := interrupted(turn.BargeInOptions{}, 1, 420*ms, "morning")
		p.lines[1].when = over(answerFrames - 15)
		return p
	}, func(c *call) {
		c.never("interrupted")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "morning")
	}},
	{"a word of the question comes back while it is asked", func() plan {
		p := interrupted(turn.BargeInOptions{}, 1, 420*ms, "morning")
		p.lines[1].when = over(answerFrames - 36)
		return p
	}, func(c *call) {
		// It cannot be told from an echo, and nobody speaks any more at the end.
		c.never("interrupted")
		c.wantSaid(conv.RoleUser, "book a flight to boston")
		c.wantSaid(conv.RoleAgent, answer)
	}},
	{"a noise while the agent thinks", func() plan {
		return plan{
			texts: []string{"book a flight to boston", ""}, replies: []string{answer}, think: 60,
			lines: []line{{answers, 1200 * ms}, {in("processing.understanding"), 300 * ms}},
		}
	}, func(c *call) {
		c.wantPhases("processing.understanding", "listening.capturing speech.started", "speaking")
		c.wantSaid(conv.RoleAgent, answer)
		if c.requests != 1 {
			c.t.Errorf("%d requests, want 1: a noise loses no answer", c.requests)
		}
	}},
	{"words while the agent thinks", func() plan {
		p := plan{
			texts: []string{"book a flight to boston", "no to denver"}, replies: []string{"Boston, then.", "Denver, then."}, think: 150,
			lines: []line{{answers, 1200 * ms}, {nil, 900 * ms}},
		}
		p.lines[1].when = func(m porttest.Moment) bool { return m.State == "processing.understanding" && m.N > 180 }
		return p
	}, func(c *call) {
		c.wantSaid(conv.RoleUser, "book a flight to boston", "no to denver")
		c.wantSaid(conv.RoleAgent, "Denver, then.")
	}},
	{"a voice before the held reply has sounded", func() plan {
		p := plan{
			texts: []string{"book a flight to boston", ""}, replies: []string{answer},
			lines: []line{{answers, 1200 * ms}},
		}
		// The voice comes in the frame in which the reply does, before its sound.
		p.each = func(c *call, _ int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.due) == 1 && c.due[0].frame == c.frame+2 && c.left == 0 && c.next == 1 {
				c.left, c.next = 20, 2
			}
		}
		p.lines = append(p.lines, line{func(porttest.Moment) bool { return false }, 0})
		return p
	}, func(c *call) {
		if c.live && c.count("interrupted") > 0 {
			return // on the clock the reply's first frame may be sooner
		}
		c.wantPhases("processing.understanding", "listening.capturing speech.started", "speaking")
		c.wantSaid(conv.RoleAgent, answer)
		// Nothing is heard while the voice is: see checkHeld.
		c.checkHeld()
	}},
	{"a silent user", func() plan {
		return plan{conv: conv.Options{Greeting: greeting}, stay: true}
	}, func(c *call) {
		c.wantPhases("speaking", "listening.ready", "processing.generating dead_air", "speaking", "listening.ready",
			"processing.generating dead_air", "speaking", "listening.ready", "processing.generating dead_air", "speaking",
			"listening.ready", "terminating dead_air")
		if said := c.said(conv.RoleAgent); len(said) != 4 {
			c.t.Errorf("the agent said %q", said)
		}
	}},
	{"a recognizer that never answers", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston", "hello hello"}, replies: []string{"Sorry?"},
			lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}},
			rec:   func(r *porttest.Recognizer) { r.Silent = true },
		}
	}, func(c *call) {
		// The words that were shown are taken.
		c.wantSaid(conv.RoleUser, "book a flight to boston", "hello hello")
		c.never("faulted")
	}},
	{"a recognizer that shows nothing and never answers", func() plan {
		return plan{
			conv:  conv.Options{Greeting: greeting},
			lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}}, replies: []string{"Sorry?"},
			rec: func(r *porttest.Recognizer) { r.Silent = true },
		}
	}, func(c *call) {
		c.wantPhases("listening.capturing", "processing.understanding no_transcript", "listening.ready", "listening.capturing", "listening.ready")
		c.wantSaid(conv.RoleUser)
		c.never("faulted")
	}},
	{"a recognizer that answers late", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston", "in the evening"}, replies: []string{answer, "Fine."},
			lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}},
			rec:   func(r *porttest.Recognizer) { r.Late = 40 },
		}
	}, func(c *call) {
		c.wantSaid(conv.RoleUser, "book a flight to boston", "in the evening")
		c.wantSaid(conv.RoleAgent, greeting, answer, "Fine.")
	}},
	{"a recognizer that answers when nobody waits any more", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston tomorrow morning", "in the evening"}, replies: []string{answer, "Fine."},
			lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}},
			rec:   func(r *porttest.Recognizer) { r.Late = 120 },
		}
	}, func(c *call) {
		// Each utterance is answered once, with the words that were shown; what the
		// recognizer says later stands in the history.
		c.wantSaid(conv.RoleUser, "book a flight to boston tomorrow morning", "in the evening")
		if want := []string{"book a flight to boston tomorrow", "in the evening"}; !slices.Equal(c.asked, want) {
			c.t.Errorf("the mind was asked %q, want %q", c.asked, want)
		}
	}},
	{"a recognizer that fails and is replaced", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"lost", "book a flight to boston"}, replies: []string{answer},
			lines: []line{{answers, 600 * ms}, {func(m porttest.Moment) bool { return m.N > 1000 && answers(m) }, 1200 * ms}},
			rec: func(r *porttest.Recognizer) {
				r.Fail = func(call string, n int) error {
					if call == "write" && n == 30 {
						return errors.New("the line to the engine broke")
					}
					return nil
				}
			},
		}
	}, func(c *call) {
		c.wantPhases("faulted fault", "preparing fault.timeout", "listening.ready", "listening.capturing", "speaking")
		c.wantSaid(conv.RoleUser, "lost", "book a flight to boston")
		if c.rec.Calls("open") != 2 || c.rec.Calls("close") != 2 {
			c.t.Errorf("%d streams opened, %d closed, want 2 and 2", c.rec.Calls("open"), c.rec.Calls("close"))
		}
	}},
	{"a recognizer that always fails", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, stay: true,
			lines: []line{{answers, 600 * ms}},
			rec: func(r *porttest.Recognizer) {
				r.Fail = func(call string, n int) error {
					if call == "begin" || call == "open" && n > 1 {
						return errors.New("no engine")
					}
					return nil
				}
			},
		}
	}, func(c *call) {
		// It is tried again and again, within the budget; then the call ends.
		c.wantPhases("faulted", "preparing", "listening.ready", "faulted", "terminating")
		if n := c.rec.Calls("open"); n < 3 || n > 6 {
			c.t.Errorf("%d attempts", n)
		}
	}},
	{"a voice that fails once", func() plan {
		failed := false
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{answers, 1200 * ms}},
			synth: func(s *porttest.Synthesizer) {
				s.Fail = func(string) error {
					if failed {
						return nil
					}
					failed = true
					return errors.New("no voice")
				}
			},
		}
	}, func(c *call) {
		c.wantPhases("faulted playout.failed", "preparing", "listening.ready", "listening.capturing", "speaking")
		c.wantSaid(conv.RoleAgent, "", greeting, answer) // the greeting that was lost is said again
		if !slices.Contains(c.problems, "fault.playback") {
			c.t.Errorf("problems %q", c.problems)
		}
	}},
	{"a voice that always fails", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"one two", "three four", "five six", "seven eight", "nine ten"}, replies: []string{answer},
			lines: []line{{answers, 700 * ms}, {answers, 700 * ms}, {answers, 700 * ms}, {answers, 700 * ms}, {answers, 700 * ms}}, stay: true,
			synth: func(s *porttest.Synthesizer) { s.Fail = func(string) error { return errors.New("no voice") } },
		}
	}, func(c *call) {
		c.never("speaking")
		c.wantPhases("faulted", "preparing", "faulted", "terminating")
	}},
	{"a voice that fails in the middle", func() plan {
		return plan{
			texts: []string{"book a flight to boston", "hello"}, replies: []string{answer, "Yes?"},
			lines: []line{{answers, 1200 * ms}, {answers, 500 * ms}},
			synth: func(s *porttest.Synthesizer) {
				s.Before = func(ctx context.Context, text string, emit func(port.Speech) error) error {
					if text == "Yes?" {
						return nil
					}
					for range 150 { // 3 s: behind a full buffer
						if err := emit(port.Speech{PCM: porttest.Tone(16000, 20*ms)}); err != nil {
							return err
						}
					}
					return errors.New("the engine died")
				}
			},
		}
	}, func(c *call) {
		c.wantPhases("speaking", "faulted playout.failed", "preparing", "listening.ready", "listening.capturing", "speaking")
		said := c.said(conv.RoleAgent)
		if len(said) != 2 || said[1] != "Yes?" {
			c.t.Errorf("the agent said %q", said)
		}
	}},
	{"a voice that makes nothing", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{answers, 1200 * ms}},
			synth: func(s *porttest.Synthesizer) { s.PerLetter = -1 },
		}
	}, func(c *call) {
		c.wantPhases("speaking", "listening.ready", "listening.capturing", "speaking", "listening.ready")
		c.never("faulted")
		if slices.Contains(c.spoke, true) {
			c.t.Error("something was heard")
		}
	}},
	{"a voice of one sample", func() plan {
		return plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{answers, 1200 * ms}},
			synth: func(s *porttest.Synthesizer) {
				s.PerLetter = -1
				s.Before = func(_ context.Context, _ string, emit func(port.Speech) error) error {
					return emit(port.Speech{PCM: []int16{5000}})
				}
			},
		}
	}, func(c *call) {
		c.wantPhases("speaking", "listening.ready", "listening.capturing", "speaking", "listening.ready")
		c.wantSaid(conv.RoleAgent, greeting, answer)
	}},
	{"a voice at another rate", func() plan {
		p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
		p.synth = func(s *porttest.Synthesizer) { s.SampleRate = 22050 }
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted", "speaking")
	}},
	{"a carrier that reports what it plays", func() plan {
		p := interrupted(turn.BargeInOptions{}, 80, 900*ms, "no in the evening")
		p.ack = true
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted", "speaking", "listening.ready")
		if len(c.leg.Clears()) != 1 {
			c.t.Errorf("the carrier was told %d times to drop what it has, want once", len(c.leg.Clears()))
		}
	}},
	{"typed lines", func() plan {
		p := plan{conv: conv.Options{Greeting: greeting}, replies: []string{answer, "Noted."}}
		p.each = func(c *call, n int) {
			switch n {
			case 40: // over the greeting
				c.must(c.s.SendText("book a flight"))
			case 200:
				c.must(c.s.SendText("to boston"))
			}
		}
		p.lines = []line{{func(m porttest.Moment) bool { return m.N > 400 && answers(m) }, 0}}
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted user.text", "speaking")
		c.wantSaid(conv.RoleUser, "book a flight", "to boston")
	}},
	{"a planned pause", func() plan {
		p := plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{answers, 1200 * ms}},
		}
		p.each = func(c *call, n int) {
			switch n {
			case 30: // in the middle of the greeting
				c.must(c.s.Suspend("diagnostics"))
			case 70:
				c.must(c.s.Resume())
			}
		}
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "suspended", "speaking", "listening.ready", "listening.capturing", "speaking")
		c.wantSaid(conv.RoleAgent, greeting, answer)
		if slices.Contains(c.spoke[33:70], true) {
			c.t.Error("the agent is heard during the pause")
		}
		if !c.spoke[73] {
			c.t.Error("the agent does not go on after the pause")
		}
	}},
	{"a planned pause that does not end", func() plan {
		p := plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{func(m porttest.Moment) bool { return m.N > 1900 && answers(m) }, 1200 * ms}},
		}
		p.each = func(c *call, n int) {
			if n == 200 {
				c.must(c.s.Suspend("diagnostics"))
			}
		}
		return p
	}, func(c *call) {
		// Given up after 30 s, as a line that is lost; the leg is there, and goes on:
		// capture and playout must not stand still for ever.
		c.wantPhases("suspended", "reconnecting suspended.timeout", "listening.ready", "listening.capturing", "speaking")
		c.wantSaid(conv.RoleUser, "book a flight to boston")
		c.never("faulted")
	}},
	{"a carrier that is lost for good", func() plan {
		p := plan{conv: conv.Options{Greeting: greeting}, stay: true}
		p.each = func(c *call, n int) {
			if n == 100 {
				c.s.postFact(conv.ConnectionLost{})
			}
		}
		return p
	}, func(c *call) {
		c.wantPhases("reconnecting", "faulted", "terminating")
	}},
	{"a carrier that is lost and comes back", func() plan {
		p := plan{
			conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer},
			lines: []line{{func(m porttest.Moment) bool { return m.N > 400 && answers(m) }, 1200 * ms}},
		}
		p.each = func(c *call, n int) {
			switch n {
			case 30: // in the middle of the greeting
				c.s.postFact(conv.ConnectionLost{})
			case 250: // behind the second attempt
				c.s.postFact(conv.ConnectionRestored{})
			}
		}
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "reconnecting connection.lost", "listening.ready connection.restored", "listening.capturing", "speaking")
		c.never("faulted")
		c.wantSaid(conv.RoleUser, "book a flight to boston")
		if n := c.effectCount("reconnect"); n != 1 && n != 2 {
			c.t.Errorf("%d attempts to reconnect in 4.4 s, want those at 1 s and 4 s", n)
		}
	}},
	{"an interruption by command", func() plan {
		p := plan{conv: conv.Options{Greeting: greeting}, lines: []line{{answers, 0}}}
		p.each = func(c *call, n int) {
			if n == 40 {
				c.must(c.s.HandleUserInterrupt("button"))
			}
		}
		return p
	}, func(c *call) {
		c.wantPhases("speaking", "interrupted user.interrupt", "listening.ready")
		c.never("listening.capturing")
	}},
}

func (c *call) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Error(err)
	}
}

// checkHeld: while the user has the floor the agent is not heard.
func (c *call) checkHeld() {
	c.t.Helper()
	held := -1
	for _, m := range c.marks {
		switch m.what {
		case "listening.capturing":
			held = m.frame
		case "speaking", "processing.generating", "processing.understanding", "listening.ready":
			if held >= 0 && slices.Contains(c.spoke[min(held+1, m.frame):m.frame], true) {
				c.t.Errorf("the agent is heard between frames %d and %d, while the user has the floor", held, m.frame)
			}
			held = -1
		}
	}
}

func TestVirtualCalls(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			c := hold(t, sc.plan())
			c.ok()
			sc.want(c)
			if t.Failed() {
				t.Logf("phases:\n%s", strings.Join(c.log, "\n"))
				t.Logf("marks: %v", c.marks)
			}
		})
	}
}

// The same call gives the same trace, byte for byte, on any number of
// processors.
func TestVirtualCallsAreDeterministic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, sc := range scenarios {
		runs := 3 // one with each number of processors
		if os.Getenv("HOCKET_LONG") != "" && (i < 3 || strings.Contains(sc.name, "fails in the middle")) {
			runs = 20 // `make soak`
		}
		t.Run(sc.name, func(t *testing.T) {
			var want []byte
			for n := range runs {
				runtime.GOMAXPROCS([]int{1, 4, 2}[n%3])
				c := hold(t, sc.plan())
				if n == 0 {
					want = c.trace.Bytes()
					continue
				}
				if got := c.trace.Bytes(); !bytes.Equal(got, want) {
					t.Fatalf("run %d differs: %s", n+1, difference(got, want))
				}
			}
		})
	}
}

// difference is the first line in which two traces part.
func difference(got, want []byte) string {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// The person hangs up in each phase that the call can be in.
func TestVirtualHangUpInEachPhase(t *testing.T) {
	seen := map[string]bool{}
	for _, phase := range conv.Phases() {
		name := phase.String()
		t.Run(name, func(t *testing.T) {
			p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
			p.conv.Greeting = greeting
			p.stay = true
			var c *call
			p.each = func(c *call, n int) {
				if n == 40 && (phase == conv.Suspended) {
					c.must(c.s.Suspend(""))
				}
				if n == 40 && phase == conv.Faulted {
					c.s.postFact(conv.Fault{Code: "UNKNOWN"})
				}
				if n == 40 && phase == conv.Reconnecting {
					c.s.postFact(conv.SessionExpired{})
				}
				if n == 300 && phase == conv.ToolRunning {
					c.s.postFact(conv.ToolCalled{ID: "1", Name: "weather"})
				}
				if n == 300 && phase == conv.Delegated {
					c.s.postFact(conv.ToolCalled{ID: "1", Name: "research", Long: true})
				}
				if c.s.conv.Phase() == phase {
					seen[name] = true
					c.leg.HangUp()
				}
			}
			p.setup = func(made *call) {
				c = made
				// Tools that run: they never answer.
				perform := c.s.Machine.o.Perform
				c.s.Machine.o.Perform = func(l *Loop, e conv.Effect) {
					switch e.(type) {
					case conv.RunTool, conv.StartTask:
						return
					}
					perform(l, e)
				}
			}
			p.think = 300
			if phase != conv.ToolRunning && phase != conv.Delegated {
				p.think = 25
			}
			hold(t, p)
			c.ok()
		})
	}
	for _, phase := range []string{
		"listening.ready", "listening.capturing", "processing.understanding", "processing.generating", "processing.tool",
		"processing.delegated", "speaking", "interrupted", "suspended", "reconnecting", "faulted",
	} {
		if !seen[phase] {
			t.Errorf("nobody hung up in %s", phase)
		}
	}
}

// breakLeg lets the leg fail where it reads or writes a frame or is cleared.
func (p *plan) breakLeg(where string, frame int, err error) {
	switch where {
	case "read":
		p.leg.Person = func(m porttest.Moment) porttest.Sound {
			if m.N == frame {
				return porttest.Sound{Err: err}
			}
			return porttest.Sound{PCM: porttest.Tone(16000, 20*ms)}
		}
	case "write":
		p.leg.OnWrite = func(_ context.Context, n int, _ audio.Frame) error {
			if n == frame {
				return err
			}
			return nil
		}
	case "clear":
		p.leg.OnClear = func(context.Context) error { return err }
	}
}

// A leg that fails ends the call with its error, whatever was going on.
func TestVirtualLegFails(t *testing.T) {
	broken := errors.New("the socket is closed")
	for frame := 0; frame < 400; frame += 23 {
		for _, where := range []string{"read", "write", "clear"} {
			p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
			p.breakLeg(where, frame, broken)
			c := hold(t, p)
			if !errors.Is(c.err, broken) || !strings.Contains(c.err.Error(), where) {
				t.Errorf("%s fails at frame %d: the call ended with %v", where, frame, c.err)
			}
			if err := c.s.Post(conv.UserStop{}); !errors.Is(err, ErrEnded) {
				t.Errorf("Post after the end: %v", err)
			}
		}
	}
}

// The trace cannot be written: the call ends with that, at whatever byte.
func TestVirtualTraceFails(t *testing.T) {
	p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
	whole := hold(t, p).trace.Len()
	for _, at := range []int{0, 100, 5000, whole / 2, whole - 1} {
		p.trace = &fullDisk{room: at}
		c := hold(t, p)
		if !errors.Is(c.err, errTrace) {
			t.Errorf("full after %d bytes of %d: the call ended with %v", at, whole, c.err)
		}
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		n := d.room
		d.room = 0
		return n, errTrace
	}
	d.room -= len(p)
	return len(p), nil
}

// The context ends at any frame: the call ends with it, and nothing stays
// behind.
func TestVirtualContextEnds(t *testing.T) {
	for frame := 0; frame < 400; frame += 13 {
		ctx, cancel := context.WithCancel(t.Context())
		p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
		p.each = func(_ *call, n int) {
			if n == frame {
				cancel()
			}
		}
		c := holdFor(ctx, t, p)
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("ended at frame %d: the call ended with %v", frame, c.err)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newCall(t, plan{})
	if err := c.s.RunVirtual(ctx, start); !errors.Is(err, context.Canceled) {
		t.Errorf("ended before the call: %v", err)
	}
}

// A voice that blocks holds the clock up; the end of the context frees it, and
// one that does not look at its context for a while is waited for.
func TestVirtualVoiceBlocks(t *testing.T) {
	for _, obedient := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			left := false
			p := plan{conv: conv.Options{Greeting: greeting}}
			p.synth = func(s *porttest.Synthesizer) {
				s.Before = func(ctx context.Context, _ string, _ func(port.Speech) error) error {
					if obedient {
						<-ctx.Done()
					} else {
						pass(2 * time.Minute) // deaf to its context
					}
					left = true
					return ctx.Err()
				}
			}
			c := holdFor(ctx, t, p)
			if !errors.Is(c.err, context.DeadlineExceeded) || !left {
				t.Errorf("the call ended with %v, the voice had ended: %v", c.err, left)
			}
		})
	}
}

// Opening fails: the call ends with the reason, and nothing stays open.
func TestVirtualOpenFails(t *testing.T) {
	rec := &porttest.Recognizer{Fail: func(string, int) error { return errors.New("no engine") }}
	for name, o := range map[string]Options{
		"recognizer":  {Recognizer: rec},
		"synthesizer": {Recognizer: &porttest.Recognizer{}, Synthesizer: &porttest.Synthesizer{SampleRate: 1}},
		"turn policy": {Recognizer: &porttest.Recognizer{}, Turn: turn.Options{Policy: "no such"}},
		"trace":       {Trace: &fullDisk{}},
		"privacy":     {Trace: &fullDisk{room: 1 << 20}, Conv: conv.Options{Privacy: conv.PrivacyNone}},
	} {
		o.Leg = porttest.NewLeg(porttest.LegOptions{})
		s, err := New(o)
		if err == nil {
			err = s.RunVirtual(t.Context(), start)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if r, ok := o.Recognizer.(*porttest.Recognizer); ok && r.OpenStreams() != 0 {
			t.Errorf("%s: a recognizer stream was never closed", name)
		}
		if s != nil && s.RunVirtual(t.Context(), start) == nil {
			t.Errorf("%s: it runs twice", name)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("no leg, and no error")
	}
	if _, err := New(Options{Leg: porttest.NewLeg(porttest.LegOptions{}), Conv: conv.Options{Language: "xx"}}); err == nil {
		t.Error("a language that nobody speaks, and no error")
	}
}

// A call longer than a session's life is not disturbed: the services are in this
// process, and so is their session.
func TestVirtualLongCall(t *testing.T) {
	if testing.Short() {
		t.Skip("35 minutes of virtual time")
	}
	c := hold(t, plan{
		conv:  conv.Options{Greeting: greeting, DeadAir: turn.DeadAirOptions{Off: true}},
		texts: []string{"still there"}, replies: []string{"Yes."},
		lines: []line{{func(m porttest.Moment) bool { return m.N >= 35*60*50 }, 700 * ms}},
	})
	c.ok()
	c.never("reconnecting")
	c.never("faulted")
	c.wantSaid(conv.RoleUser, "still there")
	if n := strings.Count(strings.Join(c.events, " "), "session.renewed"); n != 2 {
		t.Errorf("the session was renewed %d times in 35 minutes, want twice", n)
	}
}

// Post, and questions, from outside and from observers reach a call in virtual
// time too.
func TestVirtualPostsFromOutside(t *testing.T) {
	p := plan{conv: conv.Options{Greeting: greeting}, replies: []string{"Noted."}, stay: true}
	asked := make(chan error, 1)
	p.setup = func(c *call) {
		c.s.OnStateEnter(conv.Speaking, func(s StateChanged) {
			recent, err := c.s.Recent()
			if err != nil || len(recent) == 0 {
				t.Errorf("Recent in an observer: %v, %v", recent, err)
			}
			if c.requests == 0 {
				s.Loop.Post(conv.UserText{Text: "a line"})
			}
		})
	}
	p.each = func(c *call, n int) {
		if n == 200 {
			go func() {
				_, err := c.s.CanTransition(conv.UserStop{})
				asked <- err
			}()
			posted := make(chan error)
			go func() { posted <- c.s.EndConversation("enough") }()
			c.must(<-posted)
		}
	}
	c := hold(t, p)
	c.ok()
	c.wantSaid(conv.RoleUser, "a line")
	c.wantPhases("terminating user.stop")
	if err := <-asked; err != nil && !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

// A reply that began to play just before the user took the floor is held: the user
// is listened to as if the agent were silent.
func TestVirtualHeldReplyIsNotAudible(t *testing.T) {
	p := plan{
		texts: []string{"book a flight to boston", ""}, replies: []string{answer}, think: 60,
		lines: []line{{answers, 1200 * ms}, {in("processing.understanding"), 2 * time.Second}},
	}
	held := 0
	p.each = func(c *call, _ int) {
		st := c.s.conv.State()
		if !st.Reply.Held() || st.Reply.Text == "" {
			return
		}
		if held++; held == 1 {
			c.s.postFact(conv.PlayoutStarted{Turn: st.Reply.Turn, Part: 1}) // it was on its way
			return
		}
		if !st.Playout.Playing || c.s.sound.audible {
			t.Errorf("the playout plays: %v, the uplink was told that the agent is heard: %v", st.Playout.Playing, c.s.sound.audible)
		}
	}
	hold(t, p).ok()
	if held < 10 {
		t.Errorf("the reply was held for %d frames", held)
	}
}

const announcement = "One moment, I am going to look at what the weather does for you. "

// withTool is a mind that announces a tool, which takes so many frames, and
// answers when it has its result.
func withTool(frames int) func(*call) {
	return func(c *call) {
		perform := c.s.Machine.o.Perform
		c.s.Machine.o.Perform = func(l *Loop, e conv.Effect) {
			switch e := e.(type) {
			case conv.RequestReply:
				c.requests++
				switch {
				case e.Why == conv.RequestToolResult:
					c.after(10, conv.ReplyDone{Turn: e.Turn, Request: e.Request, Text: "It is sunny today."})
				case c.requests == 1:
					c.after(10,
						conv.ReplyDelta{Turn: e.Turn, Request: e.Request, Text: announcement},
						conv.ToolCalled{Turn: e.Turn, Request: e.Request, ID: "w", Name: "weather"},
						conv.ReplyDone{Turn: e.Turn, Request: e.Request})
				default:
					c.after(10, conv.ReplyDone{Turn: e.Turn, Request: e.Request, Text: "Anything else?"})
				}
			case conv.RunTool:
				c.after(frames, conv.ToolDone{ID: e.ID, Output: "sunny"})
			default:
				perform(l, e)
			}
		}
	}
}

// The announcement is talked over while the answer behind it waits already: only
// the announcement is cut, and the answer is heard whole, however far the voice
// had got with it.
func TestAnswerBehindACutAnnouncement(t *testing.T) {
	for _, c := range []struct {
		name string
		tool int
		ack  bool
	}{
		{"the answer waits", 5, false},
		{"the answer comes as it is cut", 30, false},
		{"the tool still runs", 120, false},
		{"a carrier that reports what it plays", 5, true},
	} {
		made := func() plan {
			p := plan{
				texts: []string{"how is the weather", ""}, ack: c.ack,
				lines: []line{{answers, 900 * ms}, {over(30), 800 * ms}}, // a noise of 800 ms
			}
			p.setup = withTool(c.tool)
			return p
		}
		want := func(t *testing.T, c *call) {
			c.ok()
			c.never("faulted")
			if len(c.flushed) != 1 || c.flushed[0].Part != 1 || c.flushed[0].Heard == 0 {
				t.Fatalf("flushed %+v, want part 1 once", c.flushed)
			}
			said := c.said(conv.RoleAgent)
			if len(said) != 2 || said[0] == "" || !strings.HasPrefix(announcement, said[0]+" ") || said[1] != "It is sunny today." {
				t.Errorf("the agent said %q, want the beginning of the announcement and the answer", said)
			}
			if said[0] != c.flushed[0].Text {
				t.Errorf("the history has %q, the playout says that %q was heard", said[0], c.flushed[0].Text)
			}
			// It was heard, and not only written down: 14 letters and a stop of 60 ms.
			loud := 0
			for _, spoke := range c.spoke {
				if spoke {
					loud++
				}
			}
			sent := int((c.flushed[0].Heard + audio.FrameDuration - 1) / audio.FrameDuration)
			if answer := loud - sent; !c.p.ack && (answer < 45 || answer > 46) {
				t.Errorf("%d frames of sound beside the %v of the announcement, want 45 of the answer", answer, c.flushed[0].Heard)
			}
		}
		t.Run(c.name, func(t *testing.T) {
			c := hold(t, made())
			want(t, c)
			if t.Failed() {
				t.Log(strings.Join(c.log, "\n"))
			}
		})
		t.Run(c.name+", live", func(t *testing.T) {
			live(t, made(), func(c *call) { want(t, c) })
		})
	}
}

// The agent speaks to its own announcement's end and behind it, in one turn,
// while a tool runs; and goes on after the announcement was cut off.
func TestVirtualAnswerAfterACutAnnouncement(t *testing.T) {
	p := plan{
		texts:   []string{"how is the weather", "tell me"},
		lines:   []line{{answers, 900 * ms}, {over(30), 900 * ms}},
		replies: nil,
	}
	p.setup = withTool(150)
	c := hold(t, p)
	c.ok()
	c.never("faulted")
	c.wantPhases("processing.tool", "processing.understanding", "processing.generating", "speaking", "listening.ready")
	if !slices.Contains(c.effects, "flush_playout") {
		t.Error("the announcement was not cut off")
	}
	if said := strings.Join(c.said(conv.RoleAgent), "|"); !strings.Contains(said, "It is sunny today.") {
		t.Errorf("the agent said %q", said)
	}
	// It was heard, and not only written down.
	last := 0
	for i, spoke := range c.spoke {
		if spoke {
			last = i
		}
	}
	for _, m := range c.marks {
		if m.what == "processing.tool" && last < m.frame+150 {
			t.Errorf("the last sound was in frame %d, the tool ran from %d for 150", last, m.frame)
		}
	}
}
