package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// maxCalls bounds the calls of one reply.
const maxCalls = 64

// callDelta is a piece of a call, or a whole one.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is a text with JSON in it; some servers send the object itself.
type arguments string

// UnmarshalJSON takes both.
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) > 0 && b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*a = arguments(s)
		return nil
	case len(b) > 0 && b[0] == '{':
		*a = arguments(b)
		return nil
	}
	return errors.New("the arguments of a tool are neither a text nor an object")
}

// call is a call that is being put together.
type call struct {
	index     int // -1 if the server does not count
	id, name  string
	arguments strings.Builder
}

// whole says whether the arguments are complete: a JSON object can grow no more.
func (c *call) whole() bool {
	text := strings.TrimSpace(c.arguments.String())
	return strings.HasSuffix(text, "}") && isObject([]byte(text))
}

// assembler puts calls together from their pieces, in the order in which they
// began.
type assembler struct{ calls []*call }

// add takes a piece.
func (a *assembler) add(d callDelta) error {
	c := a.find(d)
	if c == nil {
		if d.Function.Name == "" && d.ID == "" {
			return errors.New("a piece of a call of a tool belongs to no call")
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

// find is the call that a piece continues, or nil for a new one. The index says
// it; but there are servers that leave it out, and such that say 0 for each of
// several whole calls.
func (a *assembler) find(d callDelta) *call {
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
			return nil // the same index, and another call
		case name != "" && c.name != "" && name != c.name:
			return nil
		case name != "" && strings.TrimSpace(string(d.Function.Arguments)) != "" && c.whole():
			return nil // whole calls of one tool, one after the other
		}
		return c
	}
	return nil
}

// finished are the calls as they are handed on. An id that the server left out,
// or that the conversation knows already, is replaced: two calls with the same
// id would be one. Arguments are what the model wrote; if that is no JSON, who
// runs the tool tells the model so.
func (a *assembler) finished(known map[string]bool) ([]port.ToolCall, error) {
	list := make([]port.ToolCall, 0, len(a.calls))
	used := make(map[string]bool, len(a.calls))
	for _, c := range a.calls {
		if c.name == "" {
			return nil, errors.New("a call of a tool has no name")
		}
		if c.id == "" || known[c.id] || used[c.id] {
			c.id = newID()
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

// newID makes an id for a call: nine letters and digits, which Mistral's
// templates want, and enough of them for the calls of one conversation.
func newID() string { return strings.ToLower(rand.Text()[:9]) }
