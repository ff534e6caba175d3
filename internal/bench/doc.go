// Package bench measures the program under realistic load: sockets, encryption,
// codecs and real speech.
//
// The callers run in the same process as the calls, so the results include their
// cost. The speech services are parameters: the caller chooses whether recognition
// is measured too.
package bench
