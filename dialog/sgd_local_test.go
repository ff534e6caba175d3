package dialog

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// sgdScores are the measures of the local understanding.
type sgdScores struct {
	turns, intentRight, joint     int
	slots, slotsRight, slotsWrong int // values of the user's state: all, right, and not in it
	requested, requestedFound     int
	asked                         int     // for which the engine took the user to ask
	requestedTurns                float64 // sum of the F1 of each turn
	calls, callsSame, callsExtra  int
	dialogues, success            int
}

func (c *sgdScores) row(name string) string {
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	return fmt.Sprintf("%-22s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f", name,
		percent(c.intentRight, c.turns), percent(c.joint, c.turns),
		percent(c.slotsRight, c.slots), percent(c.slotsRight, c.slotsRight+c.slotsWrong),
		percent(2*c.requestedFound, c.requested+c.asked), 100*c.requestedTurns/float64(max(1, c.turns)),
		percent(c.callsSame, c.calls), percent(c.callsSame, c.callsSame+c.callsExtra), percent(c.success, c.dialogues))
}

func (c *sgdScores) add(o sgdScores) {
	c.turns += o.turns
	c.intentRight += o.intentRight
	c.joint += o.joint
	c.slots += o.slots
	c.slotsRight += o.slotsRight
	c.slotsWrong += o.slotsWrong
	c.requested += o.requested
	c.requestedFound += o.requestedFound
	c.asked += o.asked
	c.requestedTurns += o.requestedTurns
	c.calls += o.calls
	c.callsSame += o.callsSame
	c.callsExtra += o.callsExtra
	c.dialogues += o.dialogues
	c.success += o.success
}

// TestSGDLocal measures the understanding without a model and without the
// annotation, on agents that know no more than the schema. The recorded users
// answer the recorded system and not the engine, which has questions of its own;
// the second measure therefore puts the recorded question for a slot to the
// engine before the user answers it. Values, those of calls too, are compared by
// their canonical forms or any of the recorded ones, letter by letter; the
// official measure is more lenient with free text. A task succeeds when every
// recorded call is made. The thresholds are what was reached when the test
// was written.
func TestSGDLocal(t *testing.T) {
	data := loadSGD(t)
	if p := os.Getenv("HOCKET_PART"); p != "" {
		dev, test := data.parts()
		data.dialogues = dev
		if p == "test" {
			data.dialogues = test
		}
	}
	type measure struct {
		name   string
		agents map[string]*Agent
		asking bool
	}
	schema := sgdAgents(t, data, false)
	measures := []measure{{"schema alone, the engine's questions", schema, false}, {"schema alone, the recorded questions", schema, true}}
	if trained, ok := data.withTraining(t); ok {
		measures = append(measures, measure{"trigger phrases of the training set, the recorded questions", sgdAgents(t, trained, false), true})
	}
	format := "%-22s" + strings.Repeat(" %8s", 9)
	lines := []string{
		fmt.Sprintf(format, "in percent", "intent", "joint", "slot", "slot", "request", "request", "call", "call", "task"),
		fmt.Sprintf(format, "", "accuracy", "goal", "recall", "precis.", "F1", "F1/turn", "recall", "precis.", "success"),
	}
	var totals []sgdScores
	for _, m := range measures {
		byService := make(map[string]*sgdScores)
		for _, d := range data.dialogues {
			name := d.Services[0]
			if byService[name] == nil {
				byService[name] = &sgdScores{}
			}
			byService[name].add(sgdMeasure(m.agents[name], data.schemas[name], d, m.asking))
		}
		lines = append(lines, m.name)
		var total sgdScores
		for _, name := range sortedKeys(byService) {
			total.add(*byService[name])
			lines = append(lines, byService[name].row("  "+name))
		}
		totals = append(totals, total)
		lines = append(lines, total.row("  all"))
	}
	t.Logf("local understanding, %d dialogues, %d user turns\n%s", totals[0].dialogues, totals[0].turns, strings.Join(lines, "\n"))
	if os.Getenv("HOCKET_SGD") != "" {
		return // the thresholds are those of the data beside the repository
	}
	for k, least := range [2]struct{ intent, joint, slots, calls float64 }{{0.45, 0.155, 0.33, 0.13}, {0.45, 0.16, 0.36, 0.13}} {
		c := totals[k]
		got := [4]float64{float64(c.intentRight) / float64(c.turns), float64(c.joint) / float64(c.turns), float64(c.slotsRight) / float64(c.slots), float64(c.callsSame) / float64(c.calls)}
		if got[0] < least.intent || got[1] < least.joint || got[2] < least.slots || got[3] < least.calls {
			t.Errorf("%s: intent, joint goal, slots and calls are %.3f, want at least %.3f", measures[k].name, got, least)
		}
	}
}

