package toolset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Checked is a tool whose calls have arguments that fit its schema. It is safe for
// concurrent use.
type Checked struct {
	tool port.Tool

	mu       sync.Mutex // guards compiled
	compiled map[string]compiledSchema
}

// compiledSchema is a schema with the text that it was made of: tools may change.
type compiledSchema struct {
	text   []byte
	schema *Schema
}

var _ port.Tool = (*Checked)(nil)

// Check makes a tool that checks the arguments of each call before it is made, by
// the schema of its spec: what does not fit is a [*port.Failure] of class
// INVALID_ARGS that names the field, and the tool does not hear of it. It fails
// where a tool that there is has a schema that cannot be read.
func Check(t port.Tool) (*Checked, error) {
	c := &Checked{tool: t, compiled: make(map[string]compiledSchema)}
	var errs []error
	for _, spec := range t.Specs() {
		if _, err := c.schema(spec); err != nil {
			errs = append(errs, fmt.Errorf("tool %s: %w", spec.Name, err))
		}
	}
	return c, errors.Join(errs...)
}

// schema is a tool's, compiled when it is new.
func (c *Checked) schema(spec port.ToolSpec) (*Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[spec.Name]; ok && bytes.Equal(s.text, spec.Schema) {
		return s.schema, nil
	}
	s, err := CompileSchema(spec.Schema)
	if err != nil {
		return nil, err
	}
	c.compiled[spec.Name] = compiledSchema{bytes.Clone(spec.Schema), s}
	return s, nil
}

// Specs are the tool's.
func (c *Checked) Specs() []port.ToolSpec { return c.tool.Specs() }

// Call checks a call, and makes it.
func (c *Checked) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	for _, spec := range c.tool.Specs() {
		if spec.Name != call.Name {
			continue
		}
		s, err := c.schema(spec)
		if err != nil {
			return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("%s: %v", call.Name, err)}
		}
		if err := s.Check(call.Arguments); err != nil {
			return "", &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: %v", call.Name, err)}
		}
		break
	}
	return c.tool.Call(ctx, call, progress)
}
