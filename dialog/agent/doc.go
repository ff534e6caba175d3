// Package agent reads the files of an agent and says what is wrong with them. The file
// format is a superset of the Soni DSL 1.0 (seed 003).
//
// [Options.Parse] turns bytes into a [Definition]: settings, slots, actions, and flows of
// steps with compiled messages and expressions. It reports all problems at once, each with
// its place. The package reads no file itself, and runs nothing: package dialog does.
//
// Nothing changes a Definition once it is parsed. Any number of goroutines may read one.
package agent