// sgdMeasure holds one dialogue with the user's words alone.
func sgdMeasure(a *Agent, s *sgdSchema, d sgdDialogue, asking bool) sgdScores {
	c := sgdScores{dialogues: 1}
	r := newSGDRun(a)
	var gold []*sgdCall
	for i := range d.Turns {
		if f := d.Turns[i].Frames[0]; f.ServiceCall != nil {
			gold = append(gold, f.ServiceCall)
			r.finds = append(r.finds, f)
		}
	}
	for i := range d.Turns {
		f := &d.Turns[i].Frames[0]
		r.canon.learn(f)
		if d.Turns[i].Speaker == "SYSTEM" {
			if asking {
				r.recorded(f)
			}
			continue
		}
		r.reply = nil
		if i+1 < len(d.Turns) {
			r.reply = &d.Turns[i+1].Frames[0]
		}
		asked := r.say(d.Turns[i].Utterance)
		c.turns++
		if r.activeIntent() == f.State.ActiveIntent {
			c.intentRight++
		}
		c.compare(s, r, f.State, asked)
	}
	c.compareCalls(r, gold)
	return c
}

// say gives the engine a sentence of the user and returns the slots that it takes
// to be asked for.
func (r *sgdRun) say(text string) (asked []string) {
	r.now = r.now.Add(5 * time.Second)
	r.st.Trace = nil
	out := r.a.Handle(&r.st, r.now, Message{Text: text, Confidence: 1})
	ended := r.ended && r.st.CurrentFlow == noFlow
	for _, e := range r.st.Trace {
		switch {
		case e.Event == "command" && e.Data.Command == string(AskSlot):
			asked = append(asked, e.Data.Slot)
		case e.Event == "command" && e.Data.Command == string(Goodbye), e.Event == "command" && e.Data.Command == string(Chitchat) && e.Data.Detail == "no":
			ended = true
		case e.Event == "flow_started":
			ended = false
		}
	}
	r.ended = ended
	r.answer(out)
	return asked
}

// compareCalls holds the engine's calls against the recorded ones.
func (c *sgdScores) compareCalls(r *sgdRun, gold []*sgdCall) {
	c.calls = len(gold)
	made := slices.Clone(r.calls)
	for _, g := range gold {
		k := slices.IndexFunc(made, func(m *ActionCall) bool {
			return m.Name == g.Method && maps.EqualFunc(sgdParameters(m), g.Parameters, func(got, want string) bool {
				return foldText(got) == foldText(want) || r.canon.same(got, want)
			})
		})
		if k >= 0 {
			c.callsSame++
			made = slices.Delete(made, k, k+1)
		}
	}
	c.callsExtra = len(made)
	if c.callsSame == c.calls {
		c.success = 1
	}
}

