package sgd

import (
	"maps"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// sgdText is a value as the data writes it.
func sgdText(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case nil:
		return ""
	default:
		return value.RawText(v)
	}
}

// sgdParameters are the arguments of a call as the data writes them.
func sgdParameters(act *dialog.ActionCall) map[string]string {
	m := make(map[string]string, len(act.Inputs))
	for k, v := range act.Inputs {
		m[k] = sgdText(v)
	}
	return m
}

// sgdCanon knows the canonical form of what was said for each slot.
type sgdCanon map[string]map[string]string

func (c sgdCanon) learn(f *sgdFrame) {
	for _, a := range f.Actions {
		if c[a.Slot] == nil {
			c[a.Slot] = make(map[string]string)
		}
		for i, v := range a.Values {
			if i < len(a.CanonicalValues) {
				c[a.Slot][v] = a.CanonicalValues[i]
			}
		}
	}
}

func (c sgdCanon) of(slot, value string) string {
	if v, ok := c[slot][value]; ok {
		return v
	}
	return value
}

// same reports whether a value is another form of the canonical one, as the
// recorded service would resolve it: "NYC" for "New York".
func (c sgdCanon) same(v, canonical string) bool {
	for _, forms := range c {
		for form, is := range forms {
			if is == canonical && value.FoldText(form) == value.FoldText(v) {
				return true
			}
		}
	}
	return false
}

// sgdRun is one conversation with the engine.
type sgdRun struct {
	a     *sgdService
	st    dialog.State
	now   time.Time
	calls []*dialog.ActionCall // all that the engine made
	canon sgdCanon
	reply *sgdFrame  // how the recorded service answers a call of this turn; nil: well
	finds []sgdFrame // what the recorded service found in the whole dialogue
	ended bool       // the user wants nothing more
}

func newSGDRun(a *sgdService) *sgdRun {
	r := &sgdRun{a: a, now: sgdToday, canon: make(sgdCanon)}
	a.Start(&r.st, r.now)
	return r
}

// answer lets the services answer until it is the user's turn.
func (r *sgdRun) answer(o dialog.Output) {
	for o.Act != nil {
		r.calls = append(r.calls, o.Act)
		r.now = r.now.Add(time.Second)
		o = r.a.Handle(&r.st, r.now, dialog.ActionEnded{ID: o.Act.ID, Outputs: r.result(o.Act)})
	}
}

// result is the answer of the recorded service to a call: done, not done, or not
// done with a proposal.
func (r *sgdRun) result(act *dialog.ActionCall) map[string]any {
	out := map[string]any{"service_ok": "done"}
	for _, f := range r.finds {
		if f.ServiceCall.Method == act.Name && len(f.Results) > 0 && maps.Equal(f.ServiceCall.Parameters, sgdParameters(act)) {
			for name, v := range f.Results[0] {
				out[name] = r.typed(name, v)
			}
			break
		}
	}
	f := r.reply
	if f == nil || f.ServiceCall == nil || f.ServiceCall.Method != act.Name || !f.has("NOTIFY_FAILURE") {
		return out
	}
	r.reply = nil // one answer to one call
	out["service_ok"] = "failed"
	for name, v := range act.Inputs {
		out["offer_"+name] = v
	}
	for _, a := range f.Actions {
		if _, is := act.Inputs[a.Slot]; a.Act == "OFFER" && is && len(a.CanonicalValues) > 0 {
			out["service_ok"], out["offer_"+a.Slot] = "proposal", a.CanonicalValues[0]
		}
	}
	return out
}

// typed is a value of the data in the form of the slot's values.
func (r *sgdRun) typed(slot, v string) any {
	s := r.a.def.SlotIndex[slot]
	if s == nil {
		return v
	}
	switch f, number := value.ToNumber(v); {
	case s.Type == value.TypeBoolean:
		return v == "True"
	case s.Numeric() && number:
		return f
	}
	return v
}

