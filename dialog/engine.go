package dialog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// maxDepth bounds the stack of flows that wait.
const maxDepth = 8

// Start begins the dialogue. It returns the greeting and runs the flow that settings.start
// names, if any. If the state has been used, Start resets it; slots and metadata that the
// caller has put into a new State stay, and no flow clears them.
func (a *Agent) Start(st *State, now time.Time) Output {
	if len(st.Messages) > 0 || st.TurnCount > 0 {
		*st = State{}
	}
	slots, metadata := st.Slots, st.Metadata
	*st = State{
		Messages: []ChatMessage{}, Slots: slots, CurrentFlow: agent.NoFlow, ConversationState: Idle,
		Trace: []TraceEvent{}, Metadata: metadata,
	}
	a.begin(st)
	t := a.turn(st, now)
	t.sayMessage(a.def.Messages["greeting"], agent.WordingFixed)
	if a.def.Start != nil && t.mayStart(a.def.Start) {
		t.enter(Understanding)
		t.startFlow(a.def.Start, true)
		t.advance()
	}
	return t.finish()
}

// begin initializes the state of a new conversation: it records the slots that the caller
// has given and fills in the defaults.
func (a *Agent) begin(st *State) {
	if len(st.Slots) > 0 {
		st.Given = slices.Sorted(maps.Keys(st.Slots))
	}
	st.init()
	for _, s := range a.def.Slots {
		if s.Default != nil && st.Slots[s.Name] == nil {
			st.Slots[s.Name] = value.Canonical(s.Default)
		}
	}
}

// init makes the zero State usable.
func (s *State) init() {
	if s.Slots == nil {
		s.Slots = make(map[string]any)
	}
	for k, v := range s.Slots {
		s.Slots[k] = value.Canonical(v)
	}
	if s.Metadata == nil {
		s.Metadata = make(map[string]any)
	}
	if s.Messages == nil {
		s.Messages = []ChatMessage{}
	}
	if s.Trace == nil {
		s.Trace = []TraceEvent{}
	}
	if s.ConversationState == "" {
		s.ConversationState = Idle
	}
	if s.CurrentFlow == "" {
		s.CurrentFlow = agent.NoFlow
	}
}

// Handle handles an input and returns the engine's response. It never blocks. An error puts
// the dialogue into its error state (seed 003, rule 7), from where the user may retry or
// cancel. The result of an action or an understanding that is not outstanding changes
// nothing.
func (a *Agent) Handle(st *State, now time.Time, in Input) Output {
	return a.handle(st, now, in).finish()
}

// handle handles an input and returns the turn, whose output is not complete.
func (a *Agent) handle(st *State, now time.Time, in Input) *turn {
	switch {
	case st.ConversationState == "": // the user speaks first
		a.begin(st)
	case st.Slots == nil || st.Metadata == nil:
		st.init()
	}
	t := a.turn(st, now)
	switch in := in.(type) {
	case Message:
		t.message(in)
	case ActionEnded:
		t.actionEnded(in)
	case Understood:
		t.understood(in)
	default:
		panic(fmt.Sprintf("dialog: unexpected input %T", in))
	}
	return t
}

// Repeat returns the last response again. The state does not change.
func (a *Agent) Repeat(st *State, now time.Time) Output {
	t := a.turn(st, now)
	if st.LastResponse != "" {
		t.out.Say = []Line{{Text: st.LastResponse, Fixed: true}}
		if c := st.Confirmation; c != nil && c.Asked {
			t.out.Confirm = &Question{Text: st.LastResponse, Tail: c.Tail}
		}
	}
	t.out.Expect = t.expect()
	return t.out
}

// Answered records what a model answered to an [Output] with Ask, so that it is in the
// history and can be repeated.
func (a *Agent) Answered(st *State, now time.Time, text string) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" {
		return
	}
	t := a.turn(st, now)
	st.LastResponse, st.ReadBack = text, false
	if c := st.Confirmation; c != nil {
		c.Asked = false
	}
	t.remember("assistant", text)
}

// Resume continues a dialogue that was read from a checkpoint. It asks again for an action
// whose result is outstanding, under the same idempotency key. If an understanding was
// outstanding, it understands the message by its words. Otherwise it returns the last
// response again.
func (a *Agent) Resume(st *State, now time.Time) Output {
	st.init()
	switch {
	case st.ConversationState == ExecutingAction && st.Action != nil && !st.Action.Failed:
		t := a.turn(st, now)
		t.out.Act = t.call()
		return t.finish()
	case st.ConversationState == Understanding && st.Pending != "":
		return a.Handle(st, now, Understood{Failed: true})
	}
	return a.Repeat(st, now)
}

