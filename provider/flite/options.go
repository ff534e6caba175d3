package flite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rate is the sampling rate of every voice of this package, in hertz.
const Rate = 16000

// Voices lists the voices that can be asked for: slt is female, rms and kal16
// are male; kal16 is a diphone voice, the others are statistical ones that
// sound smoother.
func Voices() []string { return []string{"slt", "rms", "kal16"} }

// Bounds of the pace that [port.Utterance].Rate may ask for; past them speech
// is no longer understood and the duration model degenerates.
const (
	minPace = 0.25
	maxPace = 4
)

// ErrMissing is what [New] returns in a binary built without the engine.
var ErrMissing = errors.New("flite: this binary was built without the flite voices; " +
	"install flite1-dev and build with: go build -tags flite (CGO_ENABLED=1)")

// Options configures a [Synthesizer]. The zero value is ready for use.
type Options struct {
	// Voice speaks when an utterance names none; "slt" if empty.
	Voice string
	// ClauseWords is the number of words after which a sentence is cut at the
	// next clause boundary. Small values bring the first sound and a
	// cancellation sooner, large ones keep the melody of long sentences. 12 if 0.
	ClauseWords int
}

// Validate reports the first setting that cannot work.
func (o Options) Validate() error {
	if o.Voice != "" && !slices.Contains(Voices(), o.Voice) {
		return fmt.Errorf("flite: voice %q is unknown, expected one of %s", o.Voice, strings.Join(Voices(), ", "))
	}
	if o.ClauseWords < 0 || o.ClauseWords > maxClauseWords {
		return fmt.Errorf("flite: clause words is %d, expected 0 to %d", o.ClauseWords, maxClauseWords)
	}
	return nil
}

// withDefaults returns o with every zero field set.
func (o Options) withDefaults() Options {
	if o.Voice == "" {
		o.Voice = "slt"
	}
	if o.ClauseWords == 0 {
		o.ClauseWords = 12
	}
	return o
}
