package dialog

// Answers to a question of yes or no.
type yesNoAnswer int

const (
	answerNone yesNoAnswer = iota
	answerYes
	answerNo
)

// yesOrNo reads an utterance that is a yes or a no and nothing else.
func (l *language) yesOrNo(toks []token) yesNoAnswer {
	a, rest := l.leadingAnswer(toks)
	if rest < len(toks) {
		return answerNone
	}
	return a
}

// leadingAnswer reads the yes or no at the front of an utterance and says where
// other words begin. A yes and a no together are neither.
func (l *language) leadingAnswer(toks []token) (a yesNoAnswer, rest int) {
	mixedUp := false
	i := 0
	for i < len(toks) {
		id, n := l.yesNo.at(toks, i)
		if n == 0 {
			break
		}
		if id != 2 {
			said := answerYes
			if id == 1 {
				said = answerNo
				if _, m := l.not.at(toks, i); m == n { // "not correct at all"
					if next, nn := l.yesNo.at(toks, i+n); nn > 0 && next == 0 {
						n += nn
					}
				}
			}
			if a != answerNone && a != said {
				mixedUp = true
			}
			a = said
		}
		i += n
	}
	if mixedUp {
		return answerNone, i
	}
	return a, i
}
