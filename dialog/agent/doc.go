// Package agent compiles the files of an agent. The file format is a superset of the Soni
// DSL 1.0 (seed 003).
//
// [Options.Parse] compiles the contents of the files to a [Definition]: settings, slots,
// actions, and flows of steps with compiled messages and expressions. It reports all problems,
// each with its position. The package opens no files and runs no flows; package dialog runs
// them.
//
// A Definition that was parsed is not modified any more and is safe for concurrent use.
package agent
