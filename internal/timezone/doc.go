// Package timezone names time zones, by the IANA database or by their offset, so that a
// conversation's can be written down and found again on any machine. It reads the list of
// the machine, or that of the program where the machine has none.
package timezone
