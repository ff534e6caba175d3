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

// This file: commands from outside, and whether the agent takes them. What the
// words alone give and what a model gives are the same [Understood].

// Bounds of a model's answer.
const (
	maxAnswer   = 64 << 10 // bytes
	maxCommands = 32
	maxName     = 100 // bytes of a name or of the words of a command
)

// Understand is what a message means in a state, by the words alone: what
// [Agent.Handle] works out when no model is asked. It changes nothing. Of a
// simple value for the awaited slot it makes the command that fills it.
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

// Interpret is what a message means in a state, by a model's answer to
// [UnderstandingRequest]: [ParseCommands], then [Agent.Check]. An answer that is
// none has failed, and [Agent.Handle] falls back to the words. It changes
// nothing.
func (a *Agent) Interpret(st *State, now time.Time, answer []byte) Understood {
	cmds, err := ParseCommands(answer)
	if err != nil {
		return Understood{Failed: true}
	}
	return a.Check(st, now, cmds)
}

// ParseCommands reads a model's answer: an object with a list "commands", or the
// list alone. It checks the form and nothing else; see [Agent.Check]. Values have
// the forms in which a [State] keeps them.
func ParseCommands(answer []byte) ([]Command, error) {
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("commands: %d bytes, expected at most %d", len(answer), maxAnswer)
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
		return nil, fmt.Errorf("commands: %d of them, expected at most %d", len(list), maxCommands)
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

// commandAliases are names that models use for commands now and then.
var commandAliases = map[CommandType]CommandType{
	"correct": CorrectSlot, "list_options": ListOptions, "repeat_last": RepeatLast, "affirm": Confirm, "negate": Deny,
	"human_handoff": Handoff, "chit_chat": Chitchat, "request_slot": AskSlot,
}

// unfenced is an answer without the fence that models put around JSON.
func unfenced(answer []byte) []byte {
	answer = bytes.TrimSpace(answer)
	inner, ok := bytes.CutPrefix(answer, []byte("```"))
	if !ok {
		return answer
	}
	inner = bytes.TrimPrefix(inner, []byte("json"))
	return bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(inner), []byte("```")))
}

// decodeStrictly decodes one JSON value with nothing behind it.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more follows the JSON value")
	}
	return nil
}

// Check holds commands against the agent and the state: a flow, slot or command
// that is not there, what is not the user's to start or to fill, and a value that
// the slot does not take, are dropped, each with its reason. The values that are
// left are in the form in which they are kept. It changes nothing.
//
// [Agent.Handle] checks again what it is given and trusts nobody; of what was
// dropped here it traces the reasons, and tells the user of a value that does not
// do, unless nobody asks for it and there was more in the message.
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

// looking is a turn that only looks at a state.
func (a *Agent) looking(st *State, now time.Time) *turn {
	c := *st
	if c.CurrentFlow == "" {
		c.CurrentFlow = agent.NoFlow
	}
	return a.turn(&c, now)
}

// known reports whether a name is a slot or what an action or a step sets.
func (a *Agent) known(name string) bool { return a.def.SlotIndex[name] != nil || a.def.Vars[name] }
