// Package bench measures the program under load, with what users have: sockets,
// encryption, codecs and real speech. It measures and decides nothing.
//
// A measurement runs the callers in the same process as the calls; what they
// cost is part of the figures. Speech services are given to it: whether
// recognition is measured too is the caller's choice.
package bench
