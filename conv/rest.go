package conv

import "slices"

// AtRest reports whether nobody speaks, no line waits for its answer and nothing runs but
// delegated work, which outlives the process: the conversation can go on in another
// process without the person hearing more of it than a new connection.
func (s *State) AtRest() bool {
	if s.Phase != ListeningReady && s.Phase != Reconnecting || s.Pending.Ending || len(s.Pending.Texts) > 0 {
		return false
	}
	runs := slices.ContainsFunc(s.Calls, func(c Call) bool { return !c.Long })
	return !runs && (s.Phase == Reconnecting || !s.Playout.Playing)
}
