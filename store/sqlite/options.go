package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/store"
)

// DefaultBusyTimeout is the default of [Options].BusyTimeout.
const DefaultBusyTimeout = 5 * time.Second

// Options configures a [Store]. Path must be set; other zero fields select the defaults.
type Options struct {
	// Path is the file, on a local disk. It is created if needed, but its folder is not.
	// While a store is open there are also the files Path-wal and Path-shm.
	Path string
	// BusyTimeout is how long a call waits while another process writes; default
	// [DefaultBusyTimeout].
	BusyTimeout time.Duration
	// MaxSnapshot is the maximum size of a snapshot, or a piece of a journal, in bytes;
	// default [store.DefaultMaxSnapshot], at most [store.LargestSnapshot].
	MaxSnapshot int
	// Now returns the current time; default time.Now. It must be safe for concurrent use.
	Now func() time.Time
}

// Validate returns an error if a setting is invalid. It does not access the disk.
func (o Options) Validate() error {
	switch {
	case o.Path == "":
		return errors.New("store: Path must be set")
	case o.BusyTimeout < 0:
		return fmt.Errorf("store: BusyTimeout is %v: expected 0 or more", o.BusyTimeout)
	default:
		return store.CheckMost(o.MaxSnapshot)
	}
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = DefaultBusyTimeout
	}
	if o.MaxSnapshot == 0 {
		o.MaxSnapshot = store.DefaultMaxSnapshot
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
