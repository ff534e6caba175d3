package turn

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Action is what a step of [BargeIn] tells the playout to do.
type Action uint8

// The actions. After Duck or Pause exactly one of Stop and Resume follows, at the latest at
// the deadline, unless the state is reset before.
const (
	None   Action = iota
	Duck          // lower the agent's volume
	Pause         // hold the agent's playout where it is
	Stop          // give the floor to the user: cancel the turn, flush the playout
	Resume        // end Duck or Pause and continue
)

var actionNames = [...]string{"none", "duck", "pause", "stop", "resume"}

// String returns the name of the action in traces.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// MarshalText encodes the action as its name.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText decodes the name of an action.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if name == string(text) {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("barge-in action %q: expected one of %v", text, actionNames)
}

// bargeInPhase is the phase of a barge-in.
type bargeInPhase uint8

// The phases of [BargeIn].
const (
	bargeInQuiet     bargeInPhase = iota // the user is silent
	bargeInTalking                       // the user makes a sound that does not interrupt
	bargeInCandidate                     // the user speaks and may interrupt
	bargeInWaiting                       // speech has stopped, its words may still come
	bargeInStopped                       // the user has the floor until Reset
)

var phaseNames = [...]string{"quiet", "talking", "candidate", "waiting", "stopped"}

// String returns the name of the phase.
func (p bargeInPhase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("bargeInPhase(%d)", uint8(p))
}

// MarshalText encodes the phase as its name.
func (p bargeInPhase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText decodes the name of a phase.
func (p *bargeInPhase) UnmarshalText(text []byte) error {
	for i, name := range phaseNames {
		if name == string(text) {
			*p = bargeInPhase(i)
			return nil
		}
	}
	return fmt.Errorf("barge-in phase %q: expected one of %v", text, phaseNames)
}

// BargeIn decides whether the user takes the floor while the agent speaks. It is a pure value
// for the state of a conversation: comparable, copied by assignment, encoded as JSON. The zero
// value is ready for use. It is not safe for concurrent use. The caller resets it when the
// agent's next reply begins. Options may differ from call to call (see [Profiles]) and must
// have passed Validate.
//
// The table shows the hybrid policy that ducks on speech and stops on two words. A cell has
// the action, if there is one, and the next phase. "partial" results may still change,
// "final" ones do not.
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
//	two words, partial    | Duck waiting   | Duck candidate | candidate      | waiting        | stopped
//	two words, once more  | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	two words, final      | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	always interrupt      | Stop stopped   | Stop stopped   | Stop stopped   | Stop stopped   | stopped
//	Steady passed         | quiet          | talking        | Stop stopped   | waiting        | stopped
//	MinSpeech passed      | quiet          | talking        | Stop stopped   | waiting        | stopped
//	ResumeAfter passed    | quiet          | talking        | Resume talking | Resume quiet   | stopped
//	deadline, too early   | quiet          | talking        | candidate      | waiting        | stopped
//
// The table does not show:
//
//   - A recognizer takes words back. Two words stop the agent when the next result begins with
//     them, too, when they are final, or when the speech has gone on for Steady without another
//     result. A word that is enough alone ([Verdict.Alone]) counts as two.
//   - After speech has stopped, its length no longer counts. The deadline is then WordsWithin
//     later; each new result moves it, but never beyond ResumeAfter from the first speech.
//     New speech counts its length from 0 and does not move that limit, so a series of noises
//     cannot keep the agent quiet.
//   - If that limit passes during new speech, the agent resumes and the length keeps counting.
//   - Words may come before speech is detected. Enough of them stop the agent, and one opens a
//     candidate. A repeated result does not open another one, nor does a final result.
//   - After fillers and backchannels MaxFiltered replaces MinSpeech, and after an echo no
//     length counts (see [BargeInOptions.MaxFiltered]). A later word restores MinSpeech.
//
// The other policies: energy stops where hybrid opens or continues a candidate, and on any
// words except an echo. words and none open no candidate (speech started leads to talking);
// words stops on words only, none never stops. A candidate that is open when the profile
// changes still ends in time.
type BargeIn struct {
	Phase bargeInPhase `json:"phase"`
	// Applied is Duck or Pause while one of them is in force, and None otherwise.
	Applied Action `json:"applied"`
	// Heard is the last verdict on the current speech.
	Heard Verdict `json:"heard"`

	Onset    time.Time `json:"onset,omitzero"`     // when the candidate was opened
	SpeechAt time.Time `json:"speech_at,omitzero"` // start of the speech whose length counts
	WordsAt  time.Time `json:"words_at,omitzero"`  // when words came that stop the agent if they stand
	StopAt   time.Time `json:"stop_at,omitzero"`   // deadline at which sustained speech or words that stand stop the agent
	ResumeAt time.Time `json:"resume_at,omitzero"` // deadline at which the candidate ends
}

// Quiet reports whether the user is silent, as far as the reported events tell.
func (b *BargeIn) Quiet() bool { return b.Phase == bargeInQuiet }

// Reset returns to the initial state, for the beginning of a reply. If the user is speaking
// at that moment, the caller must report SpeechStarted again.
func (b *BargeIn) Reset() { *b = BargeIn{} }

// Deadline returns the time at which Passed must be called, or the zero time if there is
// none.
func (b *BargeIn) Deadline() time.Time {
	if b.StopAt.IsZero() || !b.ResumeAt.IsZero() && b.ResumeAt.Before(b.StopAt) {
		return b.ResumeAt
	}
	return b.StopAt
}

// SpeechStarted handles the onset of speech.
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
		return b.maybeStop(o, now)
	}
	b.Phase = bargeInTalking
	if o.Policy != BargeInHybrid {
		return None
	}
	return b.open(o, now)
}

