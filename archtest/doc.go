// Package archtest checks rules for the module's source: which package may import
// which, what the deterministic packages must not contain, who owns each goroutine,
// what is documented, and that the documentation refers only to things that exist.
// It contains only tests, and nothing imports it.
//
// The files are read and parsed in this process, not by a go command, because the
// test cache tracks the files that a test opens but not those of its child
// processes. Each rule is itself tested with small pieces of source that violate
// it.
//
// To change what a rule allows, change tables_test.go and give the reason there.
package archtest
