package turn

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// t0 is an arbitrary start time.
var t0 = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return t0.Add(d) }

// Verdicts as Classify gives them.
var (
	nothing     = Verdict{}
	echoed      = Verdict{Kind: Echo, Words: 4}
	filler      = Verdict{Kind: Filler, Words: 1}
	backchannel = Verdict{Kind: Backchannel, Words: 1}
	oneWord     = Verdict{Kind: OneWord, Words: 1, Substantial: 1}
	twoWords    = Verdict{Kind: Speech, Words: 2, Substantial: 2}
	stopWord    = Verdict{Kind: AlwaysInterrupt, Words: 1, Substantial: 1}
)

// reach brings a hybrid barge-in that began at t0 into a phase.
func reach(t *testing.T, p bargeInPhase) BargeIn {
	t.Helper()
	var b BargeIn
	o := short
	if p != bargeInQuiet {
		b.SpeechStarted(o, t0)
	}
	switch p {
	case bargeInTalking:
		b.Words(o, after(50*ms), backchannel, Verdict{}, true)
	case bargeInWaiting:
		b.SpeechStopped(o, after(50*ms))
	case bargeInStopped:
		b.Words(o, after(50*ms), twoWords, twoWords, false)
	}
	if b.Phase != p {
		t.Fatalf("reached %s, want %s", b.Phase, p)
	}
	return b
}

// TestBargeInTable reads the table in the doc comment and checks every cell.
func TestBargeInTable(t *testing.T) {
	o := short
	words := func(v Verdict, final bool) func(*BargeIn) Action {
		return func(b *BargeIn) Action { return b.Words(o, after(100*ms), v, Verdict{}, final) }
	}
	inputs := map[string]func(*BargeIn) Action{
		"speech started":       func(b *BargeIn) Action { return b.SpeechStarted(o, after(100*ms)) },
		"speech stopped":       func(b *BargeIn) Action { return b.SpeechStopped(o, after(100*ms)) },
		"nothing, partial":     words(nothing, false),
		"nothing, final":       words(nothing, true),
		"echo, partial":        words(echoed, false),
		"echo, final":          words(echoed, true),
		"filler, partial":      words(filler, false),
		"filler, final":        words(filler, true),
		"backchannel, partial": words(backchannel, false),
		"backchannel, final":   words(backchannel, true),
		"one word, partial":    words(oneWord, false),
		"one word, final":      words(oneWord, true),
		"two words, partial":   words(twoWords, false),
		"two words, once more": func(b *BargeIn) Action { return b.Words(o, after(100*ms), twoWords, twoWords, false) },
		"two words, final":     words(twoWords, true),
		"always interrupt":     words(stopWord, false),
		"Steady passed": func(b *BargeIn) Action {
			if b.Phase == bargeInCandidate || b.Phase == bargeInWaiting {
				b.Words(o, after(90*ms), twoWords, Verdict{}, false)
			}
			return b.Passed(o, after(250*ms))
		},
		"MinSpeech passed": func(b *BargeIn) Action { return b.Passed(o, after(500*ms)) },
		"ResumeAfter passed": func(b *BargeIn) Action {
			b.Words(o, after(100*ms), echoed, Verdict{}, false) // so that its length does not stop it
			return b.Passed(o, after(2*time.Second))
		},
		"deadline, too early": func(b *BargeIn) Action { return b.Passed(o, after(500*ms-1)) },
	}

	source, err := os.ReadFile("bargein.go")
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for line := range strings.Lines(string(source)) {
		line, isTable := strings.CutPrefix(strings.TrimRight(line, "\n"), "//\t")
		if !isTable || !strings.Contains(line, "|") {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = cells
			continue
		}
		input, known := inputs[cells[0]]
		if !known {
			t.Errorf("row %q of the table has no test", cells[0])
			continue
		}
		delete(inputs, cells[0])
		for i, want := range cells[1:] {
			var from bargeInPhase
			if err := from.UnmarshalText([]byte(columns[i+1])); err != nil {
				t.Fatal(err)
			}
			b := reach(t, from)
			action := input(&b)
			got := b.Phase.String()
			if action != None {
				got = strings.ToUpper(action.String()[:1]) + action.String()[1:] + " " + got
			}
			if got != want {
				t.Errorf("%s in %s: %s, want %s", cells[0], from, got, want)
			}
		}
	}
	if len(columns) != 1+len(phaseNames) {
		t.Errorf("the table has the columns %q", columns)
	}
	for row := range inputs {
		t.Errorf("the table has no row %q", row)
	}
}

