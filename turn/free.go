package turn

import (
	"math"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/turn/ending"
)

// free is what is known of a turn of free speech, of which the dialogue does not know whether
// it is complete: log odds for it, 0 if unknown.
type free struct {
	english bool
	words   float64 // by the words
	voice   float64 // by the model that hears the user
}

func newFree(language string) free {
	main, _, _ := strings.Cut(strings.ReplaceAll(language, "_", "-"), "-")
	return free{english: main == "" || strings.EqualFold(main, "en")}
}

// read takes the words.
func (f *free) read(text string) {
	f.words = 0
	if f.english {
		f.words = logOdds(ending.Complete(text))
	}
}

// Of the evidence: how much the words and the voice count, the log odds that halve the
// silence, and the most that one of them may say.
const (
	evidenceWords = 1.0
	evidenceVoice = 0.25
	halving       = 2.5
	maxLogOdds    = 4.0
)

// limit returns the silence that ends the turn, and the rule that says so. Words that do not
// contain all of the speech count against the end alone.
func (f *free) limit(o AutoOptions, behind bool) (time.Duration, rule) {
	words := f.words
	if behind {
		words = min(words, 0)
	}
	odds := evidenceWords*words + evidenceVoice*f.voice
	if odds == 0 {
		return o.Silence, ruleSilence
	}
	limit := time.Duration(float64(o.Silence) * math.Exp2(-odds/halving))
	return min(max(limit, min(o.Finished, o.Silence)), o.Incomplete), ruleFinished
}

// logOdds returns the log odds of a probability, 0 if it is unknown.
func logOdds(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return 0
	}
	return min(max(math.Log(p/(1-p)), -maxLogOdds), maxLogOdds)
}
