//go:build !flite || !cgo

package flite

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// ErrMissing is what [New] returns in a binary built without the engine.
var ErrMissing = errors.New("flite: this binary was built without the flite voices; " +
	"install flite1-dev and build with: go build -tags flite (CGO_ENABLED=1)")

// Synthesizer stands in for the engine, which is not part of this build.
type Synthesizer struct{}

// New validates the options and returns [ErrMissing].
func New(o Options) (*Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrMissing
}

// Rate is the sampling rate the voices would have, in hertz.
func (s *Synthesizer) Rate() int { return Rate }

// Speak returns [ErrMissing].
func (s *Synthesizer) Speak(context.Context, port.Utterance, func(port.Speech) error) error {
	return ErrMissing
}

// Close does nothing.
func (s *Synthesizer) Close() error { return nil }

var _ port.Synthesizer = (*Synthesizer)(nil)
