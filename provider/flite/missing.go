//go:build !flite || !cgo

package flite

import (
	"context"

	"github.com/hocketvoice/hocket/port"
)

// Synthesizer is a placeholder for the engine, which is not part of this build.
type Synthesizer struct{}

// New validates the options and returns [ErrMissing].
func New(o Options) (*Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrMissing
}

// Rate returns the sampling rate of the voices in hertz.
func (s *Synthesizer) Rate() int { return Rate }

// Speak returns [ErrMissing].
func (s *Synthesizer) Speak(context.Context, port.Utterance, func(port.Speech) error) error {
	return ErrMissing
}

// Close does nothing.
func (s *Synthesizer) Close() error { return nil }

var _ port.Synthesizer = (*Synthesizer)(nil)
