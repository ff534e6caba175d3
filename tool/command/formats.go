package command

import (
	"encoding/json"
	"errors"
	"strings"
)

// format interprets the lines of a program's output and updates its report. end is
// called after the last line.
type format interface {
	line(b []byte)
	end()
}

// outputs returns the names of the formats.
func outputs() []string { return []string{"lines", "text", "claude", "codex", "amplifier"} }

// newFormat returns the format with the given name.
func newFormat(name string, r *report) format {
	switch name {
	case "text":
		return &text{report: r}
	case "claude":
		return &claude{held{report: r}}
	case "codex":
		return &codex{held: held{report: r}}
	case "amplifier":
		return &amplifier{report: r}
	default:
		return &lines{report: r}
	}
}

// decode decodes a JSON object. It ignores fields of unexpected types.
func decode(b []byte, into any) bool {
	err := json.Unmarshal(b, into)
	_, odd := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || odd
}

// lines is hocket's own format: one JSON object per line. Other lines and unknown
// types count as signs of life.
type lines struct{ *report }

func (f *lines) line(b []byte) {
	var m struct {
		Type, Text, Code, Message string
		Output                    json.RawMessage
	}
	if !decode(b, &m) {
		f.tell("")
		return
	}
	switch m.Type {
	case "progress":
		f.progress(m.Text)
	case "partial":
		f.part(value(m.Output))
		f.tell("")
	case "result":
		f.result(value(m.Output))
	case "error":
		f.fail(m.Code, m.Message)
	default:
		f.tell("")
	}
}

func (f *lines) end() {}

// text is plain text, whose end is the result.
type text struct {
	*report
	all []byte
}

func (f *text) line(b []byte) {
	f.all = append(append(f.all, b...), '\n')
	if len(f.all) > 2*maxText { // not for each line
		f.all = append(f.all[:0], f.all[len(f.all)-maxText:]...)
	}
	f.tell("")
}

func (f *text) end() {
	f.result(strings.TrimSpace(strings.ToValidUTF8(string(f.all[max(0, len(f.all)-maxText):]), "")))
}

// held delays the last message of an agent until there is another: the final
// message is the result and is not reported as progress.
type held struct {
	*report
	said string
}

func (h *held) says(words string) {
	h.goesOn()
	h.said = words
	h.part(words)
}

func (h *held) goesOn() {
	h.progress(h.said)
	h.said = ""
}

// claude is the output of `claude -p --output-format stream-json --verbose`: the
// messages of the Claude Agent SDK.
type claude struct{ held }

func (f *claude) line(b []byte) {
	var m struct {
		Type, Subtype, Result string
		IsError               bool    `json:"is_error"`
		Parent                *string `json:"parent_tool_use_id"` // set for messages of a sub-agent
		Errors                []string
		Message               struct {
			Content json.RawMessage // may be a text in user messages
		}
	}
	if !decode(b, &m) {
		f.goesOn()
		return
	}
	switch {
	case m.Type == "result" && (m.IsError || m.Subtype != "success"):
		message := m.Result
		if message == "" {
			message = strings.Join(append([]string{m.Subtype}, m.Errors...), ": ")
		}
		f.fail("", message)
	case m.Type == "result":
		f.result(m.Result)
	case m.Type == "assistant" && m.Parent == nil:
		var content []struct{ Type, Text string }
		_ = json.Unmarshal(m.Message.Content, &content) // an error counts as a sign of life
		var said []string
		for _, c := range content {
			if c.Type == "text" {
				said = append(said, c.Text)
			}
		}
		if len(said) == 0 {
			f.goesOn()
			return
		}
		f.says(strings.Join(said, "\n"))
	default:
		f.goesOn()
	}
}

func (f *claude) end() {}

// codex is the output of `codex exec --json`.
type codex struct {
	held
	trouble string // the last error reported, which may not have been fatal
}

func (f *codex) line(b []byte) {
	var m struct {
		Type, Message string
		Error         struct{ Message string }
		Item          struct{ Type, Text string }
	}
	if !decode(b, &m) {
		f.goesOn()
		return
	}
	switch {
	case m.Type == "turn.completed" && f.partial == "":
		f.fail("", "the turn is complete, but there is no answer")
	case m.Type == "turn.completed":
		f.result(f.partial)
	case m.Type == "turn.failed":
		f.fail("", m.Error.Message)
	case m.Type == "error":
		f.trouble = m.Message
		f.goesOn()
	case m.Type == "item.completed" && m.Item.Type == "agent_message":
		f.says(m.Item.Text)
	default:
		f.goesOn()
	}
}

func (f *codex) end() {
	if f.trouble != "" {
		f.fail("", f.trouble)
	}
}

// amplifier is the output of `amplifier run --output-format json`: one object at
// the end. Progress goes to its standard error.
type amplifier struct {
	*report
	all []byte
}

func (f *amplifier) line(b []byte) {
	f.all = append(append(f.all, b...), '\n')
	f.tell("")
}

func (f *amplifier) end() {
	var m struct {
		Status, Error string
		Response      json.RawMessage
	}
	switch err := json.Unmarshal(f.all, &m); {
	case err != nil || m.Status == "":
		// It ended without an answer.
	case m.Status == "success":
		f.result(value(m.Response))
	default:
		f.fail("", m.Error)
	}
}