// short has the times of the scenes and of the table.
var short = BargeInOptions{MinSpeech: 500 * ms, Steady: 150 * ms}

// scene runs a barge-in through a sequence of events and compares the actions.
type scene struct {
	t *testing.T
	b BargeIn
	o BargeInOptions

	last string // the words of the last result
}

func (s *scene) at(d time.Duration, event string, want Action) {
	s.t.Helper()
	var got Action
	s.o = s.o.Or(short)
	switch event {
	case "started":
		got = s.b.SpeechStarted(s.o, after(d))
	case "stopped":
		got = s.b.SpeechStopped(s.o, after(d))
	case "deadline":
		if due := s.b.Deadline(); !due.Equal(after(d)) {
			s.t.Errorf("%v: the deadline is %v, want it now", d, due.Sub(t0))
		}
		before := s.b
		if early := s.b.Passed(s.o, after(d-1)); early != None || s.b != before {
			s.t.Errorf("%v: a nanosecond early: %s, and the state is %+v", d, early, s.b)
		}
		got = s.b.Passed(s.o, after(d))
		before = s.b
		if again := s.b.Passed(s.o, after(d)); again != None || s.b != before {
			s.t.Errorf("%v: once more: %s, and the state is %+v", d, again, s.b)
		}
	default:
		name, final := strings.CutSuffix(event, ".")
		v, ok := map[string]Verdict{
			"nothing": nothing, "echo": echoed, "filler": filler, "backchannel": backchannel,
			"word": oneWord, "words": twoWords, "stop": stopWord,
		}[name]
		if !ok {
			s.t.Fatalf("unknown event %q", event)
		}
		stood := Verdict{}
		if s.last == name {
			stood = v
		}
		s.last = name
		got = s.b.Words(s.o, after(d), v, stood, final)
	}
	if got != want {
		s.t.Errorf("%v %s: %s, want %s", d, event, got, want)
	}
}

func (s *scene) noDeadline() {
	s.t.Helper()
	if !s.b.Deadline().IsZero() {
		s.t.Errorf("a deadline at %v is left", s.b.Deadline().Sub(t0))
	}
}

func TestBargeInSustainedSpeechStops(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(500*ms, "deadline", Stop)
	s.noDeadline()
	s.at(600*ms, "words.", None) // the floor is the user's already
	s.at(700*ms, "stopped", None)
	s.at(900*ms, "started", None)
	s.b.Reset()
	s.at(5*time.Second, "started", Duck) // the next reply can be interrupted again
}

func TestBargeInCough(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "stopped", None)
	s.at(1000*ms, "deadline", Resume) // 700 ms for words
	s.noDeadline()
	if s.b != (BargeIn{}) {
		t.Errorf("a cough leaves %+v", s.b)
	}
}

func TestBargeInResumesNoLaterThanTwoSecondsAfterTheOnset(t *testing.T) {
	s := scene{t: t, o: BargeInOptions{MinSpeech: Off}}
	s.at(0, "started", Duck)
	s.at(1900*ms, "stopped", None)
	s.at(2000*ms, "deadline", Resume)
}

func TestBargeInNoiseWithoutEndResumes(t *testing.T) {
	s := scene{t: t, o: BargeInOptions{MinSpeech: Off}}
	s.at(0, "started", Duck)
	s.at(2000*ms, "deadline", Resume)
	s.noDeadline()
	s.at(3000*ms, "stopped", None)
	s.at(4000*ms, "started", Duck)
}

func TestBargeInFalseInterruptionByBackchannel(t *testing.T) { // pains 10 and 11
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "backchannel", None)
	s.at(350*ms, "stopped", None)
	s.at(500*ms, "backchannel.", Resume) // at once
	s.noDeadline()
}

func TestBargeInBackchannelIsKnownBeforeSustainedSpeech(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(400*ms, "backchannel", None)
	s.at(1500*ms, "deadline", Stop) // nobody says mhm for so long
}

func TestBargeInBackchannelThenMore(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(400*ms, "backchannel", None)
	s.at(600*ms, "word", Stop) // a word, and 500 ms of speech behind it
}

