// Package archtest holds the rules that the module's own text must keep: which
// package may import which, what the deterministic packages must not contain,
// who owns each goroutine, what is documented, and that the documentation names
// only what exists. It has no code but tests, and nothing imports it.
//
// The files are read and parsed in this process, never by a child process of
// the go command: the test cache knows what a test has opened, but not what its
// children have. Each rule has tests of its own, small pieces of source that
// break it and must be found.
//
// A rule that is in the way is changed in tables_test.go, with a reason, and
// never worked around.
package archtest