// recorded puts what the recorded system says to the engine: its question, if the
// engine waits for a slot too; what it offers, as if the engine's service had
// found it, or as a suggestion for the slot that the engine asks for; the flow that
// it proposes.
func (r *sgdRun) recorded(f *sgdFrame) {
	st := &r.st
	if st.CurrentFlow == noFlow && st.Finished != nil {
		for _, a := range f.Actions {
			switch {
			case a.Act == "OFFER" && r.a.slotIndex[a.Slot] != nil && len(a.CanonicalValues) > 0 && !f.has("NOTIFY_FAILURE"):
				st.Slots[a.Slot] = canon(r.typed(a.Slot, a.CanonicalValues[0]))
				st.Recent = slices.DeleteFunc(st.Recent, func(n string) bool { return n == a.Slot })
				if !slices.Contains(st.Finished.Found, a.Slot) && slices.ContainsFunc(r.a.flows, func(f *flow) bool { return slices.Contains(f.takes, a.Slot) && f.collects(a.Slot) }) {
					st.Finished.Found = append(st.Finished.Found, a.Slot)
				}
			case a.Act == "OFFER_INTENT" && len(a.CanonicalValues) > 0 && r.a.flowIndex[a.CanonicalValues[0]] != nil:
				st.Proposed = a.CanonicalValues[0]
			}
		}
	}
	k := slices.IndexFunc(f.Actions, func(a sgdAction) bool {
		return r.a.slotIndex[a.Slot] != nil && (a.Act == "REQUEST" || a.Act == "OFFER" && len(a.CanonicalValues) > 0 && !f.has("NOTIFY_FAILURE"))
	})
	if k < 0 || st.ConversationState != WaitingForSlot {
		return
	}
	if a := f.Actions[k]; a.Act == "OFFER" && r.a.flowIndex[st.CurrentFlow].collects(a.Slot) && st.Slots[a.Slot] == nil {
		st.Suggested = &Suggestion{a.Slot, canon(r.typed(a.Slot, a.CanonicalValues[0]))}
	} else if a.Act == "OFFER" {
		return
	}
	if st.WaitingForSlot == f.Actions[k].Slot {
		return
	}
	if !r.a.flowIndex[st.CurrentFlow].usesSlot(r.a.slotIndex[f.Actions[k].Slot]) || st.Slots[f.Actions[k].Slot] != nil {
		return
	}
	st.WaitingForSlot = f.Actions[k].Slot
	st.Asking = &Asking{Slot: st.WaitingForSlot, Asked: true, Resume: st.CurrentStep}
}

// activeIntent is the intent that the engine takes to be the user's.
func (r *sgdRun) activeIntent() string {
	switch {
	case r.st.CurrentFlow != noFlow:
		return r.st.CurrentFlow
	case r.st.Finished != nil && !r.ended:
		return r.st.Finished.Flow
	default:
		return "NONE"
	}
}

// compare holds the slots of the engine against the user's state.
func (c *sgdScores) compare(s *sgdSchema, r *sgdRun, state *sgdState, asked []string) {
	joint := true
	for _, sl := range s.Slots {
		values, said := state.SlotValues[sl.Name]
		v := r.st.Slots[sl.Name]
		if v != nil && !said && !slices.Contains(r.st.Recent, sl.Name) {
			v = nil // a default, which the user has not heard of yet
		}
		right := v != nil && slices.ContainsFunc(values, func(g string) bool {
			return foldText(sgdText(v)) == foldText(g) || foldText(sgdText(v)) == foldText(r.canon.of(sl.Name, g))
		})
		switch {
		case said && right:
			c.slots++
			c.slotsRight++
		case said:
			c.slots++
			joint = false
			if v != nil {
				c.slotsWrong++
			}
		case v != nil:
			c.slotsWrong++
			joint = false
		}
	}
	if joint {
		c.joint++
	}
	right := 0
	for _, name := range asked {
		if slices.Contains(state.RequestedSlots, name) {
			right++
		}
	}
	c.requested += len(state.RequestedSlots)
	c.asked += len(asked)
	c.requestedFound += right
	if n := len(state.RequestedSlots) + len(asked); n > 0 {
		c.requestedTurns += 2 * float64(right) / float64(n)
	} else {
		c.requestedTurns++
	}
}
