// Package porttest has what tests need of the ports: fakes that behave like a
// patient, deterministic service, and one conformance suite for each port that
// every adapter and its fake must pass. It is imported by tests alone.
//
// A suite states the rules of the port's doc comments as tests. It takes a
// function that opens a fresh adapter for each of them, and a description of
// what this adapter can do beyond the rules. A rule that an adapter breaks is a
// bug of the adapter, or the port's doc comment has to change.
package porttest
