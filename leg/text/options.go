package text

import (
	"errors"
	"time"
)

// Options set up a [Leg].
type Options struct {
	// Linger is how long a leg whose person has gone waits for them: 5 min.
	Linger time.Duration
}

// Validate says what does not fit.
func (o Options) Validate() error {
	if o.Linger < 0 {
		return errors.New("text: Linger is negative")
	}
	return nil
}
