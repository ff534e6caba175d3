package file

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Utterance is something the caller says.
type Utterance struct {
	PCM []int16 // at the leg's rate
	// BargeIn, if not zero, has the caller speak when the agent has been speaking
	// for so long, instead of waiting for its end. If the agent finishes sooner
	// the utterance comes like any other.
	BargeIn time.Duration
}

// DefaultRate is the sampling rate of the frames where none is named, in hertz.
const DefaultRate = 16000

// Options describe the caller. Zero fields take the defaults named.
type Options struct {
	Rate       int // of the frames both ways, in hertz: [DefaultRate]
	Utterances []Utterance
	Pause      time.Duration // between the agent's end and the caller's start: 600 ms
	HangUp     time.Duration // between the agent's last end and hanging up: 1.5 s
	Longest    time.Duration // the caller's patience for the whole call: 10 min
	Realtime   bool          // frames come at the pace of the clock

	Out io.Writer // the agent's side as mono WAV; may be nil
	Mix io.Writer // both sides as stereo WAV, the caller left; may be nil
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

// Validate reports options that make no call.
func (o Options) Validate() error {
	if o.Rate%50 != 0 || o.Rate < audio.MinRate || o.Rate > audio.MaxRate {
		return fmt.Errorf("file leg: rate is %d, expected %d to %d and whole samples in 20 ms", o.Rate, audio.MinRate, audio.MaxRate)
	}
	if o.Pause < 0 || o.HangUp < 0 || o.Longest < 0 {
		return errors.New("file leg: times are negative")
	}
	for i, u := range o.Utterances {
		if u.BargeIn < 0 {
			return fmt.Errorf("file leg: utterance %d breaks in after %v, expected 0 or more", i+1, u.BargeIn)
		}
	}
	return nil
}
