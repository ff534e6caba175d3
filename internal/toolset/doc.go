// Package toolset makes one port.Tool of several: those of an agent's actions, of
// MCP servers and of the installation, and smaller ones of large ones. It is also
// where the arguments of all of them are checked against their schemas, and where
// results that are too long for a model are summarised by it.
//
// It decides which of several tools a call belongs to, which are left out, how
// arguments are read and described, and whether a call's fit. It runs nothing itself, and owns none of what it
// combines.
//
// JSON Schema is santhosh-tekuri/jsonschema's: it knows all drafts, passes their
// test suite, and says where a value does not fit.
package toolset
