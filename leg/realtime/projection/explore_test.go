package projection_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/timers"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// walk is one exploration of the machine together with the projection.
type walk struct {
	name   string
	o      projection.Options
	inputs [][]input
	events func(conv.Event) bool
	greets bool // the agent has a greeting
}

// options returns the machine's options for this protocol, with low limits for its
// counters.
func (w walk) options() conv.Options {
	o := projection.MachineOptions(conv.Options{})
	if w.greets {
		o.Greeting = "Hello."
	}
	o.Limits.BreakerFaults, o.Retry.Recover = 2, 1
	o.Limits.Calls, o.Limits.Queue = 1, 1
	o.Limits.Feedback = []conv.Feedback{{After: 0, Code: "working.0"}}
	return o
}

// session returns the default configuration with a change.
func session(change func(*wire.Session)) wire.Session {
	s := wire.NewSession(wire.TypeRealtime)
	s.Input.Transcription = &wire.Transcription{}
	change(&s)
	return s
}

func spoken(*wire.Session) {}

func written(s *wire.Session) {
	s.OutputModalities = []string{"text"}
	s.Input.TurnDetection = nil
}

// answering allows the events of an answer and its playout.
func answering(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SessionReady, conv.AudioReady:
		return true
	case conv.ReplyDelta:
		return e.Text != "late" && e.Text != "Well. "
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	default:
		return false
	}
}

// listening also allows the events of the person's voice.
func listening(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.SpeechStopped:
		return true
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm" && e.Text != "never mind"
	case conv.TurnEnded:
		return e.Turn == 0 && e.Cause == "manual"
	default:
		return answering(ev)
	}
}

// unmodelled excludes the events of the model and the voice, which are then inputs.
func unmodelled(ev conv.Event) bool {
	switch ev.(type) {
	case conv.ReplyDelta, conv.ReplyDone, conv.PlayoutStarted:
		return false
	default:
		return listening(ev)
	}
}

// failing also allows the events of failures.
func failing(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ReplyFailed, conv.PlayoutFailed:
		return true
	case conv.Fault:
		return e.Code == "UNKNOWN"
	case conv.ConnectionLost:
		return !e.Retryable
	case conv.ConnectionRestored, conv.UserStop, conv.SessionEnded:
		return true
	default:
		return answering(ev)
	}
}

// silent configures a client that only wants the responses it asks for.
func silent(s *wire.Session) { s.Input.TurnDetection.CreateResponse = false }

// transcribing configures a client that wants no responses.
func transcribing(s *wire.Session) { s.Type = wire.TypeTranscription }

func walks() []walk {
	return []walk{
		{"a voice", projection.Options{Session: session(spoken)}, [][]input{talking, asking}, listening, false},
		{"a voice, cut off", projection.Options{Session: session(spoken)}, [][]input{talking, cutting, asking[1:2]}, listening, false},
		{"a call", projection.Options{Session: session(spoken), Plays: true}, [][]input{talking, cutting, asking[:2]}, listening, false},
		{"in writing", projection.Options{Session: session(written)}, [][]input{talking, asking, typing}, answering, false},
		{"commits", projection.Options{Session: session(written)}, [][]input{talking, asking[:1], committing, configuring}, answering, false},
		{"beside", projection.Options{Session: session(written)}, [][]input{talking, asking[:2], besides}, answering, false},
		{"failures", projection.Options{Session: session(spoken)}, [][]input{talking, asking}, failing, false},
		{"a greeting", projection.Options{Session: session(spoken)}, [][]input{talking, asking, typing[:1]}, listening, true},
		{"no response unasked", projection.Options{Session: session(silent)}, [][]input{talking, asking, modelled}, unmodelled, true},
		{"a transcription", projection.Options{Session: session(transcribing)}, [][]input{talking, asking[:2], committing[:2], modelled}, unmodelled, true},
	}
}

// config returns the configuration of the exploration.
func (w walk) config(most int, mutant func([]wire.Event) []wire.Event) explore.Config {
	w.o.Greets = w.greets
	f := newFollower(w.o, slices.Concat(w.inputs...), mutant)
	f.events = w.events
	return explore.Config{
		Name: w.name, Options: w.options(), Events: w.events, Follower: f, Most: most,
		Still: []timers.Timer{timers.Warning, timers.Session},
	}
}

// broken returns the violations, except for unreached states, which a part of the
// events cannot reach.
func broken(r *explore.Report) []explore.Violation {
	return slices.DeleteFunc(slices.Clone(r.Violations), func(v explore.Violation) bool { return strings.HasPrefix(v.Check, "completeness") })
}

// long reports whether the exploration may take long (`make soak`).
func long() bool { return os.Getenv("HOCKET_LONG") != "" }

// explored runs an exploration and reports the violations.
func explored(t *testing.T, c explore.Config) {
	t.Helper()
	r, err := explore.Run([]explore.Config{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d steps", r.States, r.Steps)
	for _, v := range broken(r) {
		t.Errorf("%s: %s\n%s", v.Check, v.What, strings.Join(v.Path, "\n"))
	}
}

// TestEveryStepKeepsTheProtocol explores the states of the machine and the projection
// together and checks that the client receives only what the protocol allows, whatever
// happens in whatever order.
func TestEveryStepKeepsTheProtocol(t *testing.T) {
	most := 3000
	if long() {
		most = 100_000
	}
	for _, w := range walks() {
		t.Run(w.name, func(t *testing.T) { explored(t, w.config(most, nil)) })
	}
}

// TestTheMachinesWalksKeepTheProtocol runs a projection beside the machine's own
// exploration, with all of its configurations and events. Each state is reached with
// one history only.
func TestTheMachinesWalksKeepTheProtocol(t *testing.T) {
	for _, c := range explore.Shipped() {
		t.Run(c.Name, func(t *testing.T) {
			f := newFollower(projection.Options{Session: session(spoken)}, slices.Concat(talking, asking, cutting), nil)
			f.apart = false
			if c.Follower = f; !long() {
				c.Most = 500
			}
			explored(t, c)
		})
	}
}
