package device

import (
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/audio"
)

// DefaultRate is the default sampling rate in hertz, which most devices use.
const DefaultRate = 48000

// ErrNoSound is wrapped by errors about a missing sound device, and by errors of builds
// without support for sound devices.
var ErrNoSound = errors.New("no sound device")

// ErrGone is wrapped by errors about a device that has stopped during a call, for example
// because it was unplugged.
var ErrGone = errors.New("the sound device is gone")

// Options configures a leg or a speaker. Zero fields select the defaults.
type Options struct {
	// Rate is the sampling rate in hertz; default [DefaultRate]. The operating system
	// converts it if the device uses another rate.
	Rate int
}

func (o *Options) setDefaults() {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	if o.Rate%50 != 0 || o.Rate < audio.MinRate || o.Rate > audio.MaxRate {
		return fmt.Errorf("device leg: rate is %d: expected %d to %d and whole samples in 20 ms", o.Rate, audio.MinRate, audio.MaxRate)
	}
	return nil
}
