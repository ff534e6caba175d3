//go:build !pocketsphinx || !cgo

package pocketsphinx

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// ErrBusy reports that Options.MaxStreams streams are in use.
var ErrBusy = errors.New("pocketsphinx: all streams are in use")

// Recognizer is a placeholder for the engine, which is not part of this build.
type Recognizer struct{}

// New validates the options and returns [ErrMissing].
func New(o Options) (*Recognizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrMissing
}

// Open returns [ErrMissing].
func (r *Recognizer) Open(context.Context, port.RecognizerConfig, func(port.Transcript)) (port.RecognizerStream, error) {
	return nil, ErrMissing
}

// Close does nothing.
func (r *Recognizer) Close() error { return nil }

var _ port.Recognizer = (*Recognizer)(nil)
