// Package airline is the service of the flight agent in examples/: a small airline
// over HTTP that searches, books, changes and cancels flights in memory.
//
// Flights and prices are deterministic; the service uses neither a clock nor random
// numbers. It supports the header Idempotency-Key, and counts its operations so
// that a test can check that nothing was done twice. It has no accounts, payments
// or persistent storage.
package airline
