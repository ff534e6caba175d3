// Package pgtest gives tests a real PostgreSQL: a private server of the test's
// program, with its data in a temporary folder, that listens on a port of the
// loopback interface alone. It finds the programs of Debian's package postgresql, or
// those on the PATH; where there are none the tests are skipped. It is imported by
// tests alone.
//
// Ownership: a [Server] belongs to the program of one package's tests, whose TestMain
// stops it. On Linux it ends with that program even where the program is killed.
package pgtest
