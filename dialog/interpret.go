package dialog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file reads commands from a model and checks whether the agent accepts them. A message
// that is understood by its words alone gives the same [Understood].

// Bounds of a model's answer.
const (
	maxAnswer   = 64 << 10 // bytes
	maxCommands = 32
	maxName     = 100 // bytes of a name or of the words of a command
)

// Understand returns the meaning of a message in a state by its words alone, as
// [Agent.Handle] finds it if no model is asked. If the message is a simple value for the
// awaited slot, the result is the command that fills the slot. The state does not change.
func (a *Agent) Understand(st *State, now time.Time, text string) Understood {
	t := a.looking(st, now)
	t.read(value.CutText(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), value.MaxUtterance))
	if s := a.def.SlotIndex[t.st.WaitingForSlot]; s != nil && t.flow != nil {
		if v, sure, direct := t.heard().Simple(s); direct && sure == value.Certain {
			return Understood{Commands: []Command{{Type: SetSlot, Slot: s.Name, Value: value.Canonical(v)}}}
		}
	}
	cmds := t.heard().Local()
	for i := range cmds {
		cmds[i].Value = value.Canonical(cmds[i].Value)
	}
	return Understood{Commands: cmds}
}

// Interpret returns the meaning of a message by a model's answer to an
// [UnderstandingRequest]: it calls [ParseCommands], then [Agent.Check]. If the answer is
// invalid, the result has Failed set, and [Agent.Handle] falls back to the words. The state
// does not change.
func (a *Agent) Interpret(st *State, now time.Time, answer []byte) Understood {
	cmds, err := ParseCommands(answer)
	if err != nil {
		return Understood{Failed: true}
	}
	return a.Check(st, now, cmds)
}

// ParseCommands decodes a model's answer: an object with a list "commands", or just the
// list. It converts values to the forms in which a [State] keeps them. It checks the form
// only; see [Agent.Check].
func ParseCommands(answer []byte) ([]Command, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("commands: %d bytes: expected at most %d", len(answer), maxAnswer)
	}
	answer = unfenced(answer)
	var list []Command
	var err error
	if len(answer) > 0 && answer[0] == '[' {
		err = decodeStrictly(answer, &list)
	} else {
		var object struct {
			Commands *[]Command `json:"commands"`
		}
		if err = decodeStrictly(answer, &object); err == nil && object.Commands == nil {
			err = errors.New("expected a list in the field commands")
		}
		if err == nil {
			list = *object.Commands
		}
	}
	if err != nil {
		return nil, fmt.Errorf("commands: %w", err)
	}
	if len(list) > maxCommands {
		return nil, fmt.Errorf("commands: %d commands: expected at most %d", len(list), maxCommands)
	}
	for i := range list {
		c := &list[i]
		if alias, ok := commandAliases[c.Type]; ok {
			c.Type = alias
		}
		c.Type, c.Flow, c.Slot = CommandType(value.CutText(string(c.Type), maxName)), value.CutText(c.Flow, maxName), value.CutText(c.Slot, maxName)
		c.Text = value.CutText(c.Text, maxName)
		c.Value = value.Canonical(c.Value)
		if text, ok := c.Value.(string); ok {
			c.Value = value.CutText(text, value.MaxUtterance)
		}
	}
	return list, nil
}

// commandAliases are names that models sometimes use for commands.
var commandAliases = map[CommandType]CommandType{
	"correct": CorrectSlot, "list_options": ListOptions, "repeat_last": RepeatLast, "affirm": Confirm, "negate": Deny,
	"human_handoff": Handoff, "chit_chat": Chitchat, "request_slot": AskSlot,
}

// unfenced removes the code fence that models put around JSON.
func unfenced(answer []byte) []byte {
	answer = bytes.TrimSpace(answer)
	inner, ok := bytes.CutPrefix(answer, []byte("```"))
	if !ok {
		return answer
	}
	inner = bytes.TrimPrefix(inner, []byte("json"))
	return bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(inner), []byte("```")))
}

// decodeStrictly decodes a single JSON value. Trailing data is an error.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the JSON value")
	}
	return nil
}

// Check checks commands against the agent and the state. It drops commands with an unknown
// flow, slot or type, with a flow or slot that is not for the user to start or fill, and
// with a value that the slot does not accept, each with a reason. The remaining values are
// in the form in which they are stored. The state does not change.
//
// [Agent.Handle] checks its commands again. It traces the reasons for those that were
// dropped here, and tells the user about a refused value, unless nobody asked for it and
// the message contained something else.
func (a *Agent) Check(st *State, now time.Time, cmds []Command) Understood {
	t := a.looking(st, now)
	var u Understood
	t.reach(cmds)
	for _, c := range cmds {
		why := t.objection(c)
		if why == "" && (c.Type == SetSlot || c.Type == CorrectSlot) && c.Slot != "" && c.Value != nil {
			c.Value, why = t.fitted(a.def.SlotIndex[c.Slot], c.Value)
		}
		if why != "" {
			u.Dropped = append(u.Dropped, Dropped{Command: c, Reason: why})
			continue
		}
		u.Commands = append(u.Commands, c)
	}
	return u
}

// looking returns a turn on a copy of the state, for methods that change nothing.
func (a *Agent) looking(st *State, now time.Time) *turn {
	c := *st
	if c.CurrentFlow == "" {
		c.CurrentFlow = agent.NoFlow
	}
	return a.turn(&c, now)
}

// known reports whether a name is a slot or is set by an action or a step.
func (a *Agent) known(name string) bool { return a.def.SlotIndex[name] != nil || a.def.Vars[name] }
