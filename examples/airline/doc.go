// Package airline is the service behind the flight agent of examples/: a small
// airline over HTTP that finds flights, books, changes and cancels, in memory.
//
// It decides what a flight costs and which bookings there are, the same each time:
// it has no clock and no chance. It honours the header Idempotency-Key, and counts
// what it did, so that a test can prove that nothing was done twice. It is an
// example's service and no airline: it has no accounts, no payment and no disk.
package airline
