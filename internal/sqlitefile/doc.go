// Package sqlitefile is what those who keep things in a SQLite file have in common: the
// file is there, nobody else may read it, and connections have their settings. It knows no
// table, and owns nothing.
//
// Source: https://www.sqlite.org/howtocorrupt.html, 2.2: who closes a file drops the locks
// that its process has on it.
package sqlitefile
