package conv

// Output is all that one step produced. It is valid until the next Step.
type Output struct {
	Effects     []Effect
	Transitions []Transition
	Turns       []TurnEvent
	// Late: the fact belonged to a turn, request or call that is over; it was
	// dropped.
	Late bool
	// Deferred: the fact is kept until the suspension ends.
	Deferred bool
	// Keep: the state has to be kept before anybody is told what the step did. The phase,
	// the dialogue, the history or a call has changed (seed 003, Checkpoint Strategy).
	Keep bool

	marked  int          // how many of Turns lie before the last of Transitions
	asks    bool         // Effects has a request for a reply
	context ReplyContext // for that request; a field, so that it is allocated once
}

// reset makes it the output of a step that has done nothing yet.
func (out *Output) reset() {
	out.Effects, out.Transitions, out.Turns = out.Effects[:0], out.Transitions[:0], out.Turns[:0]
	out.Late, out.Deferred, out.Keep, out.marked, out.asks = false, false, false, 0, false
}

// ask asks for a reply. What it is made of is known at the end of the step.
func (out *Output) ask(r *Reply) {
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

// turnOfChange is the turn that a transition belongs to: the agent's that is open, or
// one that it has ended, the agent's before the user's, or the user's that is open.
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
