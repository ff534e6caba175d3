package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file explores a dialogue that answers: the canonical form of its part of the
// state, its events, and its invariants.

// agentFile is a small agent with what concerns the machine: a question, actions, and
// messages after them.
const agentFile = `version: "1.0"
settings:
  greeting: "Hello."
%sslots:
  destination: {type: city, prompt: "Which city is it?"}
actions:
  book: {inputs: [destination], outputs: [ref]}
  mail: {inputs: [destination], outputs: [ok]}
flows:
  book_flight:
    trigger: {intents: [%q]}
    steps:
      - {step: ask, type: collect, slot: destination}
      - {step: run, type: action, call: book}
%s      - {step: tell, type: say, message: "Your flight is booked."}
`

// The variants of the agent.
const (
	byModel    = "  model: {understanding: true}\n"
	heldOn     = "      - {step: wait, type: say, message: Hold on.}\n" + thenMailed
	thenMailed = "      - {step: run2, type: action, call: mail}\n"
)

// delegating compiles the agent with an action run by a delegated agent.
func delegating() *dialog.Agent {
	return changed("outputs: [ref]}", "outputs: [ref], long: true}")
}

// changed compiles the agent with a part of its file replaced.
func changed(from, to string) *dialog.Agent {
	text := strings.Replace(fmt.Sprintf(agentFile, "", "book a flight", ""), from, to, 1)
	a, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(text)}})
	if a == nil {
		panic(fmt.Sprintf("explore: the agent does not load: %v", problems))
	}
	return a
}

// agentOf compiles the agent with other settings, trigger and step.
func agentOf(settings, trigger, step string) *dialog.Agent {
	a, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: fmt.Appendf(nil, agentFile, settings, trigger, step)}})
	if a == nil {
		panic(fmt.Sprintf("explore: the agent does not load: %v", problems))
	}
	return a
}

// flowConfigs returns the configurations in which flows answer.
func flowConfigs(o conv.Options, still []timers.Timer) []Config {
	byWords, advised, worded, delegated := o, o, o, o
	delegated.Agent, delegated.TasksOutlive = delegating(), true
	worded.Agent = agentOf("  rephrase_responses: true\n", "book a flight", heldOn)
	byWords.Agent = agentOf("", "book a flight", thenMailed)
	advised.Agent = agentOf(byModel, "travel", "")
	return []Config{
		{
			Name: "flows", Options: byWords,
			Events: any_(beginning, flows, blows), More: flowFacts(), Still: still,
		},
		{
			Name: "flows and a model that words", Options: worded,
			Events: any_(beginning, flows, advice, setbacks), More: flowFacts(), Still: still,
		},
		{
			Name: "flows and a model that understands", Options: advised,
			Events: any_(beginning, flows, advice, setbacks), More: adviceFacts(), Still: still,
		},
		{
			Name: "flows that delegate", Options: delegated,
			Events: any_(beginning, flows, setbacks), More: delegatedFacts(), Still: still,
		},
	}
}

// flows selects the events of flows that answer. Their calls are quick.
func flows(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.SpeechStopped, conv.UserRecover:
		return true
	case conv.UserCancel:
		return e.ID == ""
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm"
	case conv.ToolDone:
		return e.ID == ""
	case conv.ToolFailed:
		return e.ID == ""
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	default:
		return false
	}
}

// advice selects the events of a model that understands for the flows.
func advice(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ReplyRequested:
		return e.Turn == 0
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	default:
		return false
	}
}

// setbacks selects the events that take back a reply for which a model is asked.
func setbacks(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.ConnectionRestored:
		return true
	case conv.ConnectionLost:
		return !e.Retryable
	default:
		return false
	}
}

// flowFacts returns events that only flows react to.
func flowFacts() []conv.Event {
	return []conv.Event{
		conv.STTFinal{Text: "boston"},
		conv.ToolDone{Output: "{}"},
		conv.ToolFailed{Code: errclass.ToolError},
	}
}

// delegatedFacts returns the events of a flow's action run by a delegated agent.
func delegatedFacts() []conv.Event {
	return []conv.Event{
		conv.STTFinal{Text: "boston"},
		conv.STTFinal{Text: "never mind"},
		conv.TaskDone{Output: "{}"},
		conv.TaskFailed{Code: errclass.ToolError},
	}
}

// adviceFacts returns answers of a model that understands.
func adviceFacts() []conv.Event {
	return append(flowFacts(),
		conv.ReplyDone{Text: `{"commands":[{"type":"start_flow","flow":"book_flight"},{"type":"set_slot","slot":"destination","value":"Boston"}]}`},
		conv.ReplyDone{Text: `{"commands":[{"type":"cancel"}]}`},
	)
}

