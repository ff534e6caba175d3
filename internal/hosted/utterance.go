package hosted

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// utterance assigns what a service has heard to utterances: those whose final words were
// requested, in order, and then the open one. It decides; the stream carries out.
type utterance struct {
	open  bool
	asked []asked
	owed  int           // requests that were answered without the service, whose answers are late
	floor time.Duration // sound before it belongs to utterances that are over
	// processed is the length of the sound that was processed.
	processed time.Duration

	fixed, volatile []Token // of the oldest utterance that is not over
	language        string
	score           float64
	told            string // the text of the last result

	kept    []order // the sound of the last utterance
	samples int     // in kept
	again   bool    // another connection was made for it already
}

// asked is an utterance that has ended and whose final words are awaited.
type asked struct {
	wanted  bool
	through time.Duration // the sound up to its end
	counted bool          // it is over when that much sound has been processed
	until   time.Time
	heard   bool // the service has said something since
}

// slack is how much less sound than was sent a service may report as processed.
const slack = 100 * time.Millisecond

// begin begins an utterance. It returns false if one is open already.
func (u *utterance) begin() bool {
	if u.open {
		return false
	}
	u.open, u.kept, u.samples, u.again = true, nil, 0, false
	if len(u.asked) == 0 {
		u.clear()
	}
	return true
}

// busy reports whether anything is being recognized.
func (u *utterance) busy() bool { return u.open || len(u.asked) > 0 }

// keep keeps sound so that it can be sent again. It forgets the beginning of what is longer
// than most samples.
func (u *utterance) keep(o order, most int) {
	u.kept = append(u.kept, o)
	u.samples += len(o.pcm)
	for u.samples > most && len(u.kept) > 0 {
		u.samples -= len(u.kept[0].pcm)
		u.kept = u.kept[1:]
	}
}

// conclude ends the open utterance, and returns its result if nothing more is awaited.
func (u *utterance) conclude(wanted bool, through time.Duration, counted bool, until time.Time) []port.Transcript {
	u.open = false
	u.asked = append(u.asked, asked{wanted: wanted, through: through, counted: counted, until: until})
	if counted && len(u.asked) == 1 && u.processed+slack >= through {
		return u.resolve(through)
	}
	return nil
}

// deadline returns when the oldest request must be answered.
func (u *utterance) deadline() (time.Time, bool) {
	if len(u.asked) == 0 {
		return time.Time{}, false
	}
	return u.asked[0].until, true
}

// silent reports whether the service has said nothing since the oldest request.
func (u *utterance) silent() bool { return len(u.asked) > 0 && !u.asked[0].heard }

// hear takes what a message says and returns the results.
func (u *utterance) hear(h Heard) []port.Transcript {
	for i := range u.asked {
		u.asked[i].heard = true
	}
	u.processed = max(u.processed, h.Through)
	if !u.busy() {
		if h.Finalized {
			u.owed = max(0, u.owed-1)
		}
		return nil // late words of an utterance that is over
	}
	u.fixed = append(u.fixed, u.ours(h.Fixed)...)
	u.volatile = u.ours(h.Volatile)
	if h.Language != "" {
		u.language = h.Language
	}
	u.score = unit(h.EndOfTurn)
	if h.Finalized && h.Through == 0 && u.owed > 0 {
		u.owed--
		h.Finalized = false
	}
	switch {
	case len(u.asked) > 0 && (h.Finalized || u.asked[0].counted):
		if through, ok := u.answered(h); ok {
			return u.resolve(through)
		}
	case h.Endpoint && len(u.asked) == 0:
		return u.endpoint()
	}
	return u.partial()
}

// answered reports whether a message answers the oldest request, and how much sound it is
// about.
func (u *utterance) answered(h Heard) (through time.Duration, ok bool) {
	if h.Through == 0 {
		return u.asked[0].through, h.Finalized
	}
	return h.Through, h.Through+slack >= u.asked[0].through
}

// ours returns the tokens that do not belong to an utterance that is over.
func (u *utterance) ours(tokens []Token) []Token {
	var ours []Token
	for _, t := range tokens {
		if t.Start >= u.floor || t.End == 0 {
			ours = append(ours, t)
		}
	}
	return ours
}

// resolve ends the oldest request, and those after it that are about the sound up to through
// too, with the words that are known.
func (u *utterance) resolve(through time.Duration) (results []port.Transcript) {
	for first := true; len(u.asked) > 0 && (first || u.asked[0].through <= through); first = false {
		a := u.asked[0]
		u.asked = u.asked[1:]
		if a.wanted {
			t := u.transcript()
			t.Final = true
			results = append(results, t)
		}
		u.floor = a.through
		u.clear()
	}
	return results
}

// expire ends the oldest request, which the service has not answered in time.
func (u *utterance) expire() []port.Transcript {
	u.owed++
	return u.resolve(-1)
}

// endpoint returns the result for the words of the open utterance so far, which goes on.
func (u *utterance) endpoint() []port.Transcript {
	t := u.transcript()
	u.clear()
	u.kept, u.samples = nil, 0
	if t.Text == "" {
		return nil
	}
	t.Final, t.Endpoint, u.again = true, true, false
	return []port.Transcript{t}
}

// partial returns the result for words that are not final, if they are new.
func (u *utterance) partial() []port.Transcript {
	if len(u.asked) > 0 && !u.asked[0].wanted {
		return nil
	}
	t := u.transcript()
	if t.Text == "" || t.Text == u.told && t.EndOfTurn == 0 {
		return nil
	}
	u.told = t.Text
	return []port.Transcript{t}
}

func (u *utterance) transcript() port.Transcript {
	t := transcript(assemble(slices.Concat(u.fixed, u.volatile)))
	t.Language, t.EndOfTurn = u.language, u.score
	return t
}

func (u *utterance) clear() {
	u.fixed, u.volatile, u.language, u.score, u.told = nil, nil, "", 0, ""
}

// restart prepares for another connection, whose sound counts from 0. What was requested
// before the last utterance is answered with the words that are known. The sound of the last
// utterance is returned, to be sent again, if it is not over; finalize reports whether its
// final words were requested.
func (u *utterance) restart() (results []port.Transcript, again []order, finalize bool) {
	last := len(u.asked)
	if !u.open && last > 0 {
		last-- // the sound of the last request is kept
	}
	for range last {
		results = append(results, u.resolve(-1)...)
	}
	u.clear()
	if !u.busy() {
		return results, nil, false
	}
	return results, u.kept, !u.open
}
