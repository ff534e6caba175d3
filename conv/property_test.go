package conv_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/turn"
)

// drawOptions draws the policies and, now and then, limits that are small.
func drawOptions(t *rapid.T) conv.Options {
	o := conv.Options{
		Endpoint: rapid.SampledFrom([]turn.Policy{turn.PolicyEasyTurn, turn.PolicyRecognizer, turn.PolicySilence, turn.PolicyManual}).Draw(t, "endpoint"),
		Greeting: rapid.SampledFrom([]string{"", "Hello. How can I help?"}).Draw(t, "greeting"),
	}
	policies := []turn.BargeInPolicy{turn.BargeInHybrid, turn.BargeInEnergy, turn.BargeInWords, turn.BargeInNone}
	o.BargeIn.Reply.Policy = rapid.SampledFrom(policies).Draw(t, "barge_in")
	o.BargeIn.Thinking.Policy = rapid.SampledFrom([]turn.BargeInPolicy{turn.BargeInHybrid, turn.BargeInNone}).Draw(t, "thinking")
	o.SpeakNotices = rapid.Bool().Draw(t, "speak_notices")
	o.ResumeAfterFalseInterruption = rapid.Bool().Draw(t, "resume")
	o.SpeechToSpeech = rapid.IntRange(0, 3).Draw(t, "speech_to_speech") == 0
	o.SummaryTurns = rapid.SampledFrom([]int{-1, 1, 2, 20}).Draw(t, "summary")
	if rapid.IntRange(0, 9).Draw(t, "history") == 0 {
		o.HistoryLimit = 6 // rarely: what is forgotten cannot be compared
	}
	if rapid.Bool().Draw(t, "small") {
		o.Limits.Calls, o.Limits.Queue, o.Limits.BreakerFaults, o.Retry.Max = 2, 2, 2, 1
	}
	return o
}

// texts are what is said, of every worth to the filters.
var texts = []string{"", "mhm", "um", "stop", "boston", "book a flight", "I can help", "Where to", "ümläut  and <b>&amp;", "Denver", "yes", "cancel"}

// pieces are what a model streams.
var pieces = []string{"", " ", "Well", "I can help. ", "Where to? ", "Dr. Smith", " is in.\n", "日本語。", "and"}

// contexts are what a client sets.
var contexts = []string{
	"", "no JSON", `[]`, `{"notes":{}}`, `{"operations":{}}`, `{"files":{"a":1,"a":2}}`,
	`{"files":{"a.go":{"line":3,"note":"<b>&amp;\u0041 日本\ud800"}}}`, `{"files":{"a.go":null},"preferences":{"language":"de"}}`,
	`{"files":null,"preferences":{"speed":1.50}}`, `{"preferences":{"x":"` + strings.Repeat("y", 16<<10) + `"}}`,
}

// commands are what a model understands of it.
var commands = []string{
	"", "no JSON", `{"commands":[]}`,
	`{"commands":[{"type":"start_flow","flow":"book_flight"}]}`,
	`{"commands":[{"type":"start_flow","flow":"book_flight"},{"type":"set_slot","slot":"destination","value":"Berlin"}]}`,
	`{"commands":[{"type":"set_slot","slot":"destination","value":"Rome"},{"type":"confirm"}]}`,
	`{"commands":[{"type":"cancel"},{"type":"start_flow","flow":"no such flow"}]}`,
	`{"commands":[{"type":"chitchat"},{"type":"repeat"},{"type":"handoff"}]}`,
}

// world is a driver of whom anything may be expected: it knows the numbers of the
// conversation and reports facts about the present, the past and nothing.
type world struct {
	t         *rapid.T
	c         *conv.Conversation
	utterance int
	calls     int
	said      []string // what the user may say; nil: texts
}

func (w *world) number(current int, what string) int {
	switch rapid.IntRange(0, 9).Draw(w.t, what) {
	case 0:
		return max(0, current-1)
	case 1:
		return current + 7
	case 2, 3, 4:
		return 0
	default:
		return current
	}
}

func (w *world) stretch() int {
	switch rapid.IntRange(0, 5).Draw(w.t, "utterance") {
	case 0:
		return 0
	case 1:
		return max(0, w.utterance-1)
	default:
		return w.utterance
	}
}

