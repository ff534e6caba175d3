// Package nettest has a bad network for tests: packets that are lost, late and out
// of order, on real sockets of the loopback interface. It is imported by tests
// alone.
package nettest
