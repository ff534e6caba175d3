package sgd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
)

// TestSGDGoldFrames passes the annotated meaning of each user turn to the engine and
// expects each recorded service call, with the same parameters, in the turn in which it was
// recorded.
func TestSGDGoldFrames(t *testing.T) {
	data := loadTestSet(t)
	agents := newServices(t, data, true)
	var gold, same, inconsistent, repeated, extra, turns, again int
	for _, d := range data.dialogues {
		s := data.schemas[d.Services[0]]
		r := newRun(agents[s.ServiceName])
		var user, system *frame
		confirmed := make(map[string]string)
		from := 0
		for i := range d.Turns {
			f := &d.Turns[i].Frames[0]
			r.canon.learn(f)
			if d.Turns[i].Speaker == "USER" {
				turns++
				from = len(r.calls)
				r.reply = nil
				if i+1 < len(d.Turns) {
					r.reply = &d.Turns[i+1].Frames[0]
				}
				cmds, was := r.commands(s, f, system), r.confirming()
				r.understood(spoken(s, cmds), cmds)
				if len(cmds) == 1 && cmds[0].Type == dialog.Confirm && was != nil && r.affirms(f, was) {
					again++
				}
				user = f
				continue
			}
			system = f
			made := r.calls[from:]
			if f.ServiceCall == nil {
				extra += len(made)
			} else {
				gold++
				switch why := contradiction(s, f.ServiceCall, user, r.canon, confirmed); {
				case slices.ContainsFunc(made, func(c *dialog.ActionCall) bool {
					return c.Name == f.ServiceCall.Method && maps.Equal(parameters(c), f.ServiceCall.Parameters)
				}):
					same++
					extra += len(made) - 1
				case user.has("REQUEST_ALTS") && !user.has("INFORM") && slices.ContainsFunc(r.calls, func(c *dialog.ActionCall) bool {
					return c.Name == f.ServiceCall.Method && maps.Equal(parameters(c), f.ServiceCall.Parameters)
				}):
					repeated++
				case why != "":
					inconsistent++
					extra += len(made)
					t.Logf("dialogue %s, turn %d: the data contradicts itself: %s", d.ID, i, why)
				default:
					t.Errorf("dialogue %s, turn %d: recorded %s%v, made %s; state %s %v", d.ID, i, f.ServiceCall.Method, f.ServiceCall.Parameters,
						formatCalls(made), r.st.ConversationState, r.st.Slots)
				}
			}
			if f.ServiceCall != nil {
				clear(confirmed)
			}
			for _, a := range f.Actions {
				if f.asks() && (a.Act == "CONFIRM" || a.Act == "OFFER") && len(a.CanonicalValues) > 0 {
					confirmed[a.Slot] = a.CanonicalValues[0]
				}
			}
		}
	}
	t.Logf("%d dialogues, %d user turns with annotated frames:\n"+
		"service calls recorded        %4d\n"+
		"made with the same parameters %4d (%.1f %% of the consistent ones)\n"+
		"recorded again for more of it %4d (made before, with the same parameters)\n"+
		"the data contradicts itself   %4d\n"+
		"made and not recorded         %4d\n"+
		"asked for the yes once more   %4d",
		len(data.dialogues), turns, gold, same, 100*float64(same)/float64(gold-inconsistent-repeated), repeated, inconsistent, extra, again)
	if gold == 0 || same+repeated+inconsistent != gold {
		t.Errorf("%d of %d calls are made as recorded", same, gold-inconsistent-repeated)
	}
}

// contradiction says why a recorded call does not follow from what was recorded before it:
// from the values that the service itself read back, or from the user's state. It returns
// "" if the call does follow.
func contradiction(s *schema, call *call, user *frame, canon canon, confirmed map[string]string) string {
	if in := s.intent(call.Method); in.IsTransactional {
		for _, name := range slices.Sorted(maps.Keys(confirmed)) {
			if confirmed[name] == call.Parameters[name] || !in.takes(name) {
				continue
			}
			return fmt.Sprintf("%s was confirmed with %s = %s and called with %v", call.Method, name, confirmed[name], call.Parameters)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(call.Parameters)) {
		if !slices.ContainsFunc(user.State.SlotValues[name], func(v string) bool { return canon.of(name, v) == call.Parameters[name] }) {
			return fmt.Sprintf("%s is called with %s = %s, the user's state has %v", call.Method, name, call.Parameters[name], user.State.SlotValues[name])
		}
	}
	return ""
}

func formatCalls(calls []*dialog.ActionCall) string {
	texts := make([]string, len(calls))
	for i, c := range calls {
		texts[i] = fmt.Sprintf("%s%v", c.Name, parameters(c))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// spoken words commands as a user would say them, so that the words support the commands.
func spoken(s *schema, cmds []dialog.Command) string {
	var b strings.Builder
	for _, c := range cmds {
		switch c.Type {
		case dialog.StartFlow:
			fmt.Fprintf(&b, " I want to %s.", strings.ToLower(s.intent(c.Flow).Description))
		case dialog.SetSlot:
			fmt.Fprintf(&b, " The %s is %v.", strings.ReplaceAll(c.Slot, "_", " "), c.Value)
		case dialog.Confirm:
			b.WriteString(" Yes.")
		case dialog.Deny:
			b.WriteString(" No.")
		}
	}
	return b.String()
}