func (w *world) text() string { return rapid.SampledFrom(texts).Draw(w.t, "text") }
func (w *world) says() string {
	if w.said == nil {
		return w.text()
	}
	return rapid.SampledFrom(w.said).Draw(w.t, "said")
}
func (w *world) share() float64 { return float64(rapid.IntRange(0, 10).Draw(w.t, "share")) / 10 }
func (w *world) flag() bool     { return rapid.Bool().Draw(w.t, "flag") }

func (w *world) call() string {
	if open := w.c.State().Calls; len(open) > 0 && w.flag() {
		return open[len(open)-1].ID
	}
	if w.calls == 0 || rapid.IntRange(0, 9).Draw(w.t, "unknown call") == 0 {
		return rapid.SampledFrom([]string{"", "nobody"}).Draw(w.t, "call")
	}
	return fmt.Sprint("c", rapid.IntRange(max(1, w.calls-2), w.calls).Draw(w.t, "call"))
}

func (w *world) heard() time.Duration {
	return time.Duration(rapid.IntRange(0, 5000).Draw(w.t, "heard")) * time.Millisecond
}

func (w *world) code() string {
	names := []string{"", "rate-limit"}
	for _, class := range errclass.All() {
		names = append(names, class.Name)
	}
	return rapid.SampledFrom(names).Draw(w.t, "code")
}

// likely are the events that a driver in its right mind reports in a phase. Half
// of the events are drawn from here, so that sequences get anywhere.
func likely(p conv.Phase) []string {
	floor := []string{"speech.started", "speech.stopped", "stt.partial", "stt.final", "turn.ended"}
	reply := []string{"reply.requested", "reply.delta", "reply.delta", "reply.done", "playout.started", "tool.called", "reply.failed"}
	switch p {
	case conv.Idle:
		return []string{"user.start", "session.ready"}
	case conv.Preparing:
		return []string{"audio.ready", "session.ready"}
	case conv.ListeningReady, conv.ListeningCapturing, conv.Interrupted:
		return append(floor, "history.summarized")
	case conv.Understanding, conv.Waiting, conv.Generating:
		return append(reply, floor...)
	case conv.ToolRunning:
		return append(floor, "tool.done", "tool.failed", "playout.finished", "reply.done")
	case conv.Delegated:
		return append(floor, "task.done", "task.failed", "task.progress")
	case conv.Speaking:
		return append(floor, "playout.progress", "playout.finished", "reply.delta", "reply.done", "tool.called", "playout.finished")
	case conv.Suspended:
		return append(append(reply, floor...), "session.renewed", "session.renewed", "tool.done", "task.done")
	case conv.Reconnecting:
		return []string{"connection.restored", "session.ready", "reconnect.failed"}
	case conv.Faulted:
		return []string{"user.start", "user.cancel", "deadline"}
	case conv.Terminating:
		return []string{"session.ended"}
	default:
		panic(p)
	}
}

