package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// maxCalls limits the number of calls in one reply.
const maxCalls = 64

// CallDelta is a piece of a call, or a whole one, in the form of OpenAI.
type CallDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments Arguments `json:"arguments"`
	} `json:"function"`
}

// Arguments is text that contains JSON. Some servers send the object itself.
type Arguments string

// UnmarshalJSON accepts both forms.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) > 0 && b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*a = Arguments(s)
		return nil
	case len(b) > 0 && b[0] == '{':
		*a = Arguments(b)
		return nil
	}
	return errors.New("tool arguments must be a string or an object")
}

// call is a call under assembly.
type call struct {
	index     int // -1 if the server sends no index
	id, name  string
	arguments strings.Builder
}

// whole reports whether the arguments are a complete JSON object.
func (c *call) whole() bool {
	text := strings.TrimSpace(c.arguments.String())
	return strings.HasSuffix(text, "}") && IsObject([]byte(text))
}

// Calls assembles calls from their pieces, in the order in which they began.
type Calls struct{ calls []*call }

// Add adds a piece.
func (a *Calls) Add(d CallDelta) error {
	c := a.find(d)
	if c == nil {
		if d.Function.Name == "" && d.ID == "" {
			return errors.New("unexpected piece of a tool call")
		}
		if len(a.calls) == maxCalls {
			return fmt.Errorf("the reply calls more than %d tools", maxCalls)
		}
		c = &call{index: -1}
		if d.Index != nil {
			c.index = *d.Index
		}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = d.Function.Name
	}
	c.arguments.WriteString(string(d.Function.Arguments))
	return nil
}

// Piece returns a piece of the call with an index. The id and the name may be empty.
func Piece(index int, id, name, arguments string) CallDelta {
	d := CallDelta{Index: &index, ID: id}
	d.Function.Name, d.Function.Arguments = name, Arguments(arguments)
	return d
}

// Fill adds what is missing of a call: d has all of its arguments. It adds the call if there is
// none with the index of d.
func (a *Calls) Fill(d CallDelta) error {
	for _, c := range a.calls {
		if c.index == *d.Index && c.arguments.Len() > 0 {
			d.Function.Arguments = ""
			break
		}
	}
	return a.Add(d)
}

// Len returns the number of calls that have begun.
func (a *Calls) Len() int { return len(a.calls) }

// Size returns the number of bytes of all arguments.
func (a *Calls) Size() (n int) {
	for _, c := range a.calls {
		n += c.arguments.Len()
	}
	return n
}

// find returns the call that a piece continues, or nil if it starts a new one. The
// index identifies the call, but some servers omit it, and others send 0 for each
// of several whole calls.
func (a *Calls) find(d CallDelta) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		name := d.Function.Name
		switch {
		case d.Index != nil && c.index >= 0 && c.index != *d.Index:
			continue
		case d.ID != "" && c.id == d.ID:
			return c
		case d.ID != "" && d.Index == nil:
			continue
		case d.ID != "" && c.id != "":
			return nil // another call with the same index
		case name != "" && c.name != "" && name != c.name:
			return nil
		case name != "" && strings.TrimSpace(string(d.Function.Arguments)) != "" && c.whole():
			return nil // several whole calls of one tool
		}
		return c
	}
	return nil
}

// Finished returns the assembled calls. An id that is missing or was already used
// in the conversation is replaced, since ids must be unique. Arguments are passed
// on as the model wrote them; if they are not valid JSON, whoever runs the tool
// reports this to the model.
func (a *Calls) Finished(known map[string]bool) ([]port.ToolCall, error) {
	list := make([]port.ToolCall, 0, len(a.calls))
	used := make(map[string]bool, len(a.calls))
	for _, c := range a.calls {
		if c.name == "" {
			return nil, errors.New("a tool call has no name")
		}
		if c.id == "" || known[c.id] || used[c.id] {
			c.id = NewID()
		}
		used[c.id] = true
		text := c.arguments.String()
		if strings.TrimSpace(text) == "" {
			text = "{}"
		}
		list = append(list, port.ToolCall{ID: c.id, Name: c.name, Arguments: text})
	}
	return list, nil
}

// NewID returns an id for a call: nine letters and digits, as Mistral's templates
// require.
func NewID() string { return strings.ToLower(rand.Text()[:9]) }
