package media

import (
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// asker is a caller whose uplink asks a model.
type asker struct {
	*caller
	asked []int // the numbers of the pauses
	heard [][]int16
}

func newAsker(t *testing.T, policy turn.Policy) *asker {
	t.Helper()
	a := &asker{}
	a.caller = newCaller(t, UplinkOptions{
		Turn: turn.Options{Policy: policy},
		Ask: func(pause int, pcm []int16) {
			a.asked, a.heard = append(a.asked, pause), append(a.heard, pcm)
		},
	}, &porttest.Recognizer{Texts: []string{"i want to", "go there", "tomorrow"}})
	return a
}

// A model is asked once in each pause, with the sound of the turn, and what it says of a pause
// ends the turn in that pause alone.
func TestUplinkAsksInPauses(t *testing.T) {
	a := newAsker(t, turn.PolicySemantic)
	a.isQuiet(time.Second)
	a.speaks(600 * ms)
	a.isQuiet(500 * ms)
	if !slices.Equal(a.asked, []int{1}) {
		t.Fatalf("pauses %v, want one", a.asked)
	}
	// 500 ms before the speech, the speech, and 100 ms of silence.
	end := int(audio.PosOf(1700*ms, 16000))
	if want := a.said[end-len(a.heard[0]) : end]; len(a.heard[0]) != int(audio.PosOf(1200*ms, 16000)) || !slices.Equal(a.heard[0], want) {
		t.Errorf("the model gets %d samples, want the 1200 ms of the turn", len(a.heard[0]))
	}
	a.speaks(400 * ms)
	a.u.Score(1, 1) // of a pause that is over
	a.isQuiet(400 * ms)
	if !slices.Equal(a.asked, []int{1, 2}) || slices.Contains(a.log, "ended 1 semantic") || slices.Contains(a.log, "ended 2 semantic") {
		t.Fatalf("pauses %v, facts %q, want two pauses and no end", a.asked, a.log)
	}
	if want := int(audio.PosOf(2100*ms, 16000)); len(a.heard[1]) != want {
		t.Errorf("the model gets %d samples in the second pause, want %d, from the beginning of the turn", len(a.heard[1]), want)
	}
	a.log = nil
	a.u.Score(2, 0.9)
	a.isQuiet(20 * ms)
	if !slices.Contains(a.log, "ended 2 semantic") {
		t.Errorf("facts %q, want the end of the turn", a.log)
	}
	// After the end of the turn nothing is asked.
	a.isQuiet(3 * time.Second)
	if len(a.asked) != 2 {
		t.Errorf("pauses %v, want two", a.asked)
	}
}

// A long turn is heard from its end back.
func TestUplinkAsksAboutTheLastSeconds(t *testing.T) {
	a := newAsker(t, turn.PolicySemantic)
	a.speaks(10 * time.Second)
	a.isQuiet(200 * ms)
	if len(a.heard) != 1 || len(a.heard[0]) != int(audio.PosOf(8*time.Second, 16000)) {
		t.Fatalf("%d requests", len(a.heard))
	}
	if end := len(a.said) - int(audio.PosOf(100*ms, 16000)); !slices.Equal(a.heard[0], a.said[end-len(a.heard[0]):end]) {
		t.Error("the model does not get the end of the sound")
	}
}

// Nothing is asked where the answer would not count: without speech, over the agent, under a
// policy without a model, and where the dialogue waits for a value.
func TestUplinkDoesNotAsk(t *testing.T) {
	for name, do := range map[string]func(*asker){
		"no speech":      func(a *asker) { a.isQuiet(3 * time.Second) },
		"over the agent": func(a *asker) { a.u.Audible(true); a.speaks(500 * ms); a.isQuiet(time.Second) },
		"a value": func(a *asker) {
			a.u.Expect(dialog.Expectation{Kind: "date"})
			a.speaks(500 * ms)
			a.isQuiet(time.Second)
		},
		"a sound of two frames": func(a *asker) {
			a.isQuiet(time.Second)
			a.speaks(20 * ms)
			a.isQuiet(time.Second)
		},
	} {
		a := newAsker(t, turn.PolicyAuto)
		do(a)
		if len(a.asked) != 0 {
			t.Errorf("%s: pauses %v, want none", name, a.asked)
		}
	}
	a := newAsker(t, turn.PolicyEasyTurn)
	a.speaks(500 * ms)
	a.isQuiet(time.Second)
	if len(a.asked) != 0 {
		t.Errorf("easyturn: pauses %v, want none", a.asked)
	}
	a = newAsker(t, turn.PolicyAuto)
	a.speaks(500 * ms)
	a.isQuiet(200 * ms)
	if len(a.asked) != 1 {
		t.Errorf("free speech: pauses %v, want one", a.asked)
	}
}

// In virtual time the answer takes as long as it takes in real time.
func TestUplinkThinking(t *testing.T) {
	a := &asker{}
	a.caller = newCaller(t, UplinkOptions{
		Turn: turn.Options{Policy: turn.PolicySemantic}, Thinking: 400 * ms,
		Ask: func(pause int, _ []int16) { a.u.Score(pause, 1) },
	}, &porttest.Recognizer{Texts: []string{"yes"}})
	a.speaks(500 * ms)
	a.isQuiet(480 * ms)
	if slices.Contains(a.log, "ended 1 semantic") {
		t.Error("the answer came before 400 ms had passed")
	}
	a.isQuiet(60 * ms)
	if !slices.Contains(a.log, "ended 1 semantic") {
		t.Errorf("facts %q, want the end of the turn", a.log)
	}
}
