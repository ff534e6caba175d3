package dialog

import "time"

// sentence is how many words are more than a noise that the recognizer has taken for speech.
const sentence = 3

// Missed reports whether the agent would use nothing of an input and ask again: the recognizer
// has too little confidence in it, or its words mean nothing here. It reports false if only a
// model can tell, and for a sentence after an action that cannot be undone: the sentence may call
// the action off, so it must be answered. The state does not change.
func (a *Agent) Missed(st *State, now time.Time, in Input) bool {
	c := st.Clone()
	t := a.handle(&c, now, in)
	if !t.missed || t.failed {
		return false
	}
	m, said := in.(Message)
	return !said || !t.sealed() || len(t.rd.Toks) < sentence || t.unsure(m)
}
