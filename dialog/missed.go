package dialog

import "time"

// Missed reports whether the agent would use nothing of an input and ask again: the recognizer
// has too little confidence in it, or its words mean nothing here. It reports false if only a
// model can tell. The state does not change.
func (a *Agent) Missed(st *State, now time.Time, in Input) bool {
	c := st.Clone()
	t := a.handle(&c, now, in)
	return t.missed && !t.failed
}