// canonicalDialogue removes what the dialogue does not read any more, and renames its
// calls by their order.
func canonicalDialogue(st *conv.State) {
	d := &st.Dialogue
	if d.ConversationState == "" {
		return
	}
	d.Messages, d.Trace, d.Cache = nil, nil, nil
	d.TurnCount, d.NLUCalls, d.LastNLUCall, d.Runs = 0, 0, 0, 0
	if d.Confirmation == nil || !d.Confirmation.Asked {
		if d.Confirmation == nil || !d.Confirmation.Asked {
			d.LastResponse = presence(d.LastResponse, "Hello.")
		}
	}
	d.Pending = presence(d.Pending, "book a flight")
	d.Misses = min(d.Misses, 1) // the effect of a third miss is tested in package dialog
	if st.Reply.Why == yesWaits {
		st.Reply.Asked = said(st.Reply.Asked)
	} else {
		st.Reply.Asked = presence(st.Reply.Asked, "book a flight")
	}
	if st.Reply.Why == conv.RequestWording {
		st.Reply.Asked = presence(st.Reply.Asked, "Which city is it?")
		st.Reply.Advice = presence(st.Reply.Advice, "Which one is it?") // the value of the advice is tested in package dialog
	}

	names := make(map[string]string)
	rename := func(id string) string {
		if id == "" {
			return ""
		}
		if names[id] == "" {
			names[id] = "action." + strconv.Itoa(len(names))
		}
		return names[id]
	}
	if d.Action != nil {
		a := *d.Action
		a.ID, a.Key, a.Attempt = rename(a.ID), rename(a.Key), min(a.Attempt, 1)
		d.Action = &a
	}
	for i := range st.Calls {
		if c := &st.Calls[i]; c.Action() {
			c.ID, c.Key = rename(c.ID), rename(c.Key)
		}
	}
	st.Pending.Follow = slices.Clone(st.Pending.Follow)
	for i := range st.Pending.Follow {
		if out := &st.Pending.Follow[i]; out.Act != nil {
			act := *out.Act
			act.ID, act.Key = rename(act.ID), rename(act.Key)
			out.Act = &act
		}
	}
	st.Pending.Settle = slices.Clone(st.Pending.Settle)
	for i := range st.Pending.Settle {
		s := &st.Pending.Settle[i]
		s.ID, s.Key = rename(s.ID), rename(s.Key)
	}
	d.Calls = 0 // the next call is "book_flight.run.1", which no state has
}

// dialogue appends the dialogue's part of a canonical state.
func (k *key) dialogue(st *conv.State) {
	d := &st.Dialogue
	k.text(string(d.ConversationState))
	if d.ConversationState == "" {
		return
	}
	k.text(d.CurrentFlow)
	k.text(d.CurrentStep)
	k.text(d.WaitingForSlot)
	k.num(len(d.Slots))
	k.num(len(d.Stack))
	k.num(len(d.Later))
	k.num(len(d.ProposedSlots))
	k.num(d.Misses)
	_, failed := d.Metadata["error"]
	k.flags(d.Confirmation != nil, d.Granted, d.Asking != nil, d.Suggested != nil, d.Finished != nil,
		d.Changing, d.HandedOff, len(d.GrantedFor) > 0, d.Proposed != "", d.Pending != "", failed, st.Expecting)
	if d.Action != nil {
		k.text(d.Action.ID)
		k.text(d.Action.Key)
		k.flags(d.Action.Failed)
	}
	k.flags(st.Conn.Unanswered.Taken(), st.Reply.Advised())
	k.text(st.Reply.Advice)
	k.num(len(st.Pending.Follow))
	for i := range st.Pending.Follow {
		out := &st.Pending.Follow[i]
		k.flags(out.Act != nil, out.Understand != nil, out.Ask, out.Handoff, out.End)
		if out.Act != nil {
			k.text(out.Act.ID)
		}
	}
	for i := range st.Calls {
		k.flags(st.Calls[i].Action())
		k.text(st.Calls[i].Key)
	}
}

// checkDialogue checks that the dialogue only waits for what is on its way: the one
// call of its action, and the requested advice.
func (s *stepped) checkDialogue() error {
	st := s.after
	d := &st.Dialogue
	if st.Phase == conv.Idle || st.Phase == conv.Terminating {
		return nil
	}
	if d.ConversationState == dialog.ExecutingAction && d.Action != nil && !d.Action.Failed && d.Confirmation == nil {
		n := 0
		for i := range st.Calls {
			if st.Calls[i].ID == d.Action.ID {
				n++
			}
		}
		for i := range st.Pending.Follow {
			if act := st.Pending.Follow[i].Act; act != nil && act.ID == d.Action.ID {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("the dialogue waits for action %s, of which %d calls are on their way", d.Action.ID, n)
		}
	}
	asked := st.Reply.Request != 0 && st.Reply.Why == conv.RequestUnderstanding
	if waits := d.ConversationState == dialog.Understanding && d.Pending != ""; waits != asked {
		return fmt.Errorf("the dialogue waits for advice: %t; it is asked for: %t", waits, asked)
	}
	return nil
}
