package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// The roles of turns.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Turn is a part of the context: words of one role, or one call of a tool.
type Turn struct {
	Role string
	Text string // may be empty if there is a call
	Call *Call  // of the assistant, after its words
}

// Call is a call of a tool with its result, in a form that servers accept.
type Call struct {
	ID, Name  string
	Arguments string // a JSON object
	Result    string // not empty
}

// Turns converts the instructions, which come first, and the context to turns that satisfy the
// strictest servers: none is empty, consecutive words of the same role are one turn, and each
// result belongs to its call. Each call is a turn of its own, because it is not known which calls
// were made together, and a call that used the result of another must follow it.
func Turns(r port.Request) ([]Turn, error) {
	var list []Turn
	if text := strings.TrimSpace(r.Instructions); text != "" {
		list = addText(list, System, text)
	}
	used := make(map[string]bool)
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "user":
			list = addText(list, m.Role, m.Content)
		case "agent":
			list = addText(list, Assistant, m.Content)
		case "tool":
			list = addCall(list, m, i, used)
		default:
			return nil, fmt.Errorf("message %d has the role %q: expected user, agent, tool or system", i, m.Role)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the request has neither instructions nor messages with text")
	}
	return list, nil
}

// addText adds a text. Consecutive texts of the same role are merged, since many chat templates
// require alternating roles.
func addText(list []Turn, role, text string) []Turn {
	if strings.TrimSpace(text) == "" {
		return list // cut off before a word was heard
	}
	if n := len(list); n > 0 && list[n-1].Role == role && list[n-1].Call == nil {
		list[n-1].Text += "\n" + text
		return list
	}
	return append(list, Turn{Role: role, Text: text})
}

// addCall adds a call and its result, to the text said directly before if there is one.
func addCall(list []Turn, m port.Message, position int, used map[string]bool) []Turn {
	c := &Call{ID: wireID(m.CallID, position), Name: wireName(m.Name), Arguments: wireArguments(m.Arguments), Result: m.Content}
	if used[c.ID] {
		c.ID = wireID("", position)
	}
	used[c.ID] = true
	if strings.TrimSpace(c.Result) == "" {
		c.Result = "(no output)"
	}
	if n := len(list); n > 0 && list[n-1].Role == Assistant && list[n-1].Call == nil {
		list[n-1].Call = c
		return list
	}
	return append(list, Turn{Role: Assistant, Call: c})
}

// maxID is the length of the longest call id that OpenAI accepts.
const maxID = 40

// wireID returns a call's id in a form that servers accept. The same call has the
// same id in every request, so that prompt caches remain valid.
func wireID(id string, position int) string {
	if id == "" {
		return fmt.Sprintf("call%05d", position) // nine letters and digits, as Mistral's templates require
	}
	if len(id) <= maxID && !badRunes.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

var (
	goodName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	badRunes = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
)

// wireName returns the name of a tool in the history, which may be a flow's action
// that is not a tool of the model.
func wireName(name string) string {
	name = badRunes.ReplaceAllString(name, "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), 64)]
}

// wireArguments returns arguments as a JSON object. Invalid arguments of the model
// are wrapped in one.
func wireArguments(arguments string) string {
	if IsObject([]byte(arguments)) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil {
		panic(fmt.Sprintf("llm: marshal string: %v", err))
	}
	return string(b)
}

// Tool describes a tool whose name and schema servers accept.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // an object
}

// Tools returns the descriptions of the tools.
func Tools(specs []port.ToolSpec) ([]Tool, error) {
	list := make([]Tool, 0, len(specs))
	seen := make(map[string]bool, len(specs))
	for _, s := range specs {
		if !goodName.MatchString(s.Name) {
			return nil, fmt.Errorf("invalid tool name %q: expected 1 to 64 letters, digits, _ or -", s.Name)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("duplicate tool name %q", s.Name)
		}
		seen[s.Name] = true
		schema := s.Schema
		if len(bytes.TrimSpace(schema)) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if !IsObject(schema) {
			return nil, fmt.Errorf("the schema of the tool %q is not a JSON object", s.Name)
		}
		list = append(list, Tool{Name: s.Name, Description: s.Description, Schema: schema})
	}
	return list, nil
}

// Encode returns a request as JSON, with members appended that begin with a comma or are empty.
func Encode(q any, extra []byte) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return nil, err
	}
	body := b.Bytes()[:b.Len()-len("}\n")]
	return append(append(body, extra...), '}'), nil
}
