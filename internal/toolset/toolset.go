package toolset

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Part is a tool with where it comes from, in words for people: "the MCP servers".
type Part struct {
	From string
	Tool port.Tool
}

// Set is several tools as one. It is safe for concurrent use.
type Set struct{ parts []Part }

var _ port.Tool = (*Set)(nil)

// Combine makes one tool of several; those that are nil are left out. It fails
// where two of them have a tool of one name. A part whose tools change later may
// bring a second one: then the earlier part's is called.
func Combine(parts ...Part) (*Set, error) {
	s := &Set{parts: slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Tool == nil })}
	from := make(map[string]string)
	var errs []error
	for _, p := range s.parts {
		for _, spec := range p.Tool.Specs() {
			if first, there := from[spec.Name]; there {
				errs = append(errs, fmt.Errorf("tools: %s is a tool of %s and of %s: expected another name, or a prefix, for one of them", spec.Name, first, p.From))
				continue
			}
			from[spec.Name] = p.From
		}
	}
	return s, errors.Join(errs...)
}

// Specs are the tools of all parts, in their order.
func (s *Set) Specs() []port.ToolSpec {
	var all []port.ToolSpec
	seen := make(map[string]bool)
	for _, p := range s.parts {
		for _, spec := range p.Tool.Specs() {
			if !seen[spec.Name] {
				seen[spec.Name] = true
				all = append(all, spec)
			}
		}
	}
	return all
}

// Call has the part run the call that has its tool.
func (s *Set) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	for _, p := range s.parts {
		if has(p.Tool, call.Name) {
			return p.Tool.Call(ctx, call, progress)
		}
	}
	return "", missing(call.Name)
}

func has(t port.Tool, name string) bool {
	return slices.ContainsFunc(t.Specs(), func(s port.ToolSpec) bool { return s.Name == name })
}

// toolName is one that models and files take without trouble.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IsName reports whether a tool can have a name: 1 to 64 letters, digits, - or _.
func IsName(text string) bool { return toolName.MatchString(text) }

func missing(name string) error {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("there is no tool %q", name)}
}

// Selection is some of the tools of another. It is safe for concurrent use.
type Selection struct {
	tool  port.Tool
	names []string // "*" is all
}

var _ port.Tool = (*Selection)(nil)

// Select makes a tool that offers and runs the named tools alone; "*" names all.
// It fails where there is no tool of a name.
func Select(t port.Tool, names []string) (*Selection, error) {
	for _, name := range names {
		if name == "*" || has(t, name) {
			continue
		}
		var known []string
		for _, s := range t.Specs() {
			known = append(known, s.Name)
		}
		return nil, fmt.Errorf("tools: there is no tool %q: there are %v", name, known)
	}
	return &Selection{tool: t, names: slices.Clone(names)}, nil
}

func (s *Selection) selects(name string) bool {
	return slices.Contains(s.names, "*") || slices.Contains(s.names, name)
}

// Specs are the tools that were named.
func (s *Selection) Specs() []port.ToolSpec {
	return slices.DeleteFunc(slices.Clone(s.tool.Specs()), func(spec port.ToolSpec) bool { return !s.selects(spec.Name) })
}

// Call runs a call of one of them.
func (s *Selection) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	if !s.selects(call.Name) {
		return "", missing(call.Name)
	}
	return s.tool.Call(ctx, call, progress)
}
