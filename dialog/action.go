package dialog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file runs actions.

// runAction starts the step's action if its inputs are there and, if it requires
// confirmation, the user has confirmed these inputs. Otherwise it asks for the missing slot
// or for the confirmation. It reports whether the flow goes on.
func (t *turn) runAction(s *agent.Step) bool {
	st := t.st
	st.CurrentStep = s.ID
	st.WaitingForSlot = ""
	for _, in := range s.Action.Inputs {
		if sl := t.a.def.SlotIndex[in.From]; sl != nil && !in.Optional && sl.Type != value.TypeAny && st.Slots[in.From] == nil {
			st.Asking = &Asking{Slot: in.From}
			return true
		}
	}
	if s.Action.RequiresConfirmation && !t.granted(s.Action) {
		t.enter(ExecutingAction)
		st.Confirmation = &Confirmation{Step: s.ID, Action: true}
		t.askConfirmation(s)
		return false
	}
	st.Granted, st.GrantedFor = false, nil
	st.Calls++
	key := t.flow.Name + "." + s.ID + "." + strconv.Itoa(st.Calls)
	st.Action = &PendingAction{ID: key, Key: key, Name: s.Action.Name, Step: s.ID, Inputs: t.inputs(s.Action), Attempt: 1}
	t.startAction()
	if s.Action.Mocked && !t.failed {
		return t.mocked(s)
	}
	return false
}

// mocked ends an action that the agent's files answer. It reports whether the flow goes on.
func (t *turn) mocked(s *agent.Step) bool {
	outputs := make(map[string]any, len(s.Action.Mock))
	for _, set := range s.Action.Mock {
		v, err := t.valueOf(set)
		if err != nil {
			t.fail("ExpressionError", err.Error())
			return false
		}
		outputs[set.Name] = v
	}
	t.out.Act, t.st.Action = nil, nil
	t.mapOutputs(s, outputs)
	t.st.Acted = t.st.Acted || s.Action.RequiresConfirmation
	t.trace("action_completed", TraceData{Step: s.ID, Action: s.Action.Name, Detail: "mock"})
	return t.next(s, s.Next)
}

// inputs collects the arguments of an action. An undeclared action gets the slots of the
// flow.
func (t *flows) inputs(a *agent.Action) map[string]any {
	var m map[string]any
	if !a.Declared {
		for _, s := range t.flow.Slots {
			if v := t.st.Slots[s.Name]; v != nil {
				put(&m, s.Name, v)
			}
		}
		return m
	}
	for _, in := range a.Inputs {
		if v := t.st.Slots[in.From]; v != nil {
			put(&m, in.Name, v)
		}
	}
	return m
}

func (t *speech) startAction() {
	t.enter(ExecutingAction)
	if t.failed {
		return
	}
	t.trace("action_started", TraceData{Step: t.st.Action.Step, Action: t.st.Action.Name, Detail: t.st.Action.ID})
	t.out.Act = t.call()
}

// call returns the pending action as a call for the caller to run.
func (t *flows) call() *ActionCall {
	p := t.st.Action
	inputs := cloneValues(p.Inputs)
	if inputs == nil {
		inputs = map[string]any{}
	}
	a := t.a.def.ActionIndex[p.Name]
	return &ActionCall{
		ID: p.ID, Key: p.Key, Name: p.Name, Inputs: inputs, Secrets: t.a.secretInputs(p.Name, inputs), Attempt: p.Attempt,
		Long: a != nil && a.Long,
	}
}

// actionEnded handles the result of the pending action. The result of any other action is
// late and ignored.
func (t *turn) actionEnded(in ActionEnded) {
	st := t.st
	if t.checkEnded(in) {
		return
	}
	s := t.step()
	if st.Action == nil || st.Action.ID != in.ID || st.Action.Failed || st.ConversationState != ExecutingAction || s == nil || s.Type != agent.StepAction {
		t.trace("action_late", TraceData{Detail: value.CutText(strings.ToValidUTF8(in.ID, "?"), 100)})
		return
	}
	switch {
	case in.Cancelled:
		st.Action = nil
		t.trace("action_failed", TraceData{Step: s.ID, Action: s.Action.Name, Detail: "cancelled"})
		t.cancel()
		if st.ConversationState == ExecutingAction && st.Action == nil { // the flow cannot go on without the action
			t.giveFlowUp()
			t.settle()
		}
	case in.Failed:
		t.actionFailed(s, in)
	case len(in.Missing) > 0:
		t.actionMissing(s, in.Missing)
	default:
		st.Action = nil
		t.mapOutputs(s, in.Outputs)
		st.Acted = st.Acted || s.Action.RequiresConfirmation
		t.trace("action_completed", TraceData{Step: s.ID, Action: s.Action.Name})
		if t.next(s, s.Next) {
			t.advance()
		}
	}
}

func (t *turn) actionFailed(s *agent.Step, in ActionEnded) {
	code := in.Code
	if code == "" {
		code = "ActionError"
	}
	t.trace("action_failed", TraceData{Step: s.ID, Action: s.Action.Name, Detail: code})
	if s.FailsTo {
		t.outcome = "failed"
		t.st.Action = nil
		if t.next(s, s.OnError) {
			t.advance()
		}
		return
	}
	t.st.Action.Failed = true
	t.fail(code, in.Message)
}

// actionMissing asks for the slots that the action needs (seed 003: EXECUTING_ACTION to
// WAITING_FOR_SLOT, "action returns missing slots"). When they have values, the action runs
// again as a new run.
func (t *turn) actionMissing(s *agent.Step, missing []string) {
	var names []string
	for _, name := range missing {
		if sl := t.a.def.SlotIndex[name]; sl != nil && sl.Type != value.TypeAny && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.st.Action.Failed = true
		t.fail("MissingSlotError", "action "+s.Action.Name+" needs "+strings.Join(missing, ", ")+": expected names of slots")
		return
	}
	t.trace("action_missing", TraceData{Step: s.ID, Action: s.Action.Name, Slot: names[0]})
	t.st.Action = nil
	t.st.Asking = &Asking{Slot: names[0], More: names[1:]}
	if len(names) == 1 {
		t.st.Asking.More = nil
	}
	t.advance()
}

// mapOutputs stores the outputs of an action.
func (t *flows) mapOutputs(s *agent.Step, outputs map[string]any) {
	for _, m := range s.Outputs {
		v, ok := outputs[m.Output]
		if !ok && m.Swapped {
			if v, ok = outputs[m.Variable]; ok {
				t.st.Slots[m.Output] = value.Canonical(v)
				continue
			}
		}
		t.st.Slots[m.Variable] = value.Canonical(v)
	}
	if len(s.Outputs) > 0 {
		return
	}
	names := s.Action.Outputs
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(outputs))
	}
	for _, name := range names {
		if v, ok := outputs[name]; ok && agent.Identifier(name) {
			t.st.Slots[name] = value.Canonical(v)
		}
	}
}

// put sets m[key], and makes the map first if it is nil.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = v
}
