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

// maxDepth bounds how many flows wait for others.
const maxDepth = 8

// Start begins the dialogue: the greeting, and the first step of the flow that
// settings.start names. A dialogue that was begun before is forgotten; slots and
// metadata that a caller put into a new State stay, and no flow clears them.
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

// begin makes a state that of a conversation that begins: its slots are those that the
// program has given, and the defaults.
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

// Handle takes an input and returns what follows from it. It never blocks and
// never fails: what goes wrong puts the dialogue into its error state (seed
// 003, rule 7), from where the user may retry or cancel. An answer to something
// that was not asked changes nothing.
func (a *Agent) Handle(st *State, now time.Time, in Input) Output {
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
	return t.finish()
}

// Repeat says the last response again. The dialogue stays where it is.
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

// Answered notes what a model answered to an Output with Ask, so that it is in
// the history and can be repeated.
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

// Resume goes on with a dialogue that was read back from a checkpoint: an
// action whose result is outstanding is asked for again under the same
// idempotency key, an understanding that was in flight is done locally, and
// otherwise the last response is said again.
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

// TakeBack forgets a message that a model was asked about and has not answered,
// as if it had not been said, and returns its text: the turn was taken back, or
// the conversation was cut off. It does nothing, and returns "", where no
// understanding is in flight.
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

// RecoverFromError restores the state before an error (seed 003, State
// Recovery): to where metadata.error says, or to idle. It does nothing in other
// states.
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
	if recovery != ExecutingAction { // the seed says this alone
		t.out.Say = said
	}
	return t.finish()
}

// turn is one step of the engine: the state, the instant, and what has come of
// it so far.
type turn struct {
	a    *Agent
	st   *State
	now  time.Time
	ts   float64
	flow *agent.Flow // of CurrentFlow, nil without one

	awaited string // slot that was awaited when the message came
	secret  bool   // the message has a secret in it

	out                    Output
	readBack               bool
	confirms               int      // the line of Say, from 1, that asks to confirm; 0: none does
	valued                 int      // the first line of Say that says a value
	tail                   string   // what is said behind the last value
	unused                 []string // parts of the message that nothing was done with
	steps                  int
	before                 ConversationState // when the message came
	failed                 bool
	declined, unsuccessful bool                        // a yes was refused, an action has failed
	refused                bool                        // the awaited slot's value did not do
	changing               bool                        // what to change was asked
	either                 []*agent.Slot               // to which of them a value belongs is not known
	kept                   bool                        // a further request was kept
	coming                 map[string]any              // what the commands give to slots
	twinned                *agent.Slot                 // has the value that was refused for another one
	rejected               map[string]*agent.Rejection // the rules that turned values down
	barred                 *agent.Flow                 // was asked for and may not start
	half                   any                         // a day that was refused, because its year was not said
	was                    map[string]any              // what State.Either was before the message
	asked                  *agent.Slot                 // what was said of its value asks for another
	dropped                []*agent.Slot               // of values that did not do and that nobody had asked for
	offered                []*agent.Flow               // that may be meant, and that the words do not ask for plainly
	given                  map[string]any              // values that were said for the one that is offered
	reached                []*agent.Flow               // whose slots the commands may fill
	suggested              *Suggestion                 // that the message may answer in words of its own

	about     about // what the built-in flow is about that runs
	after     after
	left      string        // the built-in flow that was left
	quiet     bool          // the built-in flow is ours: it leaves no trace
	fresh     bool          // the built-in flow has not been on top
	skipped   bool          // a step of the built-in flow that waits was left out
	resumed   bool          // the flow below a built-in one goes on
	moved     bool          // a built-in flow has come on top, and asks
	deferring bool          // what waits waits for its turn
	deferred  *deferredStep // waits for its turn

	rd  value.Reader
	buf [24]value.Token
}

func (a *Agent) turn(st *State, now time.Time) *turn {
	return &turn{a: a, st: st, now: now, ts: seconds(now), flow: a.def.FlowIndex[st.CurrentFlow], before: st.ConversationState, awaited: st.WaitingForSlot, about: st.About}
}

