package file

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Utterance is one utterance of the caller.
type Utterance struct {
	PCM []int16 // at the leg's rate
	// BargeIn, if not zero, makes the caller interrupt after the agent has been
	// speaking for this time. If the agent finishes sooner, the utterance is played
	// as usual.
	BargeIn time.Duration
}

// DefaultRate is the default sampling rate in hertz.
const DefaultRate = 16000

// Options configures the caller. Zero fields select the defaults.
type Options struct {
	Rate       int // of the frames in both directions, in hertz; default [DefaultRate]
	Utterances []Utterance
	Pause      time.Duration // between the end of the agent's speech and the caller's start; default 600 ms
	HangUp     time.Duration // between the end of the agent's last speech and hanging up; default 1.5 s
	Longest    time.Duration // limit of the call's length; default 10 minutes
	Realtime   bool          // frames arrive in real time

	Echo Echo // of the agent in the caller's microphone
	// Microphone, if not nil, may change each frame that the leg has read, for tests: noise,
	// a codec. speaking is true while the caller speaks.
	Microphone func(pcm []int16, speaking bool)

	Out io.Writer // the agent's side as mono WAV; may be nil
	Mix io.Writer // both sides as stereo WAV, the caller on the left; may be nil
}

func (o *Options) setDefaults() {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Pause == 0 {
		o.Pause = 600 * time.Millisecond
	}
	if o.HangUp == 0 {
		o.HangUp = 1500 * time.Millisecond
	}
	if o.Longest == 0 {
		o.Longest = 10 * time.Minute
	}
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	if o.Rate%50 != 0 || o.Rate < audio.MinRate || o.Rate > audio.MaxRate {
		return fmt.Errorf("file leg: rate is %d: expected %d to %d and whole samples in 20 ms", o.Rate, audio.MinRate, audio.MaxRate)
	}
	if o.Pause < 0 || o.HangUp < 0 || o.Longest < 0 {
		return errors.New("file leg: times must not be negative")
	}
	if err := o.Echo.validate(); err != nil {
		return err
	}
	for i, u := range o.Utterances {
		if u.BargeIn < 0 {
			return fmt.Errorf("file leg: BargeIn of utterance %d is %v: expected 0 or more", i+1, u.BargeIn)
		}
	}
	return nil
}
