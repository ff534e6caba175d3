// Package sqlitefile contains what all users of a SQLite file need: it creates the file
// so that nobody else can read it, and opens connections with settings. It knows no
// tables and has no state.
//
// Source: https://www.sqlite.org/howtocorrupt.html, section 2.2: a process that closes
// a file loses its locks on it.
package sqlitefile
