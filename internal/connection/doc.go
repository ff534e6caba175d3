// Package connection keeps what is known of a leg's connection for who watches it. It
// decides nothing: a leg says what becomes of its line, and when it has ended.
package connection