// asks reports whether the system's turn reads something back for a yes.
func (f *sgdFrame) asks() bool {
	return f != nil && (f.has("CONFIRM") || f.has("NOTIFY_FAILURE") && f.has("OFFER"))
}

// confirming is what the engine wants a yes for, with the values as they are; nil if
// nothing.
func (r *sgdRun) confirming() map[string]any {
	if r.st.Confirmation == nil {
		return nil
	}
	return maps.Clone(r.st.Slots)
}

// affirms says yes once more where the recorded user has said yes and something
// beside it, which the engine does not take for one, if what was read back is what
// the user wants. It reports whether it did.
func (r *sgdRun) affirms(f *sgdFrame, was map[string]any) bool {
	if !f.has("AFFIRM") || was == nil || r.st.Confirmation == nil || !maps.EqualFunc(was, r.st.Slots, value.Equal) {
		return false
	}
	if flow := r.a.def.FlowIndex[r.st.CurrentFlow]; flow == nil || slices.ContainsFunc(flow.Slots, func(s *agent.Slot) bool { return !r.wants(f.State, s.Name) }) {
		return false
	}
	r.now = r.now.Add(5 * time.Second)
	r.answer(r.a.Handle(&r.st, r.now, dialog.Message{Text: "Yes.", Confidence: 1}))
	return true
}

// wants reports whether the engine has the user's value of a slot, or none if the user
// has none; a default that the user has not been asked about is not the user's.
func (r *sgdRun) wants(state *sgdState, slot string) bool {
	v, values := r.st.Slots[slot], state.SlotValues[slot]
	if len(values) == 0 {
		return v == nil || !slices.Contains(r.st.Recent, slot)
	}
	return slices.ContainsFunc(values, func(g string) bool {
		return v != nil && (value.FoldText(sgdText(v)) == value.FoldText(g) || value.FoldText(sgdText(v)) == value.FoldText(r.canon.of(slot, g)))
	})
}

// understood feeds what the annotation says that the user meant, as a model
// would have. The turn goes by way of understanding, whatever the engine would
// have taken without.
func (r *sgdRun) understood(text string, cmds []dialog.Command) {
	r.now = r.now.Add(5 * time.Second)
	r.st.ConversationState = dialog.Understanding
	r.st.TurnCount++
	r.st.Pending = text
	r.answer(r.a.Handle(&r.st, r.now, dialog.Understood{Commands: cmds}))
}

// commands are what a frame of the user means for the engine.
func (r *sgdRun) commands(s *sgdSchema, f, system *sgdFrame) []dialog.Command {
	var cmds []dialog.Command
	intent := s.intent(f.State.ActiveIntent)
	started := false
	if intent != nil && r.st.CurrentFlow != intent.Name && (f.has("INFORM_INTENT", "AFFIRM_INTENT") || r.st.Finished == nil || r.st.Finished.Flow != intent.Name) {
		cmds = append(cmds, dialog.Command{Type: dialog.StartFlow, Flow: intent.Name})
		started = true
	}
	if intent != nil {
		for _, name := range slices.Sorted(maps.Keys(f.State.SlotValues)) {
			values := f.State.SlotValues[name]
			if !intent.takes(name) || slices.Contains(values, sgdDontCare) {
				continue
			}
			v := r.canon.of(name, values[0])
			if old := r.st.Slots[name]; started || sgdText(old) != v {
				cmds = append(cmds, dialog.Command{Type: dialog.SetSlot, Slot: name, Value: v})
			}
		}
	}
	switch {
	case system.asks() && f.has("AFFIRM"):
		cmds = append(cmds, dialog.Command{Type: dialog.Confirm})
	case system.asks() && f.has("NEGATE") && len(cmds) == 0:
		cmds = append(cmds, dialog.Command{Type: dialog.Deny})
	}
	if len(cmds) == 0 {
		cmds = append(cmds, dialog.Command{Type: dialog.Chitchat})
	}
	return cmds
}
