package flite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/clauses"
)

// Rate is the sampling rate of every voice of this package, in hertz.
const Rate = 16000

// Voices returns the names of the available voices: slt is female, rms and kal16
// are male; kal16 is a diphone voice, the others are statistical and sound
// smoother.
func Voices() []string { return []string{"slt", "rms", "kal16"} }

// Limits of [port.Utterance].Rate. Beyond them, speech is unintelligible and the
// duration model fails.
const (
	minPace = 0.25
	maxPace = 4
)

// ErrMissing is what [New] returns in a binary built without the engine.
var ErrMissing = errors.New("flite: this binary was built without the flite voices; " +
	"install flite1-dev and build with: go build -tags flite (CGO_ENABLED=1)")

// Options configures a [Synthesizer]. The zero value is ready for use.
type Options struct {
	// Voice is used when an utterance names none; "slt" if empty.
	Voice string
	// ClauseWords is the number of words after which a sentence is divided at the
	// next clause boundary. Small values lead to an earlier first sound and faster
	// cancellation, large ones preserve the intonation of long sentences. 12 if 0.
	ClauseWords int
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Voice != "" && !slices.Contains(Voices(), o.Voice) {
		return fmt.Errorf("flite: voice %q is unknown: expected one of %s", o.Voice, strings.Join(Voices(), ", "))
	}
	if o.ClauseWords < 0 || o.ClauseWords > clauses.MaxWords {
		return fmt.Errorf("flite: clause words is %d: expected 0 to %d", o.ClauseWords, clauses.MaxWords)
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

// Languages implements [port.Languages].
func (*Synthesizer) Languages() []string { return []string{"en"} }