// draw draws an event.
func (w *world) draw() conv.Event {
	st := w.c.State()
	kinds := conv.EventTypes()
	if rapid.IntRange(0, 2).Draw(w.t, "any") != 0 {
		kinds = likely(st.Phase)
	}
	switch kind := rapid.SampledFrom(kinds).Draw(w.t, "event"); kind {
	case "speech.started":
		w.utterance++
		return conv.SpeechStarted{
			Turn: w.number(st.User.Turn, "turn"), Utterance: w.stretch(),
			Source: rapid.SampledFrom([]conv.Source{"", "vad", "energy", "push_to_talk"}).Draw(w.t, "source"),
			Lag:    time.Duration(rapid.IntRange(0, 300).Draw(w.t, "lag")) * time.Millisecond,
		}
	case "speech.stopped":
		return conv.SpeechStopped{Turn: w.number(st.User.Turn, "turn"), Utterance: w.stretch()}
	case "stt.partial":
		return conv.STTPartial{Turn: w.number(st.User.Turn, "turn"), Utterance: w.stretch(), Text: w.says(), Confidence: w.share(), Stability: w.share()}
	case "stt.final":
		return conv.STTFinal{Turn: w.number(st.User.Turn, "turn"), Utterance: w.stretch(), Text: w.says(), Confidence: w.share(), Endpoint: w.flag()}
	case "turn.ended":
		return conv.TurnEnded{
			Turn: w.number(st.User.Turn, "turn"), Utterance: w.stretch(),
			Cause: rapid.SampledFrom([]conv.EndCause{"", "silence", "easyturn", "semantic", "manual", "max_duration"}).Draw(w.t, "cause"),
		}
	case "user.text":
		return conv.UserText{Text: w.says()}
	case "user.interrupt":
		return conv.UserInterrupt{Source: rapid.SampledFrom([]conv.Source{"", "vad", "button", "words"}).Draw(w.t, "source"), Heard: w.heard()}
	case "reply.requested":
		return conv.ReplyRequested{Turn: w.number(st.Reply.Turn, "turn"), Request: w.number(st.Reply.Request, "request")}
	case "reply.delta":
		return conv.ReplyDelta{Turn: w.number(st.Reply.Turn, "turn"), Request: w.number(st.Reply.Request, "request"), Text: rapid.SampledFrom(pieces).Draw(w.t, "piece")}
	case "reply.done":
		texts := pieces
		switch st.Reply.Why {
		case conv.RequestUnderstanding:
			texts = commands
		case conv.RequestWording:
			texts = []string{"", "Which city is it?", "Where to?", "Booked for you, the reference is X1."}
		default:
		}
		return conv.ReplyDone{Turn: w.number(st.Reply.Turn, "turn"), Request: w.number(st.Reply.Request, "request"), Text: rapid.SampledFrom(texts).Draw(w.t, "piece"), Silent: rapid.IntRange(0, 9).Draw(w.t, "silent") == 0}
	case "reply.failed":
		return conv.ReplyFailed{Turn: w.number(st.Reply.Turn, "turn"), Request: w.number(st.Reply.Request, "request"), Code: w.code(), Retryable: w.flag()}
	case "tool.called":
		id := w.call()
		if rapid.IntRange(0, 3).Draw(w.t, "new call") != 0 {
			w.calls++
			id = fmt.Sprint("c", w.calls)
		}
		return conv.ToolCalled{Turn: w.number(st.Reply.Turn, "turn"), Request: w.number(st.Reply.Request, "request"), ID: id, Name: "tool", Long: w.flag(), Confirm: w.flag()}
	case "tool.done":
		return conv.ToolDone{ID: w.call(), Output: w.text()}
	case "tool.failed":
		return conv.ToolFailed{ID: w.call(), Code: w.code(), Message: "it broke", Output: w.text(), Fatal: w.flag()}
	case "task.progress":
		return conv.TaskProgress{ID: w.call(), Text: w.text()}
	case "task.done":
		return conv.TaskDone{ID: w.call(), Output: w.text()}
	case "task.failed":
		return conv.TaskFailed{ID: w.call(), Code: w.code(), Output: w.text()}
	case "user.cancel":
		id := ""
		if w.flag() {
			id = w.call()
		}
		return conv.UserCancel{ID: id}
	case "history.summarized":
		return conv.Summarized{Request: w.number(st.Summary.Request, "request"), Text: w.text()}
	case "playout.started":
		return conv.PlayoutStarted{Turn: w.number(st.Reply.Turn, "turn"), Part: min(w.number(st.Reply.Part, "part"), st.Reply.Part)}
	case "playout.progress":
		return conv.PlayoutProgress{Turn: w.number(st.Reply.Turn, "turn"), Heard: w.heard()}
	case "playout.finished":
		return conv.PlayoutFinished{Turn: w.number(st.Reply.Turn, "turn"), Part: min(w.number(st.Reply.Part, "part"), st.Reply.Part), Heard: w.heard()}
	case "playout.failed":
		return conv.PlayoutFailed{Turn: w.number(st.Reply.Turn, "turn"), Code: w.code()}
	case "playout.flushed":
		return conv.PlayoutFlushed{Turn: max(0, st.LastTurn-rapid.IntRange(0, 3).Draw(w.t, "flushed")), Heard: w.heard()}
	case "session.renewal":
		return conv.SessionRenewal{Source: rapid.SampledFrom([]conv.Source{"", "diagnostics"}).Draw(w.t, "source")}
	case "session.configured":
		return conv.SessionConfigured{
			BargeIn:    rapid.SampledFrom([]turn.BargeInPolicy{"", turn.BargeInEnergy, turn.BargeInNone}).Draw(w.t, "barge-in"),
			ListenOnly: w.flag(),
		}
	case "context.set":
		return conv.ContextSet{Data: rapid.SampledFrom(contexts).Draw(w.t, "context")}
	case "connection.lost":
		return conv.ConnectionLost{Retryable: w.flag()}
	case "reconnect.failed":
		return conv.ReconnectFailed{Retryable: w.flag()}
	case "fault":
		return conv.Fault{Code: w.code(), Fatal: rapid.IntRange(0, 9).Draw(w.t, "fatal") == 0}
	default:
		ev, err := conv.UnmarshalEvent([]byte(`{"type":"` + kind + `"}`))
		if err != nil {
			w.t.Fatal(err)
		}
		return ev
	}
}

