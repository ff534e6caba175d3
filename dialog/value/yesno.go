package value

// Answer is the answer to a yes-or-no question.
type Answer int

const (
	NoAnswer Answer = iota // neither, or both
	Yes                    // agrees
	No                     // disagrees
)

// light is the ID of a word of [Language.YesNo] that is neither a yes nor a no.
const light = 2

// YesOrNo reads an utterance that is only a yes or a no.
func (l *Language) YesOrNo(toks []Token) Answer {
	if a := l.typed(toks); a != NoAnswer {
		return a
	}
	a, rest := l.LeadingAnswer(toks)
	if rest < len(toks) {
		return NoAnswer
	}
	return a
}

// typed reads a whole message that is a hastily typed yes or no: "y", "yess".
func (l *Language) typed(toks []Token) Answer {
	if len(toks) == 1 {
		if id, n := l.TypedYesNo.At(toks, 0); n > 0 {
			return [...]Answer{Yes, No}[id]
		}
	}
	return NoAnswer
}

// LeadingAnswer reads the yes or no at the beginning of an utterance and returns the index
// at which other words begin. A yes together with a no is [NoAnswer].
func (l *Language) LeadingAnswer(toks []Token) (a Answer, rest int) {
	mixedUp := false
	i := 0
	for i < len(toks) {
		id, n := l.YesNo.At(toks, i)
		if n == 0 {
			break
		}
		if id != light {
			said := Yes
			if id == 1 {
				said = No
				if _, m := l.Not.At(toks, i); m == n { // "not correct at all"
					if next, nn := l.YesNo.At(toks, i+n); nn > 0 && next == 0 {
						n += nn
					}
				}
			}
			if a != NoAnswer && a != said {
				mixedUp = true
			}
			a = said
		}
		i += n
	}
	if mixedUp {
		return NoAnswer, i
	}
	return a, i
}