func TestBargeInBackchannelFinalThenGoesOn(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(400*ms, "backchannel.", Resume)
	s.noDeadline() // the sound that was a backchannel does not stop by its length
	s.at(700*ms, "word", Duck)
	s.at(900*ms, "words", None)
	s.at(1000*ms, "words", Stop) // they stand
}

func TestBargeInEchoNeverStopsByItsLength(t *testing.T) { // pain 17
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(400*ms, "echo", None)
	s.at(2000*ms, "deadline", Resume)
	s.noDeadline()
	s.at(2500*ms, "echo", None)
	s.at(9000*ms, "echo.", None)
	s.at(9100*ms, "words", Duck) // the user, on top of it
	s.at(9250*ms, "deadline", Stop)
}

func TestBargeInWordsAfterEchoBringTheLengthBack(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "echo", None)
	s.at(400*ms, "word", None)
	s.at(500*ms, "deadline", Stop)
}

func TestBargeInSpeechStopsBeforeTheDeadline(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(499*ms, "stopped", None)
	s.at(600*ms, "started", None) // its length counts anew
	s.at(1099*ms, "stopped", None)
	s.at(1200*ms, "started", None)
	s.at(1700*ms, "deadline", Stop)
}

func TestBargeInNoisesInARowCannotHoldTheAgentDown(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "stopped", None)
	s.at(800*ms, "started", None)
	s.at(1100*ms, "stopped", None)
	s.at(1700*ms, "started", None)
	s.at(2000*ms, "deadline", Resume) // two seconds after the first
	s.at(2200*ms, "deadline", Stop)   // but this one lasts
}

// TestBargeInWordsAfterTheBound checks that after the agent has resumed while the user
// still speaks, the user's words decide about the length that keeps counting.
func TestBargeInWordsAfterTheBound(t *testing.T) {
	begin := func() scene {
		s := scene{t: t}
		s.at(0, "started", Duck)
		s.at(300*ms, "stopped", None)
		s.at(800*ms, "started", None)
		s.at(1100*ms, "stopped", None)
		s.at(1700*ms, "started", None)
		s.at(2000*ms, "deadline", Resume)
		return s
	}
	s := begin()
	s.at(2100*ms, "word.", None)
	s.at(2200*ms, "deadline", Stop)
	s = begin()
	s.at(2100*ms, "backchannel", None)
	s.at(3200*ms, "deadline", Stop)
	s = begin()
	s.at(2100*ms, "backchannel.", None)
	s.noDeadline()
	s = begin()
	s.at(2100*ms, "echo", None)
	s.noDeadline()
	s.at(2400*ms, "word", Stop) // it has lasted long enough since
}

func TestBargeInWordsAfterSpeechStopped(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(400*ms, "stopped", None)
	s.at(900*ms, "word", None)
	s.at(1500*ms, "word", None) // the same again moves nothing
	s.at(1600*ms, "deadline", Resume)
	s.at(1700*ms, "word", None)   // nor does it turn the agent down again
	s.at(1800*ms, "words.", Stop) // late words still count
}

// A recognizer that takes its first words for others must not stop the agent (14 of 16 stops
// that were none).
func TestBargeInWordsThatAreTakenBack(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(200*ms, "words", None)
	s.at(300*ms, "backchannel", None) // "the two" was "mhm"
	s.at(350*ms, "stopped", None)
	s.at(500*ms, "backchannel.", Resume)
	s.noDeadline()
	s = scene{t: t}
	s.at(0, "started", Duck)
	s.at(100*ms, "words", None)
	s.at(250*ms, "deadline", Stop) // no other result has come, and the speech goes on
	s = scene{t: t}
	s.at(0, "started", Duck)
	s.at(100*ms, "words", None)
	s.at(150*ms, "stopped", None)
	s.at(300*ms, "words.", Stop) // they are final
}

