// Package nettest simulates networks: a bad one, which loses, delays and reorders packets, on
// real sockets of the loopback interface, and one in memory, for virtual time. Only tests may
// import it.
package nettest
