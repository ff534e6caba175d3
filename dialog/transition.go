package dialog

// Transition is an edge of the dialogue's state machine.
type Transition struct {
	From, To ConversationState
	On       string
}

// transitions is the matrix of seed 003 ("Transition Matrix" and the descriptions of the
// states), followed by the edges that the engine needs in addition. The engine takes no
// other edges, except those to [Error].
var transitions = [...]Transition{
	{Idle, Understanding, "user message"},
	{Understanding, WaitingForSlot, "slot needed"},
	{Understanding, ExecutingAction, "all slots filled"},
	{Understanding, Idle, "no intent"},
	{WaitingForSlot, ValidatingSlot, "user responds"},
	{WaitingForSlot, Understanding, "user changes intent"},
	{ValidatingSlot, WaitingForSlot, "validation fails"},
	{ValidatingSlot, Understanding, "validation succeeds"},
	{ValidatingSlot, ExecutingAction, "all slots validated"},
	{ExecutingAction, Completed, "action succeeds"},
	{ExecutingAction, WaitingForSlot, "action needs more data"},
	{ExecutingAction, Confirming, "action needs confirmation"},
	{Confirming, ExecutingAction, "user confirms"},
	{Confirming, Completed, "user cancels"},
	{Confirming, Understanding, "user changes the request"},
	{Completed, Idle, "flow done"},
	{Error, Understanding, "user retries"},
	{Error, Idle, "user cancels"},

	{Understanding, Confirming, "the next step confirms"},
	{ValidatingSlot, Confirming, "the next step confirms"},
	{ValidatingSlot, Completed, "no action is left"},
	{Understanding, Completed, "no action is left"},
	{ExecutingAction, ExecutingAction, "the next step is an action"},
}

// Transitions returns every edge that the engine may take, including the edges from each
// state to [Error] ("ANY -> ERROR").
func Transitions() []Transition {
	out := make([]Transition, 0, len(transitions)+8)
	out = append(out, transitions[:]...)
	for _, s := range ConversationStates() {
		out = append(out, Transition{s, Error, "unexpected error"})
	}
	return out
}

// allowed reports whether the state machine has an edge.
func allowed(from, to ConversationState) bool {
	if to == Error {
		return true
	}
	for i := range transitions {
		if transitions[i].From == from && transitions[i].To == to {
			return true
		}
	}
	return false
}

// edgeName returns the matrix's name of an edge.
func edgeName(from, to ConversationState) string {
	for i := range transitions {
		if transitions[i].From == from && transitions[i].To == to {
			return transitions[i].On
		}
	}
	return "unexpected error"
}
