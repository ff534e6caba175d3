package app

import (
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/task"
)

// duplicates returns a function that returns the config's policy for a second task of a
// tool, by the name under which the tool is offered. The policies are the same for all
// agents.
func duplicates(c config.Tools) func(agent, tool string) task.Policy {
	policies := make(map[string]task.Policy)
	set := func(name string, c config.CallPolicy) {
		if c.Duplicates != "" {
			policies[name] = task.Policy{Mode: task.Mode(c.Duplicates), By: task.By(c.DuplicatesBy)}
		}
	}
	for _, s := range c.MCP {
		for _, t := range s.Tools {
			set(s.Prefix+t.Name, t.CallPolicy)
		}
	}
	for _, t := range c.HTTP {
		set(t.Name, t.CallPolicy)
	}
	for _, t := range c.Command {
		set(t.Name, t.CallPolicy)
	}
	for _, t := range c.A2A {
		set(t.Name, t.CallPolicy)
	}
	return func(_, tool string) task.Policy { return policies[tool] }
}
