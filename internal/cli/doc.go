// Package cli implements the command line: one file for each command, and the code that
// they share.
//
// The package defines the output of the commands and their exit status: 0 for success,
// 1 for a finding (a violation or a difference), and 2 for bad input, which is reported
// in one line on standard error with the file, line or field and what was expected. It
// contains no behaviour of conversations.
//
// [Run] is the whole program except for the process: it takes the arguments and streams
// as parameters, so that tests can run the commands.
package cli
