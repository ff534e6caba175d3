package vscode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Tools are the tools of the editor. It is safe for concurrent use.
type Tools struct {
	editor    Editor
	specs     []port.ToolSpec
	maxOutput int
}

var _ port.Tool = (*Tools)(nil)

// maxTools bounds the number of tools, maxOutput the output of one call in bytes.
const (
	maxTools  = 64
	maxOutput = 64 << 10
)

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NewTools returns the tools that an editor has announced.
func NewTools(e Editor, list []Spec) (*Tools, error) {
	if e == nil {
		return nil, errors.New("vscode: the editor must be set")
	}
	if len(list) > maxTools {
		return nil, fmt.Errorf("tools has %d entries: expected at most %d", len(list), maxTools)
	}
	t := &Tools{editor: e, maxOutput: maxOutput}
	for i, s := range list {
		switch {
		case !goodName.MatchString(s.Name):
			return nil, fmt.Errorf("tools[%d].name is %q: expected 1 to 64 letters, digits, - or _", i, s.Name)
		case t.has(s.Name):
			return nil, fmt.Errorf("tools[%d].name is %q, as that of another tool", i, s.Name)
		case len(s.Schema) > 0 && !isObject(s.Schema):
			return nil, fmt.Errorf("tools[%d].schema of %s must be an object", i, s.Name)
		}
		t.specs = append(t.specs, port.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema, Irreversible: s.Irreversible})
	}
	return t, nil
}

func (t *Tools) has(name string) bool {
	return slices.ContainsFunc(t.specs, func(s port.ToolSpec) bool { return s.Name == name })
}

// Specs returns the tools.
func (t *Tools) Specs() []port.ToolSpec { return slices.Clone(t.specs) }

// Call runs one call in the editor.
func (t *Tools) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if !t.has(call.Name) {
		return "", &port.Failure{Code: errclass.ToolError, Message: "the editor has no tool " + call.Name}
	}
	input := json.RawMessage(call.Arguments)
	if call.Arguments == "" {
		input = json.RawMessage("{}")
	}
	if !isObject(input) {
		return "", &port.Failure{Code: errclass.InvalidArgs, Message: "the arguments of " + call.Name + " must be a JSON object"}
	}
	var result struct {
		Output string `json:"output"`
	}
	err := t.editor.Request(ctx, MethodCall, Call{ID: call.ID, Name: call.Name, Input: input}, &result, func(b json.RawMessage) error {
		var p Part
		if json.Unmarshal(b, &p) == nil && p.Text != "" && progress != nil {
			progress(line(p.Text))
		}
		return nil
	})
	if e, ok := errors.AsType[*Error](err); ok {
		f := &port.Failure{Code: errclass.ToolError, Message: line(e.Message)}
		if e.Code == errclass.InvalidArgs {
			f.Code = errclass.InvalidArgs
		}
		return "", f
	}
	if err != nil {
		return "", err
	}
	if len(result.Output) > t.maxOutput {
		result.Output = result.Output[:t.maxOutput] + "\n(the rest is left out)"
	}
	return result.Output, nil
}
