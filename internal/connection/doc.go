// Package connection stores the state of a leg's connection for its watcher. The
// leg sets the state and reports its end.
package connection
