package toolset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
)

// Division says which tools an agent's flows and its model have.
type Division struct {
	Definition []agent.Action // of the agent
	Actions    port.Tool      // carries them out
	// Common are tools that are no actions, which a model may call as well.
	Common Part
	// Names are the tools of the model, of both kinds, where the agent's files list them.
	// Without a list a model may call the agent's actions, but those that check a
	// slot's value; Free has it call all common tools too.
	Names  []string
	Listed bool
	Free   bool
}

// Divide makes the tool of an agent's flows and that of its model. Both check the
// arguments of each call.
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

// SummarizeWithin is [Summarize] with the machine's limits, its defaults where they are
// zero. Without a model the tool is as it was.
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
