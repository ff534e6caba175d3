package piper

import (
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/clauses"
)

// Network is the name of the file of the voice that `make voice` installs. The file of its
// settings has the same name, followed by ".json".
const Network = "en_US-joe-medium.onnx"

// ErrNoPhonemes is wrapped by the error of [New] if there is no program espeak-ng.
var ErrNoPhonemes = errors.New("piper: the program espeak-ng is not installed")

// Limits of [port.Utterance].Rate.
const (
	minPace = 0.25
	maxPace = 4
)

// Options configures a [Synthesizer].
type Options struct {
	Library string // the shared library of the ONNX Runtime; required
	Network string // the ONNX file of the voice, beside its settings; required
	// Program turns text into phonemes; "espeak-ng" if empty.
	Program string
	// ClauseWords is the number of words after which a sentence is divided at the next clause
	// boundary; 12 if 0. See the options of package flite.
	ClauseWords int
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	if o.Library == "" || o.Network == "" {
		return errors.New("piper: Library and Network must be set")
	}
	if o.ClauseWords < 0 || o.ClauseWords > clauses.MaxWords {
		return fmt.Errorf("piper: clause words is %d: expected 0 to %d", o.ClauseWords, clauses.MaxWords)
	}
	return nil
}

// withDefaults returns o with every zero field set.
func (o Options) withDefaults() Options {
	if o.Program == "" {
		o.Program = "espeak-ng"
	}
	if o.ClauseWords == 0 {
		o.ClauseWords = 12
	}
	return o
}

// Languages implements [port.Languages].
func (*Synthesizer) Languages() []string { return []string{"en"} }
