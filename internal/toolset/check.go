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

// Checked is a tool that validates the arguments of its calls. It is safe for
// concurrent use.
type Checked struct {
	tool port.Tool

	mu       sync.Mutex // guards compiled
	compiled map[string]compiledSchema
}

// compiledSchema is a schema and its text, which changes if the tool changes.
type compiledSchema struct {
	text   []byte
	schema *Schema
}

var _ port.Tool = (*Checked)(nil)

// Check returns a tool that validates the arguments of each call with the schema of
// the tool's spec. Invalid arguments are a [*port.Failure] of class INVALID_ARGS
// that names the field, and the tool is not called. Check returns an error if a
// schema is invalid.
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

// schema returns the compiled schema of a tool.
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

// Specs returns the descriptions of the tool.
func (c *Checked) Specs() []port.ToolSpec { return c.tool.Specs() }

// Call validates a call and runs it.
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
