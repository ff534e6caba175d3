// Package toolset makes one port.Tool of several: those of an agent's actions, of
// MCP servers and of the installation, and smaller ones of large ones.
//
// It decides which of several tools a call belongs to, and which are left out. It
// runs nothing itself, and owns none of what it combines.
package toolset
