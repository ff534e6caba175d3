package store

import "github.com/hocketvoice/hocket/port"

// Engine is all that a store of conversations does. The stores in the subpackages
// implement it, except store/sealed, which wraps parts of one.
type Engine interface {
	port.Store
	port.Journal
	port.Recordings
	port.Registry
	port.Archive
	port.Tickets
	port.Versions
	port.Callers
	// Close waits for running calls and closes the store. Later calls fail; calling Close
	// again does nothing.
	Close() error
}
