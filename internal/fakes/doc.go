// Package fakes contains what the fakes of speech services share: the server's side of a
// WebSocket with faults on request, a recognizer and a synthesizer behind it, and the record
// of the rules that a client has broken. A fake enforces the documented rules of its vendor, so
// that clients can be developed and tested without the vendor.
package fakes