func TestBargeInWordThatIsEnoughAlone(t *testing.T) {
	no := Classify("um no", "", lookup(t, "en"), FilterOptions{})
	if !no.Alone || no.Kind != OneWord {
		t.Fatalf("%+v: want one word that is enough alone", no)
	}
	for policy, want := range map[BargeInPolicy]Action{BargeInHybrid: Stop, BargeInWords: None, BargeInNone: None} {
		b, o := BargeIn{}, BargeInOptions{Policy: policy}
		b.SpeechStarted(o, t0)
		b.Words(o, after(100*ms), no, Verdict{}, false)
		if got := b.Words(o, after(200*ms), no, no, false); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
	b, o := BargeIn{}, SeedsBargeIn()
	if b.Words(o, t0, no, no, true); b.Phase == bargeInStopped {
		t.Error("a word alone stops the agent under the preset of the seeds")
	}
	if v := Classify("no", "there is no flight today", lookup(t, "en"), FilterOptions{}); v.Alone && v.Kind == Echo {
		t.Errorf("an echo is enough alone: %+v", v)
	}
}

func TestBargeInOneWordFinalAfterSpeech(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "stopped", None)
	s.at(600*ms, "word.", Resume)
}

func TestBargeInOneWordFinalWhileSpeechGoesOn(t *testing.T) {
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "word.", None)
	s.at(500*ms, "deadline", Stop)
}

func TestBargeInRecognizerUnderstoodNothing(t *testing.T) { // pain 15
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(300*ms, "stopped", None)
	s.at(400*ms, "nothing.", Resume)
}

func TestBargeInRecognizerHeardBeforeTheDetector(t *testing.T) {
	s := scene{t: t}
	s.at(0, "word", Duck)
	s.at(700*ms, "deadline", Resume) // no speech, no more words
	s = scene{t: t}
	s.at(0, "word", Duck)
	s.at(100*ms, "started", None)
	s.at(600*ms, "deadline", Stop)
	s = scene{t: t}
	s.at(0, "words", Duck)
	s.at(100*ms, "words", Stop)
	s = scene{t: t}
	s.at(0, "backchannel", None)
	s.at(10*ms, "echo", None)
	s.noDeadline()
}

func TestBargeInOnSpeech(t *testing.T) {
	for on, want := range map[OnSpeech]Action{"": Duck, OnSpeechDuck: Duck, OnSpeechPause: Pause, OnSpeechNone: None} {
		s := scene{t: t, o: BargeInOptions{OnSpeech: on}}
		s.at(0, "started", want)
		s.at(100*ms, "stopped", None)
		resume := Resume
		if want == None {
			resume = None // there is nothing to resume
		}
		s.at(800*ms, "deadline", resume)
		s.at(900*ms, "started", want)
		s.at(1400*ms, "deadline", Stop)
	}
}

func TestBargeInEnergy(t *testing.T) {
	o := BargeInOptions{Policy: BargeInEnergy}
	s := scene{t: t, o: o}
	s.at(0, "started", Stop)
	for _, word := range []string{"filler", "backchannel.", "word", "words", "stop"} {
		s = scene{t: t, o: o}
		s.at(0, word, Stop)
	}
	for _, word := range []string{"nothing", "nothing.", "echo", "echo."} {
		s = scene{t: t, o: o}
		s.at(0, word, None)
	}
}

func TestBargeInWords(t *testing.T) {
	o := BargeInOptions{Policy: BargeInWords}
	s := scene{t: t, o: o}
	s.at(0, "started", None)
	s.noDeadline() // no length of speech stops
	for _, word := range []string{"filler", "backchannel.", "echo", "word", "word.", "nothing."} {
		s.at(3*time.Second, word, None)
		s.noDeadline()
	}
	s.at(4*time.Second, "words", Stop)
	s = scene{t: t, o: o}
	s.at(0, "stop", Stop)
	s = scene{t: t, o: BargeInOptions{Policy: BargeInWords, MinWords: 3}}
	s.at(0, "words.", None)
	if got := s.b.Words(s.o, t0, Verdict{Kind: Speech, Words: 3, Substantial: 3}, Verdict{}, false); got != Stop {
		t.Errorf("three words: %s", got)
	}
}

func TestBargeInNone(t *testing.T) {
	s := scene{t: t, o: BargeInOptions{Policy: BargeInNone}}
	for i, event := range []string{"started", "words", "stop", "words.", "stopped", "started", "word", "stop."} {
		s.at(time.Duration(i)*time.Second, event, None)
		s.noDeadline()
	}
}