// TakeBack removes a message whose understanding is outstanding, as if it had not been
// said, and returns its text. The caller uses it when the user takes the turn back or the
// conversation is cut off. If no understanding is outstanding, TakeBack does nothing and
// returns "".
func (a *Agent) TakeBack(st *State, now time.Time) string {
	text := st.Pending
	if text == "" || st.ConversationState != Understanding {
		return ""
	}
	t := a.turn(st, now)
	st.Pending = ""
	if n := len(st.Messages); n > 0 && st.Messages[n-1].Role == "user" {
		st.Messages = st.Messages[:n-1]
		st.TurnCount--
	}
	t.trace("taken_back", TraceData{})
	t.enter(t.resting())
	return text
}

// RecoverFromError returns from the error state to the state in
// metadata.error.recovery_state, or to idle (seed 003, State Recovery). In other states it
// only repeats the last response.
func (a *Agent) RecoverFromError(st *State, now time.Time) Output {
	st.init()
	if st.ConversationState != Error {
		return a.Repeat(st, now)
	}
	t := a.turn(st, now)
	recovery := ConversationState("")
	if e, ok := st.Metadata["error"].(map[string]any); ok {
		if s, ok := e["recovery_state"].(string); ok {
			recovery = ConversationState(s)
		}
	}
	t.flow = t.a.def.FlowIndex[st.CurrentFlow]
	if recovery == "" || recovery == Idle || recovery == Completed || t.flow == nil {
		t.enter(Idle)
		t.dropFlow()
		return t.finish()
	}
	t.enter(Understanding)
	t.sayMessage(a.def.Messages["recovered"], agent.WordingFixed)
	said := t.out.Say
	t.retry()
	if recovery != ExecutingAction { // the seed wants no more than this message
		t.out.Say = said
	}
	return t.finish()
}

// turn handles one input.
type turn struct {
	question
	builtinRun

	outcome  string // of the flow that has ended: "denied", "failed" or ""
	changing bool   // the user was asked what to change
	missed   bool   // nothing in the message was used, see [Agent.Missed]
}

func (a *Agent) turn(st *State, now time.Time) *turn {
	t := new(turn)
	t.a, t.st, t.now, t.ts = a, st, now, seconds(now)
	t.flow, t.before, t.awaited, t.about = a.def.FlowIndex[st.CurrentFlow], st.ConversationState, st.WaitingForSlot, st.About
	t.fail = t.failWith
	return t
}

// failWith puts the dialogue into the error state, from any state (seed 003, rule 7).
func (t *turn) failWith(kind, message string) {
	from := t.st.ConversationState
	if from == Error || t.failed {
		t.st.ConversationState = Error
		return
	}
	t.failed = true
	t.st.Metadata["error"] = map[string]any{
		"type": kind, "message": value.Canonical(message), "timestamp": value.Number(t.ts), "recovery_state": string(from),
	}
	t.trace("error", TraceData{From: from, Detail: kind + ": " + message, Step: t.st.CurrentStep})
	t.enter(Error)
	t.out.Act, t.out.Understand, t.out.Ask = nil, nil, false
	said := len(t.out.Say)
	if t.builtin(agent.PatternError, builtinContext{"error": kind}); len(t.out.Say) == said {
		t.phrase("error")
		t.phrase("error_offer")
	}
}

// finish completes the output of the turn.
func (t *turn) finish() Output {
	st := t.st
	t.hide()
	if len(t.out.Say) > 0 {
		st.LastResponse = joinLines(t.out.Say)
		st.ReadBack = t.readBack
		t.remember("assistant", st.LastResponse)
		if t.said != "" {
			st.LastResponse = t.said
		}
		t.asksToConfirm()
	}
	if t.out.Act == nil && t.out.Understand == nil {
		t.out.Expect = t.expect()
	}
	if t.out.Understand == nil {
		st.Changing = t.changing
	}
	st.tidy()
	return t.out
}

// tidy sets empty lists to nil, as they read back from JSON.
func (s *State) tidy() {
	if len(s.Stack) == 0 {
		s.Stack = nil
	}
	if len(s.Path) == 0 {
		s.Path = nil
	}
	if len(s.Recent) == 0 {
		s.Recent = nil
	}
	if len(s.Checked) == 0 {
		s.Checked = nil
	}
	if len(s.Kept) == 0 {
		s.Kept = nil
	}
}

// maxRecent bounds State.Recent.
const maxRecent = 64
