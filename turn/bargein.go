package turn

import (
	"fmt"
	"time"
)

// Action is what a step of [BargeIn] asks of the playout.
type Action uint8

// The actions. After Duck or Pause exactly one of Stop and Resume follows, at
// the latest at the deadline, unless the state is reset before.
const (
	None   Action = iota
	Duck          // lower the agent's volume
	Pause         // hold the agent's playout where it is
	Stop          // the user takes the floor: cancel the turn, flush the playout
	Resume        // go on where Duck or Pause left off
)

var actionNames = [...]string{"none", "duck", "pause", "stop", "resume"}

// String is the name of the action in traces.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// MarshalText writes the action by its name.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads an action by its name.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if name == string(text) {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("barge-in action %q: want one of %v", text, actionNames)
}

// bargeInPhase is where a barge-in stands.
type bargeInPhase uint8

// The phases of [BargeIn].
const (
	bargeInQuiet     bargeInPhase = iota // the user is silent
	bargeInTalking                       // the user makes a sound that has been let pass
	bargeInCandidate                     // the user speaks, and it is not decided what it is
	bargeInWaiting                       // speech has stopped undecided, words may still come
	bargeInStopped                       // the user has the floor; nothing more happens until Reset
)

var phaseNames = [...]string{"quiet", "talking", "candidate", "waiting", "stopped"}

// String is the name of the phase.
func (p bargeInPhase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("bargeInPhase(%d)", uint8(p))
}

