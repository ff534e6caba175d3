// Package nettest simulates a bad network, which loses, delays and reorders packets, on
// real sockets of the loopback interface. Only tests may import it.
package nettest
