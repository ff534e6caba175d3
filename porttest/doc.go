// Package porttest helps to test implementations and users of the ports. It
// contains deterministic fakes, and one conformance suite for each port that every
// adapter and its fake must pass. Only tests may import it.
//
// A suite tests the rules of the port's doc comments. Its arguments are a function
// that opens a fresh adapter for each rule, and a description of what the adapter
// can do beyond the rules.
package porttest