// pause draws how much time passes before the next event: mostly little, now and
// then enough for any deadline.
func (w *world) pause() time.Duration {
	ms := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, 3000), rapid.IntRange(0, 40_000)).Draw(w.t, "pause")
	if rapid.IntRange(0, 60).Draw(w.t, "long") == 0 {
		ms *= 30
	}
	return time.Duration(ms) * time.Millisecond
}

// TestAnySequence steps random facts at random times, with every deadline fired
// when it is due, and holds every step against convtest.Checker. Then the run must
// come out the same when it is stepped again, replayed from its trace, and
// restored from a snapshot after every step.
func TestAnySequence(t *testing.T) {
	anySequence(t, nil)
}

// TestAnySequenceWithFlows is the same with a dialogue that answers, whose actions
// are the tools.
func TestAnySequenceWithFlows(t *testing.T) {
	b, err := os.ReadFile("testdata/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []struct{ name, model string }{
		{"words", ""},
		{"wording", "  rephrase_responses: true\n"},
		{"model", "  model: {understanding: true, answers: true}\n"},
	} {
		t.Run(how.name, func(t *testing.T) {
			text := strings.Replace(string(b), "settings:\n", "settings:\n"+how.model, 1)
			text = strings.Replace(text, "      - {step: run,", "      - {step: sure, type: confirm, message: \"To {destination}, shall I?\"}\n      - {step: run,", 1)
			anySequence(t, []agent.File{{Name: "agent.yaml", Data: []byte(text)}})
		})
	}
}

func anySequence(t *testing.T, agent []agent.File) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		r, err := convtest.NewRun(drawOptions(t), agent, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, c: r.Conv}
		if rapid.IntRange(0, 9).Draw(t, "cold") != 0 {
			for _, ev := range []conv.Event{conv.UserStart{}, conv.SessionReady{}, conv.AudioReady{}} {
				if _, err := r.Do(convtest.Line{Event: ev}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			out, err := r.Do(convtest.Line{At: w.pause(), Event: w.draw()})
			t.Log(out)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAnyTiming is the same with a driver whose timer is late, early or double:
// deadlines pass unfired until the driver happens to step one.
func TestAnyTiming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := conv.New(drawOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		k := convtest.NewChecker(c)
		w := &world{t: t, c: c}
		started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		now := started
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(w.pause())
			var ev conv.Event = conv.DeadlinePassed{}
			if rapid.IntRange(0, 3).Draw(t, "deadline") != 0 {
				ev = w.draw()
			}
			at := now
			if rapid.IntRange(0, 20).Draw(t, "clock goes back") == 0 {
				at = now.Add(-time.Minute)
			}
			line, err := conv.MarshalEvent(ev)
			t.Logf("%v %s (%v)", at.Sub(started), line, err)
			if err := k.Step(at, ev); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestRepeatedDeadlinesDoNothing: after a deadline has fired, firing again at the
// same instant, and at any before the next one, changes nothing.
func TestRepeatedDeadlinesDoNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := convtest.NewRun(drawOptions(t), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, c: r.Conv}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if _, err := r.Do(convtest.Line{At: w.pause(), Event: w.draw()}); err != nil {
				t.Fatal(err)
			}
		}
		before, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		now := r.Conv.State().Now
		if next := r.Conv.NextDeadline(); !next.IsZero() && !next.After(now) {
			return // due: it may do something
		}
		for range 2 {
			if effects := r.Conv.Step(now, conv.DeadlinePassed{}); len(effects) > 0 {
				t.Fatalf("an early deadline has effects: %v", effects)
			}
		}
		after, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Fatalf("an early deadline changed the state:\n%s\n%s", before, after)
		}
	})
}
