package text

import (
	"errors"
	"time"
)

// Options configures a [Leg].
type Options struct {
	// Linger is how long the leg waits for an absent person; default 5 minutes.
	Linger time.Duration
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	if o.Linger < 0 {
		return errors.New("text: Linger must not be negative")
	}
	return nil
}
