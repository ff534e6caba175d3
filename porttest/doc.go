// Package porttest has what tests need of the ports: fakes that behave like a
// patient, deterministic service, and one conformance suite for each port that
// every adapter and its fake must pass. It is imported by tests alone.
package porttest