// MarshalText writes the phase by its name.
func (p bargeInPhase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a phase by its name.
func (p *bargeInPhase) UnmarshalText(text []byte) error {
	for i, name := range phaseNames {
		if name == string(text) {
			*p = bargeInPhase(i)
			return nil
		}
	}
	return fmt.Errorf("barge-in phase %q: want one of %v", text, phaseNames)
}

// BargeIn decides whether the user takes the floor while the agent speaks. It
// is a pure value for the state of a conversation: comparable, copied by
// assignment, written as JSON; the zero value is ready, and one goroutine steps
// it. Reset it when the agent's next reply begins; options may differ from step
// to step (see [Profiles]) and must have passed Validate.
//
// The hybrid policy, with duck on speech and two words to stop. Each cell gives
// the action and the phase after it; a cell with a phase alone does nothing.
// "partial" results may still change, "final" ones do not.
//
//	input                 | quiet          | talking        | candidate      | waiting        | stopped
//	speech started        | Duck candidate | talking        | candidate      | candidate      | stopped
//	speech stopped        | quiet          | quiet          | waiting        | waiting        | stopped
//	nothing, partial      | quiet          | talking        | candidate      | waiting        | stopped
//	nothing, final        | quiet          | talking        | candidate      | Resume quiet   | stopped
//	echo, partial         | quiet          | talking        | candidate      | waiting        | stopped
//	echo, final           | quiet          | talking        | Resume talking | Resume quiet   | stopped
//	filler, partial       | quiet          | talking        | candidate      | waiting        | stopped
//	filler, final         | quiet          | talking        | Resume talking | Resume quiet   | stopped
//	backchannel, partial  | quiet          | talking        | candidate      | waiting        | stopped
//	backchannel, final    | quiet          | talking        | Resume talking | Resume quiet   | stopped
//	one word, partial     | Duck waiting   | Duck candidate | candidate      | waiting        | stopped
//	one word, final       | quiet          | talking        | candidate      | Resume quiet   | stopped
//	two words, partial    | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	two words, final      | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	always interrupt      | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	MinSpeech passed      | quiet          | talking        | Stop stopped   | waiting        | stopped
//	ResumeAfter passed    | quiet          | talking        | Resume talking | Resume quiet   | stopped
//	deadline, too early   | quiet          | talking        | candidate      | waiting        | stopped
//
// What the table cannot show:
//
//   - When speech stops, its length no longer counts; what remains is a
//     deadline WordsWithin later, which each new result moves, but never
//     beyond ResumeAfter from the first speech. Speech that starts again counts
//     its length anew and leaves that bound where it was: noises in a row
//     cannot keep the agent down.
//   - When that bound strikes during the new speech, the agent resumes and the
//     length goes on counting.
//   - Words without speech are the recognizer hearing before the detector:
//     enough of them stop, one opens a candidate. The same result again does
//     not open a second one, nor does a final one.
//   - Fillers, backchannels and echo replace MinSpeech, see
//     [BargeInOptions.MaxFiltered]; a word after them brings it back.
//
// The other policies: energy stops where hybrid opens a candidate or takes one
// up again, and on any words but an echo; words and none never open one (speech
// started is talking), words stops on words alone and none never stops. A
// candidate that is open when the profile changes still ends in time.
type BargeIn struct {
	Phase bargeInPhase `json:"phase"`
	// Applied is the Duck or Pause that is in force, else None.
	Applied Action `json:"applied"`
	// Heard is the last verdict of this stretch of speech.
	Heard Verdict `json:"heard"`

	Onset    time.Time `json:"onset,omitzero"`     // when the candidate was opened
	SpeechAt time.Time `json:"speech_at,omitzero"` // since when the user speaks, as far as its length counts
	StopAt   time.Time `json:"stop_at,omitzero"`   // deadline: sustained speech
	ResumeAt time.Time `json:"resume_at,omitzero"` // deadline: nothing came of it
}

// Quiet reports whether the user is silent, as far as is known.
func (b *BargeIn) Quiet() bool { return b.Phase == bargeInQuiet }

// Reset is for the beginning of a reply: everything is forgotten. If the user
// is speaking at that moment, report SpeechStarted again.
func (b *BargeIn) Reset() { *b = BargeIn{} }

// Deadline is when Passed wants to be called; zero if never.
func (b *BargeIn) Deadline() time.Time {
	if b.StopAt.IsZero() || !b.ResumeAt.IsZero() && b.ResumeAt.Before(b.StopAt) {
		return b.ResumeAt
	}
	return b.StopAt
}

// SpeechStarted reports the onset of speech.
func (b *BargeIn) SpeechStarted(o BargeInOptions, now time.Time) Action {
	o = o.Or(DefaultBargeIn())
	if b.Phase != bargeInQuiet && b.Phase != bargeInWaiting {
		return None
	}
	if o.Policy == BargeInEnergy {
		return b.stop()
	}
	b.Heard = Verdict{}
	if b.Phase == bargeInWaiting {
		b.Phase = bargeInCandidate
		b.ResumeAt = b.Onset.Add(o.ResumeAfter)
		b.SpeechAt = now
		b.StopAt = b.stopAt(o)
		return None
	}
	b.Phase = bargeInTalking
	if o.Policy != BargeInHybrid {
		return None
	}
	return b.open(o, now)
}

// SpeechStopped reports the end of speech.
func (b *BargeIn) SpeechStopped(o BargeInOptions, now time.Time) Action {
	o = o.Or(DefaultBargeIn())
	switch b.Phase {
	case bargeInTalking:
		b.Phase = bargeInQuiet
	case bargeInCandidate:
		b.Phase = bargeInWaiting
		b.await(o, now)
	default:
		return None
	}
	b.SpeechAt, b.StopAt = time.Time{}, time.Time{}
	return None
}

// Words reports what the recognizer's result amounts to: of all words of the
// utterance so far, not of the newest alone. A final result will not change.
func (b *BargeIn) Words(o BargeInOptions, now time.Time, v Verdict, final bool) Action {
	o = o.Or(DefaultBargeIn())
	if b.Phase == bargeInStopped {
		return None
	}
	if interrupts(o, v) {
		return b.stop()
	}
	repeated := v == b.Heard
	if v.Kind != Nothing {
		b.Heard = v
	}
	switch b.Phase {
	case bargeInCandidate:
		if final && v.Kind != Nothing && !substantial(v) {
			return b.resume()
		}
		b.StopAt = b.stopAt(o)
		return b.maybeStop(o, now)
	case bargeInWaiting:
		if final {
			return b.resume()
		}
		if v.Kind != Nothing && !repeated {
			b.await(o, now)
		}
	case bargeInTalking:
		if final && !substantial(v) {
			b.SpeechAt = time.Time{}
		}
		b.StopAt = b.stopAt(o)
		if action := b.maybeStop(o, now); action != None {
			return action
		}
		if b.opens(o, v, final, repeated) {
			return b.open(o, now)
		}
	case bargeInQuiet:
		if b.opens(o, v, final, repeated) {
			action := b.open(o, now)
			b.Phase = bargeInWaiting
			b.SpeechAt, b.StopAt = time.Time{}, time.Time{}
			b.await(o, now)
			return action
		}
	case bargeInStopped: // nothing more happens until Reset, see above
	}
	return None
}

// Passed reports that time has gone on. Too early or once too often is
// harmless: what is due is decided by now.
func (b *BargeIn) Passed(o BargeInOptions, now time.Time) Action {
	o = o.Or(DefaultBargeIn())
	if action := b.maybeStop(o, now); action != None {
		return action
	}
	if b.ResumeAt.IsZero() || now.Before(b.ResumeAt) {
		return None
	}
	return b.timeOut()
}

// interrupts tells whether words take the floor by themselves.
func interrupts(o BargeInOptions, v Verdict) bool {
	switch o.Policy {
	case BargeInNone:
		return false
	case BargeInEnergy:
		return v.Kind != Nothing && v.Kind != Echo
	default:
		return v.Kind == AlwaysInterrupt || substantial(v) && v.Substantial >= o.MinWords
	}
}

// substantial tells whether there is anything in the words that the filters do
// not take out.
func substantial(v Verdict) bool { return v.Kind >= OneWord }

// opens tells whether words that do not interrupt make a candidate of what was
// let pass: a word that is new, and that more may follow.
func (b *BargeIn) opens(o BargeInOptions, v Verdict, final, repeated bool) bool {
	return o.Policy == BargeInHybrid && substantial(v) && !final && !repeated
}

// open begins a candidate with the user speaking.
func (b *BargeIn) open(o BargeInOptions, now time.Time) Action {
	b.Phase = bargeInCandidate
	b.Onset, b.SpeechAt = now, now
	b.StopAt = b.stopAt(o)
	b.ResumeAt = now.Add(o.ResumeAfter)
	switch o.OnSpeech {
	case OnSpeechDuck:
		b.Applied = Duck
	case OnSpeechPause:
		b.Applied = Pause
	case OnSpeechNone:
	}
	return b.Applied
}

// await sets when a candidate without speech is given up.
func (b *BargeIn) await(o BargeInOptions, now time.Time) {
	b.ResumeAt = now.Add(o.WordsWithin)
	if bound := b.Onset.Add(o.ResumeAfter); bound.Before(b.ResumeAt) {
		b.ResumeAt = bound
	}
}

// stopAt is when speech since SpeechAt has lasted long enough for what is known
// of its words; zero if it never has.
func (b *BargeIn) stopAt(o BargeInOptions) time.Time {
	if o.Policy != BargeInHybrid || o.MinSpeech == Off || b.SpeechAt.IsZero() || b.Heard.Kind == Echo {
		return time.Time{}
	}
	if b.Heard.Kind == Filler || b.Heard.Kind == Backchannel {
		return b.SpeechAt.Add(max(o.MaxFiltered, o.MinSpeech))
	}
	return b.SpeechAt.Add(o.MinSpeech)
}

func (b *BargeIn) maybeStop(o BargeInOptions, now time.Time) Action {
	if b.StopAt.IsZero() || now.Before(b.StopAt) {
		return None
	}
	if o.Policy == BargeInNone || o.Policy == BargeInWords {
		b.StopAt = time.Time{} // another profile's rule
		return None
	}
	return b.stop()
}

func (b *BargeIn) stop() Action {
	*b = BargeIn{Phase: bargeInStopped, Heard: b.Heard}
	return Stop
}

// resume lets pass what the words have shown to be nothing.
func (b *BargeIn) resume() Action {
	b.SpeechAt, b.StopAt = time.Time{}, time.Time{}
	return b.timeOut()
}

// timeOut gives a candidate up. The length of speech that is going on counts on.
func (b *BargeIn) timeOut() Action {
	if b.Phase == bargeInCandidate {
		b.Phase = bargeInTalking
	} else {
		b.Phase = bargeInQuiet
	}
	b.Onset, b.ResumeAt = time.Time{}, time.Time{}
	if b.Applied == None {
		return None
	}
	b.Applied = None
	return Resume
}