// TestBargeInProfileChanges checks that a candidate ends even if the profile changes after
// it was opened.
func TestBargeInProfileChanges(t *testing.T) {
	for _, p := range []BargeInPolicy{BargeInWords, BargeInNone} {
		s := scene{t: t}
		s.at(0, "started", Duck)
		s.o.Policy = p
		s.at(500*ms, "deadline", None) // sustained speech is the other profile's rule
		s.at(2000*ms, "deadline", Resume)
		s.noDeadline()
	}
	s := scene{t: t}
	s.at(0, "started", Duck)
	s.at(100*ms, "stopped", None)
	s.o.Policy = BargeInEnergy
	s.at(200*ms, "started", Stop)
}

func TestProfiles(t *testing.T) {
	d := Profiles{}.Resolved()
	if d.Reply != DefaultBargeIn() {
		t.Errorf("reply: %+v", d.Reply)
	}
	thinking := scene{t: t, o: d.Thinking}
	thinking.at(0, "started", Pause) // the reply is held
	if v := Unfiltered("yes"); thinking.b.Words(thinking.o, after(100*ms), v, v, false) != Stop {
		t.Error("a word while the agent thinks does not take the floor")
	}
	thinking = scene{t: t, o: d.Thinking}
	thinking.at(0, "started", Pause)
	thinking.at(2*time.Second, "deadline", Resume) // a noise does not lose the answer
	readBack := scene{t: t, o: d.ReadBack}
	readBack.at(0, "started", None)
	readBack.at(300*ms, "backchannel.", None)
	readBack.noDeadline()
	readBack.at(500*ms, "words", None)
	readBack.at(600*ms, "words", Stop)
	greeting := scene{t: t, o: d.Greeting}
	greeting.at(0, "started", Duck)
	greeting.at(800*ms, "deadline", Stop)

	// What is set stays, what is not comes from the phase.
	p := Profiles{Thinking: BargeInOptions{ResumeAfter: time.Second}, ReadBack: BargeInOptions{Policy: BargeInNone}}.Resolved()
	if p.Thinking.ResumeAfter != time.Second || p.Thinking.MinWords != 1 || p.Thinking.MinSpeech != Off {
		t.Errorf("thinking: %+v", p.Thinking)
	}
	if p.ReadBack.Policy != BargeInNone || p.ReadBack.MinWords != 2 {
		t.Errorf("read-back: %+v", p.ReadBack)
	}
}

func TestBargeInOptionsValidate(t *testing.T) {
	for want, o := range map[string]BargeInOptions{
		`Policy is "loud": expected one of hybrid, energy, words, none`: {Policy: "loud"},
		`OnSpeech is "stop"`:  {OnSpeech: "stop"},
		"MinWords is -1":      {MinWords: -1},
		"MinSpeech is -2":     {MinSpeech: -2},
		"MaxFiltered is -1":   {MaxFiltered: -1},
		"ResumeAfter is -1":   {ResumeAfter: -1},
		"WordsWithin is -1ns": {WordsWithin: -1},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", o, err, want)
		}
		if err := (Profiles{ReadBack: o}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "ReadBack.") {
			t.Errorf("%+v: the error of the profiles is %v", o, err)
		}
	}
	if err := (Profiles{}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (Profiles{}).Resolved().Validate(); err != nil {
		t.Error(err)
	}
}