// read cuts a text into tokens for the rest of the turn.
func (t *turn) read(text string) {
	t.rd = value.Reader{Lang: t.a.def.Lang, Raw: text, Toks: value.Tokenize(text, t.buf[:0]), Now: t.now, Week: t.st.Week}
}

// enter changes the conversation state along an edge of the matrix.
func (t *turn) enter(to ConversationState) {
	from := t.st.ConversationState
	if !allowed(from, to) {
		if to == Understanding || !allowed(from, Understanding) || !allowed(Understanding, to) {
			t.fail("TransitionError", fmt.Sprintf("no way from %s to %s", from, to))
			return
		}
		t.enter(Understanding) // CONFIRMING goes on by way of UNDERSTANDING
		from = Understanding
	}
	t.st.ConversationState = to
	if to != Understanding && to != Error {
		delete(t.st.Metadata, "error") // overcome
	}
	on := edgeName(from, to)
	if from == ValidatingSlot && to == WaitingForSlot && !t.refused {
		on = "slot needed" // the next one: the edge serves both
	}
	d := TraceData{From: from, To: to, On: on, Step: t.st.CurrentStep, Slot: t.st.WaitingForSlot}
	if t.st.CurrentFlow != agent.NoFlow {
		d.Flow = t.st.CurrentFlow
	}
	if to == ValidatingSlot {
		d.Value = t.st.Slots[t.st.WaitingForSlot]
	}
	t.trace("state_changed", d)
}

// trace appends an event to the audit trail, which keeps the latest.
func (t *turn) trace(event string, d TraceData) {
	limit := t.a.def.Settings.TraceLimit
	if limit <= 0 {
		return
	}
	st := t.st
	if len(t.a.def.Secrets) > 0 {
		t.hideIn(&d)
	}
	if n := len(st.Trace); n >= limit {
		st.Trace = slices.Delete(st.Trace, 0, n-limit+max(1, limit/4))
	}
	if n := cap(st.Trace); len(st.Trace) == n { // never more room than the limit asks for
		st.Trace = append(make([]TraceEvent, 0, min(limit, max(8, 2*n))), st.Trace...)
	}
	st.Trace = append(st.Trace, TraceEvent{Event: event, Timestamp: t.ts, Data: d})
}

// remember appends to the message history, which keeps the latest.
func (t *turn) remember(role, text string) {
	limit := t.a.def.Settings.HistoryLimit
	st := t.st
	if n := len(st.Messages); n >= limit {
		st.Messages = slices.Delete(st.Messages, 0, n-limit+1)
	}
	st.Messages = append(st.Messages, ChatMessage{Role: role, Content: text, Timestamp: t.ts})
}

// fail is rule 7: any state to ERROR.
func (t *turn) fail(kind, message string) {
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
	if t.builtin(agent.PatternError, about{"error": kind}); len(t.out.Say) == said {
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

// tidy keeps empty lists nil, as they read back from JSON.
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

// maxRecent bounds how far back the order of the slots is remembered.
const maxRecent = 64

// set stores the value of a slot and remembers that it was the latest.
func (t *turn) set(name string, v any) {
	t.st.Slots[name] = value.Canonical(v)
	st := t.st
	t.told(t.a.def.SlotIndex[name])
	if i := slices.Index(st.Recent, name); i >= 0 {
		st.Recent = slices.Delete(st.Recent, i, i+1)
	}
	if len(st.Recent) >= maxRecent {
		st.Recent = slices.Delete(st.Recent, 0, 1)
	}
	st.Recent = append(st.Recent, name)
}

// step finds the current step, nil if the flow has not begun.
func (t *turn) step() *agent.Step {
	if t.flow == nil || t.st.CurrentStep == "" {
		return nil
	}
	i, ok := t.flow.IDs[t.st.CurrentStep]
	if !ok {
		return nil
	}
	return t.flow.Steps[i]
}

// visited notes that the run has been at a step.
func (t *turn) visited(s *agent.Step) {
	if !slices.Contains(t.st.Path, s.ID) {
		t.st.Path = append(t.st.Path, s.ID)
	}
}
