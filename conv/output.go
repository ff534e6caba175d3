package conv

// Output is everything that one step produced. It is valid until the next Step.
type Output struct {
	Effects     []Effect     // in the order in which they must be carried out
	Transitions []Transition // the changes of phase, in order
	Turns       []TurnEvent  // the beginnings and ends of turns, in order
	// Late says that the event was dropped because it belonged to a turn, request or call
	// that is over.
	Late bool
	// Deferred says that the event is queued until the suspension ends.
	Deferred bool
	// Keep says that the driver must store the state before it carries out the effects. The
	// phase, the dialogue, the history or a call has changed (seed 003, Checkpoint Strategy).
	Keep bool

	marked  int          // how many of Turns came before the last of Transitions
	asks    bool         // Effects contains a request for a reply
	context ReplyContext // the context of that request; a field, so that it is allocated once
}

// reset empties the output before a step.
func (out *Output) reset() {
	out.Effects, out.Transitions, out.Turns = out.Effects[:0], out.Transitions[:0], out.Turns[:0]
	out.Late, out.Deferred, out.Keep, out.marked, out.asks = false, false, false, 0, false
}

// ask emits the request of the reply. Step sets the context of the request at its end.
func (out *Output) ask(r *reply) {
	e := r.ask()
	e.Context = &out.context
	out.asks = true
	out.emit(e)
}

func (out *Output) emit(e Effect) {
	out.Effects = append(out.Effects, e)
	out.Keep = out.Keep || works[e.effect()].kept
}

func (out *Output) notify(level NotifyLevel, code string) {
	out.emit(Notify{Level: level, Code: code})
}

// turnOfChange returns the number of the turn that a transition belongs to: the agent's open
// turn; or else a turn that has ended since the transition before, the agent's rather than
// the user's; or else the user's open turn.
func (out *Output) turnOfChange(s *State) int {
	ended := out.Turns[out.marked:]
	out.marked = len(out.Turns)
	if s.Reply.Turn != 0 {
		return s.Reply.Turn
	}
	number := s.User.Turn
	for i := range ended {
		if t := &ended[i]; t.Type != TurnStarted {
			number = t.Turn
			if t.Role == RoleAgent {
				break
			}
		}
	}
	return number
}
