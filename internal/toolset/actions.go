package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Actions carries out actions of an agent's flows with the tools named in the
// agent's files. It is safe for concurrent use.
type Actions struct {
	tool  port.Tool
	uses  map[string]Use
	known map[string]*agent.Action
	specs []port.ToolSpec
}

var _ port.Tool = (*Actions)(nil)

// Use describes how an action uses a tool.
type Use struct {
	Spec    port.ToolSpec     // the tool's description
	Long    bool              // the action is delegated work
	Outputs map[string]string // the part of the result that it uses: see [Outputs]
}

// NewActions returns a tool for the actions that name a tool of a kind
// ([dialog.ToolUse]). Other actions are ignored. It returns an error if an action
// names an unknown tool. t may be nil.
func NewActions(kind string, t port.Tool, actions []agent.Action) (*Actions, error) {
	var known []port.ToolSpec
	if t != nil {
		known = t.Specs()
	}
	return ActionsBy(t, actions, func(a *agent.Action) (*Use, error) {
		if a.Tool == nil || a.Tool.Kind != kind {
			return nil, nil
		}
		at := slices.IndexFunc(known, func(s port.ToolSpec) bool { return s.Name == a.Tool.Name })
		if at < 0 {
			return nil, fmt.Errorf("tools.%s: unknown tool %q: %s", kind, a.Tool.Name, choice(known))
		}
		return &Use{Spec: known[at], Long: a.Long, Outputs: a.Tool.Outputs}, nil
	})
}

// ActionsBy returns a tool for the actions for which use returns a tool of t. use
// returns nil for an action to ignore.
func ActionsBy(t port.Tool, actions []agent.Action, use func(*agent.Action) (*Use, error)) (*Actions, error) {
	m := &Actions{tool: t, uses: make(map[string]Use), known: make(map[string]*agent.Action)}
	for i := range actions {
		a := &actions[i]
		u, err := use(a)
		if err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		if u == nil {
			continue
		}
		if err := u.gives(a); err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		s := u.Spec
		s.Name, s.Confirm, s.Long = a.Name, a.RequiresConfirmation || s.Confirm, u.Long
		s.Irreversible = s.Irreversible && !a.Idempotent
		if a.Description != "" {
			s.Description = a.Description
		}
		m.uses[a.Name], m.known[a.Name] = *u, a
		m.specs = append(m.specs, s)
	}
	return m, nil
}

// gives returns an error if the action lacks an argument that its tool requires,
// since every call would fail.
func (u *Use) gives(a *agent.Action) error {
	var schema struct{ Required []string }
	_ = json.Unmarshal(u.Spec.Schema, &schema) // [Check] reports a schema that cannot be read
	for _, name := range schema.Required {
		if !slices.ContainsFunc(a.Inputs, func(in agent.ActionInput) bool { return in.Name == name }) {
			return fmt.Errorf("%s requires the input %s: expected inputs: {%s: SLOT}", u.Spec.Name, name, name)
		}
	}
	return nil
}

// choice tells which tools there are.
func choice(specs []port.ToolSpec) string {
	if len(specs) == 0 {
		return "the config has none of this kind"
	}
	list := make([]string, len(specs))
	for i := range specs {
		list[i] = specs[i].Name
	}
	return "expected one of " + strings.Join(list, ", ")
}

// Specs returns the descriptions of the actions.
func (m *Actions) Specs() []port.ToolSpec { return slices.Clone(m.specs) }

// Call runs the tool of an action once and returns the outputs as a JSON object.
// The error is that of the tool or a [*port.Failure].
func (m *Actions) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	u, ok := m.uses[call.Name]
	if !ok {
		return "", missing(call.Name)
	}
	a := m.known[call.Name]
	call.Name = u.Spec.Name
	text, err := m.tool.Call(ctx, call, progress)
	if err != nil {
		return "", err
	}
	return Outputs(a, u.Outputs, text)
}

// Outputs converts a tool's result to the outputs of an action, a JSON object: the
// values at the given paths; or, without paths, the fields of the result; or, for a
// result that is not an object, the action's only output or "result". A path
// consists of keys separated by dots; "." is the whole result.
func Outputs(a *agent.Action, paths map[string]string, text string) (string, error) {
	var result any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&result); err != nil || d.More() {
		result = text // text that is not JSON
	}
	object, isObject := result.(map[string]any)
	outputs := object
	switch {
	case len(paths) > 0:
		outputs = make(map[string]any, len(paths))
		for name, path := range paths {
			v, ok := at(result, path)
			if !ok {
				return "", unusable(a, fmt.Sprintf("the result has no field %s", path))
			}
			outputs[name] = v
		}
	case !isObject:
		name := "result"
		if len(a.Outputs) == 1 {
			name = a.Outputs[0]
		}
		outputs = map[string]any{name: result}
	}
	b, err := json.Marshal(outputs)
	if err != nil {
		return "", unusable(a, "the result is not valid JSON")
	}
	return string(b), nil
}

func unusable(a *agent.Action, what string) error {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: %s", a.Name, what)}
}

// at returns the value at a path; "." is the whole value.
func at(v any, path string) (any, bool) {
	if path == "." {
		return v, true
	}
	for key := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[key]; !ok {
			return nil, false
		}
	}
	return v, true
}
