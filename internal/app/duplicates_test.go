package app

import (
	"testing"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/task"
)

// TestDuplicates checks that the policy for duplicate tasks is found by the name that a model
// calls, for each kind of tool.
func TestDuplicates(t *testing.T) {
	policy := duplicates(config.Tools{
		MCP: []config.MCPServer{
			{Name: "files", Prefix: "files_", Tools: []config.ToolPolicy{{Name: "index", CallPolicy: second("reject", "arguments")}}},
			{Name: "mail", Tools: []config.ToolPolicy{{Name: "index", CallPolicy: second("replace", "")}}},
		},
		HTTP:    []config.HTTPTool{{Name: "report", CallPolicy: second("replace", "")}, {Name: "weather"}},
		Command: []config.CommandTool{{Name: "research", CallPolicy: second("reject", "name")}},
		A2A:     []config.A2AAgent{{Name: "travel", CallPolicy: second("allow", "")}},
	})
	for tool, want := range map[string]task.Policy{
		"files_index": {Mode: task.Reject, By: task.ByArguments},
		"index":       {Mode: task.Replace},
		"report":      {Mode: task.Replace},
		"weather":     {},
		"research":    {Mode: task.Reject, By: task.ByName},
		"travel":      {Mode: task.Allow},
		"unknown":     {},
	} {
		if got := policy("any", tool); got != want {
			t.Errorf("%s: %+v, expected %+v", tool, got, want)
		}
	}
}

// second returns a policy for duplicate tasks.
func second(mode, by string) config.CallPolicy {
	return config.CallPolicy{Duplicates: mode, DuplicatesBy: by}
}
