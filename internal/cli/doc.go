// Package cli is the command line: one file for each command, and the little
// that they share.
//
// It decides how what the packages below say is written for people and for
// programs, and which exit status it gets: 0 for success, 1 for a finding (a
// violation, a difference), 2 for bad input, which is one clear line on the
// standard error that names the file, line or field and what was expected. It
// holds no behaviour of a conversation.
//
// [Run] is the whole program but for the process: it takes its arguments and
// streams, so that tests run the very commands.
package cli
