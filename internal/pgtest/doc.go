// Package pgtest provides tests with a real PostgreSQL: a private server with its
// data in a temporary folder, which listens on the loopback interface only. It uses
// the programs of Debian's package postgresql, or those on the PATH; if there are
// none, tests are skipped. Only tests may import it.
//
// A [Server] belongs to one package's test program, whose TestMain stops it. On
// Linux it also ends if that program is killed.
package pgtest
