// Package toolset combines tools: those of an agent's actions, of MCP servers and
// of the installation. It also validates arguments and has long results summarized
// by a model.
//
// It defines which tool a call belongs to, which tools are excluded, and how
// arguments are parsed, described and validated. It does not own the tools that it
// combines.
//
// JSON Schema is implemented by santhosh-tekuri/jsonschema, which supports all
// drafts, passes their test suite, and reports the location of invalid values.
package toolset
