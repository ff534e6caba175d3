package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/store"
)

// DefaultBusyTimeout is the default of [Options].BusyTimeout.
const DefaultBusyTimeout = 5 * time.Second

// Options configure a [Store]. Path alone must be set; the zero value of every
// other field is its default.
type Options struct {
	// Path is the file. It is made if it is not there, its folder is not. Beside
	// it stand Path-wal and Path-shm while a store is open. The disk must be a
	// local one.
	Path string
	// BusyTimeout bounds how long a call waits while another process writes;
	// [DefaultBusyTimeout] if 0.
	BusyTimeout time.Duration
	// MaxSnapshot bounds a snapshot that is saved or loaded, in bytes;
	// [store.DefaultMaxSnapshot] if 0, at most [store.LargestSnapshot].
	MaxSnapshot int
	// Now is the time that a snapshot is saved at, and that Expire counts from;
	// time.Now if nil. It must be safe for concurrent use.
	Now func() time.Time
}

// Validate reports the first setting that makes no sense. It does not look at
// the disk.
func (o Options) Validate() error {
	switch {
	case o.Path == "":
		return errors.New("store: Path is empty, expected the path of a file")
	case o.BusyTimeout < 0:
		return fmt.Errorf("store: BusyTimeout is %v, expected 0 or more", o.BusyTimeout)
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
