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

// Choice reads the yes or no at the beginning of an utterance as the answer to a slot's question,
// such as "would you like the insurance?", and returns the index at which other words begin. Such a
// question states nothing, unless it says so ("is that right?"): "that is correct" and "that is
// wrong" do not answer it, nor does praise ("sounds good") without a yes.
func (l *Language) Choice(s *Spec, toks []Token) (a Answer, rest int) {
	a, rest = l.LeadingAnswer(toks)
	praised, plain := false, false
	for i := 0; i < rest; {
		id, n := l.YesNo.At(toks, i)
		kind, m := l.approvals.At(toks, i)
		switch {
		case id == 1 && l.ChangeVerbs.Within(toks[i:i+n]), id == 0 && m == n && kind == 0:
			if !l.statesWith(s, toks[i:i+n]) {
				return NoAnswer, rest
			}
			plain = true
		case id == 0 && m == n:
			praised = true
		case id != light:
			plain = true
		}
		i += n
	}
	if praised && !plain {
		return NoAnswer, rest
	}
	return a, rest
}

// SaysYes reports whether an utterance begins with a yes that is not just praise.
func (l *Language) SaysYes(toks []Token) bool {
	a, rest := l.LeadingAnswer(toks)
	for i := 0; i < rest && a == Yes; {
		id, n := l.YesNo.At(toks, i)
		if kind, m := l.approvals.At(toks, i); id == 0 && (m != n || kind == 0) {
			return true
		}
		i += n
	}
	return false
}

// statesWith reports whether the slot's question has one of the words itself: "is that right?".
func (l *Language) statesWith(s *Spec, toks []Token) bool {
	for i, t := range toks {
		if _, light := l.Light.At(toks, i); light == 0 && s.PromptWords[Stem(t.Text)] {
			return true
		}
	}
	return false
}
