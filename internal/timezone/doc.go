// Package timezone converts time zones to names and back, so that any machine can restore
// the time zone of a conversation. A name is one of the IANA database or an offset such as
// +05:30. The package uses the database of the machine or, if the machine has none, the
// one that is built into the program.
package timezone