// SpeechStopped handles the end of speech.
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
	b.SpeechAt = time.Time{}
	b.StopAt = b.stopAt(o)
	return None
}

// Words handles a result of the recognizer. The verdict v is on all words of the utterance
// so far, not only the newest; stood is the verdict on those with which the result before
// began, too. A final result will not change.
func (b *BargeIn) Words(o BargeInOptions, now time.Time, v, stood Verdict, final bool) Action {
	o = o.Or(DefaultBargeIn())
	if b.Phase == bargeInStopped {
		return None
	}
	if b.settles(o, now, v, stood, final) {
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
		b.StopAt = b.stopAt(o)
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
			b.SpeechAt = time.Time{}
			b.StopAt = b.stopAt(o)
			b.await(o, now)
			return action
		}
	case bargeInStopped: // handled above
	}
	return None
}

// Passed handles the passing of time. A call that is too early or repeated does nothing.
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

// settles reports whether words stop the agent now. If they would but may still change, it notes
// when they came.
func (b *BargeIn) settles(o BargeInOptions, now time.Time, v, stood Verdict, final bool) bool {
	b.WordsAt = time.Time{}
	switch {
	case !interrupts(o, v):
		return false
	case o.Policy != BargeInHybrid || o.Steady == Off || final || v.Kind == AlwaysInterrupt || interrupts(o, stood):
		return true
	default:
		b.WordsAt = now
		return false
	}
}

// Stood returns the words of a result with which the result before it began, too. [BargeIn.Words]
// takes the verdict on them.
func Stood(before, now string) string {
	end, rest := 0, before
	for len(rest) > 0 && end < len(now) {
		var x, y string
		x, rest = firstWord(rest)
		y, _ = firstWord(now[end:])
		if x == "" || !strings.EqualFold(x, y) {
			break
		}
		end += strings.Index(now[end:], y) + len(y)
	}
	return now[:end]
}

// firstWord returns the first word of a text, without the spaces around it, and what follows it.
func firstWord(s string) (word, rest string) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

// interrupts reports whether words alone take the floor.
func interrupts(o BargeInOptions, v Verdict) bool {
	switch o.Policy {
	case BargeInNone:
		return false
	case BargeInEnergy:
		return v.Kind != Nothing && v.Kind != Echo
	case BargeInHybrid:
		return v.Alone && o.Steady != Off || v.Kind == AlwaysInterrupt || substantial(v) && v.Substantial >= o.MinWords
	default:
		return v.Kind == AlwaysInterrupt || substantial(v) && v.Substantial >= o.MinWords
	}
}

// substantial reports whether the words contain anything but fillers, backchannels and
// echo.
func substantial(v Verdict) bool { return v.Kind >= OneWord }

// opens reports whether words that do not interrupt open a candidate: a new word in a
// result that is not final.
func (b *BargeIn) opens(o BargeInOptions, v Verdict, final, repeated bool) bool {
	return o.Policy == BargeInHybrid && substantial(v) && !final && !repeated
}

// open opens a candidate while the user is speaking.
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

// await sets the time at which a candidate without speech ends.
func (b *BargeIn) await(o BargeInOptions, now time.Time) {
	b.ResumeAt = now.Add(o.WordsWithin)
	if bound := b.Onset.Add(o.ResumeAfter); bound.Before(b.ResumeAt) {
		b.ResumeAt = bound
	}
}

// stopAt returns the time at which the words have stood, or the speech has lasted, long enough to
// stop the agent, or the zero time if neither can.
func (b *BargeIn) stopAt(o BargeInOptions) time.Time {
	at := b.spokenAt(o)
	if b.WordsAt.IsZero() || o.Policy != BargeInHybrid || b.Phase != bargeInTalking && b.Phase != bargeInCandidate {
		return at
	}
	if words := b.WordsAt.Add(o.Steady); at.IsZero() || words.Before(at) {
		return words
	}
	return at
}

// spokenAt returns the time at which speech since SpeechAt has lasted long enough to stop the
// agent, given its words, or the zero time if it cannot.
func (b *BargeIn) spokenAt(o BargeInOptions) time.Time {
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
		b.StopAt = time.Time{} // set under another profile
		return None
	}
	return b.stop()
}

func (b *BargeIn) stop() Action {
	*b = BargeIn{Phase: bargeInStopped, Heard: b.Heard}
	return Stop
}

// resume ends a candidate because its words take no floor.
func (b *BargeIn) resume() Action {
	b.SpeechAt, b.WordsAt, b.StopAt = time.Time{}, time.Time{}, time.Time{}
	return b.timeOut()
}

// timeOut ends a candidate. The length of speech that continues keeps counting.
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
