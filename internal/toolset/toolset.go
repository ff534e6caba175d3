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

// Part is a tool and a description of its origin for people: "the MCP servers".
type Part struct {
	From string
	Tool port.Tool
}

// Set combines several tools. It is safe for concurrent use.
type Set struct{ parts []Part }

var _ port.Tool = (*Set)(nil)

// Combine combines several tools and ignores those that are nil. It returns an
// error if two of them have a tool of the same name. If a tool changes later and
// adds a duplicate name, the earlier part is called.
func Combine(parts ...Part) (*Set, error) {
	s := &Set{parts: slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Tool == nil })}
	from := make(map[string]string)
	var errs []error
	for _, p := range s.parts {
		for _, spec := range p.Tool.Specs() {
			if first, there := from[spec.Name]; there {
				both := fmt.Sprintf("both %s and %s", first, p.From)
				if first == p.From {
					both = p.From + " twice"
				}
				errs = append(errs, fmt.Errorf("tools: %s is a tool of %s: rename one of them or set a prefix", spec.Name, both))
				continue
			}
			from[spec.Name] = p.From
		}
	}
	return s, errors.Join(errs...)
}

// Specs returns the descriptions of all tools, in order.
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

// Call runs a call with the part that has the tool.
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

// toolName matches names that models and files accept.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IsName reports whether a text is a valid tool name: 1 to 64 letters, digits, - or
// _.
func IsName(text string) bool { return toolName.MatchString(text) }

func missing(name string) error {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("unknown tool %q", name)}
}

// Selection is a subset of a tool's tools. It is safe for concurrent use.
type Selection struct {
	tool  port.Tool
	names []string // "*" selects all
}

var _ port.Tool = (*Selection)(nil)

// Select returns a tool with only the named tools; "*" selects all. It returns an
// error for an unknown name.
func Select(t port.Tool, names []string) (*Selection, error) {
	for _, name := range names {
		if name == "*" || has(t, name) {
			continue
		}
		var known []string
		for _, s := range t.Specs() {
			known = append(known, s.Name)
		}
		return nil, fmt.Errorf("tools: unknown tool %q: expected one of %v", name, known)
	}
	return &Selection{tool: t, names: slices.Clone(names)}, nil
}

func (s *Selection) selects(name string) bool {
	return slices.Contains(s.names, "*") || slices.Contains(s.names, name)
}

// Specs returns the descriptions of the selected tools.
func (s *Selection) Specs() []port.ToolSpec {
	return slices.DeleteFunc(slices.Clone(s.tool.Specs()), func(spec port.ToolSpec) bool { return !s.selects(spec.Name) })
}

// Call runs a call of a selected tool.
func (s *Selection) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	if !s.selects(call.Name) {
		return "", missing(call.Name)
	}
	return s.tool.Call(ctx, call, progress)
}
