package sgd

import (
	"maps"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// dataText formats a value as the dataset writes it.
func dataText(v any) string {
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

// parameters formats the arguments of a call as the dataset writes them.
func parameters(act *dialog.ActionCall) map[string]string {
	m := make(map[string]string, len(act.Inputs))
	for k, v := range act.Inputs {
		m[k] = dataText(v)
	}
	return m
}

// canon maps, for each slot, what was said to its canonical form.
type canon map[string]map[string]string

func (c canon) learn(f *frame) {
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

func (c canon) of(slot, value string) string {
	if v, ok := c[slot][value]; ok {
		return v
	}
	return value
}

// same reports whether v is another form of a canonical value, as the recorded service
// would resolve it: "NYC" for "New York".
func (c canon) same(v, canonical string) bool {
	for _, forms := range c {
		for form, is := range forms {
			if is == canonical && value.FoldText(form) == value.FoldText(v) {
				return true
			}
		}
	}
	return false
}

// run is one conversation with the engine.
type run struct {
	a     *service
	st    dialog.State
	now   time.Time
	calls []*dialog.ActionCall // made by the engine
	canon canon

	offered map[string]any // by the recorded system, in slots of the engine
	reply   *frame         // the recorded service's answer to a call of this turn, nil if it succeeded
	finds   []frame        // what the recorded service found in the whole dialogue
	ended   bool           // the user wants nothing more
}

func newRun(a *service) *run {
	r := &run{a: a, now: today, canon: make(canon), offered: make(map[string]any)}
	a.Start(&r.st, r.now)
	return r
}

// answer answers the engine's calls with the recorded service's results until it is the
// user's turn.
func (r *run) answer(o dialog.Output) {
	for o.Act != nil {
		r.withoutOffers(o.Act)
		r.calls = append(r.calls, o.Act)
		r.now = r.now.Add(time.Second)
		o = r.a.Handle(&r.st, r.now, dialog.ActionEnded{ID: o.Act.ID, Outputs: r.result(o.Act)})
	}
}

// withoutOffers removes from the arguments of a search what the recorded system has offered and
// the user has not accepted. It is in the engine's slots only so that the user may ask for it
// and accept it; an agent's author would give the results of a search slots of their own.
func (r *run) withoutOffers(act *dialog.ActionCall) {
	if r.a.def.ActionIndex[act.Name].RequiresConfirmation {
		return
	}
	for name, v := range r.offered {
		if value.Equal(act.Inputs[name], v) && !slices.Contains(r.st.Recent, name) {
			delete(act.Inputs, name)
		}
	}
}

// result returns the recorded service's answer to a call: done, failed, or failed with a
// proposal.
func (r *run) result(act *dialog.ActionCall) map[string]any {
	out := map[string]any{"service_ok": "done"}
	for _, f := range r.finds {
		if f.ServiceCall.Method == act.Name && len(f.Results) > 0 && maps.Equal(f.ServiceCall.Parameters, parameters(act)) {
			for name, v := range f.Results[0] {
				if !f.offersSeveral(name) {
					out[name] = r.typed(name, v)
				}
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

// offersSeveral reports whether the system offers several values for a slot, of which the user
// has to choose.
func (f *frame) offersSeveral(slot string) bool {
	return slices.ContainsFunc(f.Actions, func(a action) bool { return a.Act == "OFFER" && a.Slot == slot && len(a.CanonicalValues) > 1 })
}

// typed converts a value of the dataset to the form of the slot's values.
func (r *run) typed(slot, v string) any {
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

// asks reports whether the system's turn reads values back and asks for a yes.
func (f *frame) asks() bool {
	return f != nil && (f.has("CONFIRM") || f.has("NOTIFY_FAILURE") && f.has("OFFER"))
}

// confirming returns the slots' values if the engine waits for a confirmation, and nil
// otherwise.
func (r *run) confirming() map[string]any {
	if r.st.Confirmation == nil {
		return nil
	}
	return maps.Clone(r.st.Slots)
}

// affirms sends a plain "yes" if the recorded user said yes together with something else,
// which the engine does not accept as a yes, and if the values that were read back are what
// the user wants. It reports whether it did.
func (r *run) affirms(f *frame, was map[string]any) bool {
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

// wants reports whether the slot has the user's value, or no value if the user gave none. A
// default that the user has not been asked about counts as no value.
func (r *run) wants(state *state, slot string) bool {
	v, values := r.st.Slots[slot], state.SlotValues[slot]
	if len(values) == 0 {
		return v == nil || !slices.Contains(r.st.Recent, slot)
	}
	return slices.ContainsFunc(values, func(g string) bool {
		return v != nil && (value.FoldText(dataText(v)) == value.FoldText(g) || value.FoldText(dataText(v)) == value.FoldText(r.canon.of(slot, g)))
	})
}

// understood passes the annotated meaning of an utterance to the engine, as a model would.
// It skips what the engine would do before it asks for understanding.
func (r *run) understood(text string, cmds []dialog.Command) {
	r.now = r.now.Add(5 * time.Second)
	r.st.ConversationState = dialog.Understanding
	r.st.TurnCount++
	r.st.Pending = text
	r.answer(r.a.Handle(&r.st, r.now, dialog.Understood{Commands: cmds}))
}

// commands converts a user's frame to commands of the engine.
func (r *run) commands(s *schema, f, system *frame) []dialog.Command {
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
			if !intent.takes(name) || slices.Contains(values, dontCare) {
				continue
			}
			v := r.canon.of(name, values[0])
			if old := r.st.Slots[name]; started || dataText(old) != v {
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
