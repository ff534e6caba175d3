package value

// Answer is the answer to a question of yes or no.
type Answer int

const (
	NoAnswer Answer = iota // neither, or both
	Yes                    // agrees
	No                     // disagrees
)

// YesOrNo reads an utterance that is a yes or a no and nothing else.
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

// typed is a yes or no that is written in haste and is the whole message: "y", "yess".
func (l *Language) typed(toks []Token) Answer {
	if len(toks) == 1 {
		if id, n := l.TypedYesNo.At(toks, 0); n > 0 {
			return [...]Answer{Yes, No}[id]
		}
	}
	return NoAnswer
}

// LeadingAnswer reads the yes or no at the front of an utterance and says where
// other words begin. A yes and a no together are neither.
func (l *Language) LeadingAnswer(toks []Token) (a Answer, rest int) {
	mixedUp := false
	i := 0
	for i < len(toks) {
		id, n := l.YesNo.At(toks, i)
		if n == 0 {
			break
		}
		if id != 2 {
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