// TestBargeInProperties runs random sequences of events with random options, as the
// conversation's loop does: the deadline fires when it is due.
func TestBargeInProperties(t *testing.T) {
	seen := make(map[Action]int)
	rapid.Check(t, func(t *rapid.T) {
		o := BargeInOptions{
			Policy:    rapid.SampledFrom([]BargeInPolicy{"", BargeInHybrid, BargeInEnergy, BargeInWords, BargeInNone}).Draw(t, "policy"),
			MinSpeech: rapid.SampledFrom([]time.Duration{0, Off, 800 * ms}).Draw(t, "min speech"),
			OnSpeech:  rapid.SampledFrom([]OnSpeech{"", OnSpeechPause, OnSpeechNone}).Draw(t, "on speech"),
		}
		var b BargeIn
		down, stopped := false, false
		downAt := time.Time{}
		now := t0
		check := func(action Action) {
			seen[action]++
			if stopped && action != None {
				t.Fatalf("%s after the user has the floor", action)
			}
			switch action {
			case Duck, Pause:
				if down {
					t.Fatal("turned down twice")
				}
				down, downAt = true, now
			case Resume, Stop:
				if action == Resume && !down {
					t.Fatal("resumed without having been turned down")
				}
				down, stopped = false, action == Stop
			}
			if down != (b.Applied != None) {
				t.Fatalf("down is %v, the state says %s", down, b.Applied)
			}
			if down && now.Sub(downAt) > 2*time.Second {
				t.Fatalf("down for %v", now.Sub(downAt))
			}
			if down && b.Deadline().IsZero() {
				t.Fatal("down without a deadline")
			}
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			var back BargeIn
			if err := json.Unmarshal(text, &back); err != nil || back != b {
				t.Fatalf("%+v comes back from %s as %+v (%v)", b, text, back, err)
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			next := now.Add(time.Duration(rapid.IntRange(0, 900).Draw(t, "ms")) * ms)
			for due := b.Deadline(); !due.IsZero() && !due.After(next); due = b.Deadline() {
				if due.After(now) {
					now = due
				}
				before := b
				check(b.Passed(o, now))
				if b == before {
					t.Fatalf("the deadline changes nothing: %+v", b)
				}
			}
			now = next
			switch kind := rapid.IntRange(0, 9).Draw(t, "event"); kind {
			case 0, 1:
				check(b.SpeechStarted(o, now))
			case 2, 3:
				check(b.SpeechStopped(o, now))
			case 4:
				before := b
				if action := b.Passed(o, now); action != None || b != before {
					t.Fatalf("an early deadline does %s and leaves %+v", action, b)
				}
			default:
				v := rapid.SampledFrom([]Verdict{nothing, echoed, filler, backchannel, oneWord, oneWord, twoWords, stopWord}).Draw(t, "words")
				stood := Verdict{}
				if rapid.Bool().Draw(t, "stood") {
					stood = v
				}
				check(b.Words(o, now, v, stood, rapid.Bool().Draw(t, "final")))
			}
		}
	})
	for _, a := range []Action{Duck, Pause, Stop, Resume} {
		if seen[a] == 0 {
			t.Errorf("no sequence reached %s: the test is too weak", a)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for i := range actionNames {
		var back Action
		if text, _ := Action(i).MarshalText(); back.UnmarshalText(text) != nil || back != Action(i) {
			t.Errorf("action %d comes back as %d", i, back)
		}
	}
	for i := range phaseNames {
		var back bargeInPhase
		if text, _ := bargeInPhase(i).MarshalText(); back.UnmarshalText(text) != nil || back != bargeInPhase(i) {
			t.Errorf("phase %d comes back as %d", i, back)
		}
	}
	for i := range verdictNames {
		var back VerdictKind
		if text, _ := VerdictKind(i).MarshalText(); back.UnmarshalText(text) != nil || back != VerdictKind(i) {
			t.Errorf("verdict %d comes back as %d", i, back)
		}
	}
	if new(Action).UnmarshalText([]byte("x")) == nil || new(bargeInPhase).UnmarshalText([]byte("x")) == nil || new(VerdictKind).UnmarshalText([]byte("x")) == nil {
		t.Error("an unknown name is accepted")
	}
	for _, s := range []fmt.Stringer{Action(len(actionNames)), bargeInPhase(len(phaseNames)), VerdictKind(len(verdictNames))} {
		if !strings.HasSuffix(s.String(), ")") {
			t.Errorf("a value out of range is called %q", s)
		}
	}
}

func TestBargeInAllocatesNothing(t *testing.T) {
	var b BargeIn
	o := BargeInOptions{}
	actions := 0
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		for _, a := range [...]Action{
			b.SpeechStarted(o, t0), b.Words(o, after(100*ms), backchannel, Verdict{}, false), b.SpeechStopped(o, after(200*ms)), b.Passed(o, b.Deadline()),
		} {
			if a != None {
				actions++
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if actions == 0 {
		t.Error("nothing was decided")
	}
}

// TestStood checks which words two results in a row begin with.
func TestStood(t *testing.T) {
	for _, c := range []struct{ before, now, stood string }{
		{"", "wait a", ""},
		{"wait", "", ""},
		{"wait", "wait a", "wait"},
		{"wait a", "wait", "wait"},
		{"Wait  a minute", "wait a moment", "wait a"},
		{"a wait", "wait a", ""},
		{" no ", "no", "no"},
		{"wait a", "waiting", ""},
	} {
		if stood := Stood(c.before, c.now); stood != c.stood {
			t.Errorf("%q and %q: %q, expected %q", c.before, c.now, stood, c.stood)
		}
	}
}
