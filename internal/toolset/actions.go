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

// Actions are the actions of an agent's flows that tools carry out, named in their
// files. It is safe for concurrent use.
type Actions struct {
	tool  port.Tool
	uses  map[string]Use
	known map[string]*agent.Action
	specs []port.ToolSpec
}

var _ port.Tool = (*Actions)(nil)

// Use is what an action makes of a tool.
type Use struct {
	Spec    port.ToolSpec     // the tool's
	Long    bool              // the action is a delegated agent's work
	Outputs map[string]string // what it takes of the result: see [Outputs]
}

// NewActions makes the tool of the actions that name a tool of a kind
// ([dialog.ToolUse]). The others are left alone. It fails where an action names
// what there is not; t may be nil.
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
			return nil, fmt.Errorf("tools.%s has no %q: it has %s", kind, a.Tool.Name, nameList(known))
		}
		return &Use{Spec: known[at], Long: a.Long, Outputs: a.Tool.Outputs}, nil
	})
}

// ActionsBy makes the tool of the actions for which use finds one of t's; it gives nil
// for those that are left alone.
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

// gives reports what a tool requires and an action never gives it: each of its calls
// would fail.
func (u *Use) gives(a *agent.Action) error {
	var schema struct{ Required []string }
	_ = json.Unmarshal(u.Spec.Schema, &schema) // one that cannot be read is told by [Check]
	for _, name := range schema.Required {
		if !slices.ContainsFunc(a.Inputs, func(in agent.ActionInput) bool { return in.Name == name }) {
			return fmt.Errorf("%s requires %s, which is none of its inputs: expected inputs: {%s: SLOT}", u.Spec.Name, name, name)
		}
	}
	return nil
}

func nameList(specs []port.ToolSpec) string {
	if len(specs) == 0 {
		return "none"
	}
	list := make([]string, len(specs))
	for i := range specs {
		list[i] = specs[i].Name
	}
	return strings.Join(list, ", ")
}

// Specs are the actions there are.
func (m *Actions) Specs() []port.ToolSpec { return slices.Clone(m.specs) }

// Call runs the tool of an action once and returns its outputs as a JSON object. A
// failure is the tool's, or a [*port.Failure].
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

// Outputs makes a tool's result the outputs of an action, a JSON object: what the
// paths lead to; without paths the fields of the result; of a result that is no
// object, the action's only output or "result". A path is keys with dots between
// them, "." the whole.
func Outputs(a *agent.Action, paths map[string]string, text string) (string, error) {
	var result any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&result); err != nil || d.More() {
		result = text // words, no JSON
	}
	object, isObject := result.(map[string]any)
	outputs := object
	switch {
	case len(paths) > 0:
		outputs = make(map[string]any, len(paths))
		for name, path := range paths {
			v, ok := at(result, path)
			if !ok {
				return "", unusable(a, fmt.Sprintf("the result has no %s", path))
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
		return "", unusable(a, "the result is no JSON")
	}
	return string(b), nil
}

func unusable(a *agent.Action, what string) error {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("action %s: %s", a.Name, what)}
}

// at is what a path of keys leads to; "." is the whole.
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
