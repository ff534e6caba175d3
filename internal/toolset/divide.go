package toolset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
)

// Division describes the tools of an agent's flows and its model.
type Division struct {
	Definition []agent.Action // actions of the agent
	Actions    port.Tool      // carries out the actions
	// Common contains tools that are not actions and that a model may also call.
	Common Part
	// Names lists the tools of the model, of both kinds, if the agent's files list
	// them. Without a list, a model may call the agent's actions except those that
	// validate a slot; with Free it may also call all common tools.
	Names  []string
	Listed bool
	Free   bool
}

// Divide returns the tool of an agent's flows and that of its model. Both validate
// the arguments of each call.
func Divide(d Division) (flows, model port.Tool, err error) {
	if flows, err = Check(d.Actions); err != nil {
		return nil, nil, fmt.Errorf("the agent's actions: %w", err)
	}
	names, all := d.Names, d.Actions
	if d.Listed || d.Free {
		if all, err = Combine(Part{From: "the agent's actions", Tool: d.Actions}, d.Common); err != nil {
			return nil, nil, err
		}
	}
	if !d.Listed {
		names = nil
		for _, s := range all.Specs() {
			checks := func(a agent.Action) bool { return a.Name == s.Name && a.Checks != "" }
			if !slices.ContainsFunc(d.Definition, checks) {
				names = append(names, s.Name)
			}
		}
	}
	selected, err := Select(all, names)
	if err != nil {
		return nil, nil, fmt.Errorf("the agent's list of tools: %w", err)
	}
	if model, err = Check(selected); err != nil {
		return nil, nil, err
	}
	return flows, model, nil
}

// SummarizeWithin is [Summarize] with the machine's limits, or their defaults if
// zero. If model is nil, it returns t.
func SummarizeWithin(t port.Tool, model port.Model, l conv.Limits) port.Tool {
	if model == nil {
		return t
	}
	defaults := conv.DefaultOptions().Limits
	return Summarize(t, model, Summaries{
		Chars: cmp.Or(l.ResultChars, defaults.ResultChars),
		Quick: cmp.Or(l.Tool, defaults.Tool), Long: cmp.Or(l.Task, defaults.Task),
	})
}
