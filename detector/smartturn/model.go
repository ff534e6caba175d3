package smartturn

import (
	"context"
	"fmt"

	"github.com/hocketvoice/hocket/internal/onnx"
	"github.com/hocketvoice/hocket/port"
)

var _ port.EndOfTurn = (*Model)(nil)

// Model hears whether a speaker has finished. It is safe for concurrent use, but for Close.
type Model struct {
	session  *onnx.Session
	spectrum *spectrum // only who holds the turn uses it
}

// turn is held by the computation in progress, one in the process.
var turn = make(chan struct{}, 1)

// New reads the network. It returns an error that wraps [onnx.ErrMissing] if this program
// cannot run networks, and one that wraps fs.ErrNotExist if a file is not installed.
func New(o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := onnx.Open(o.Library, o.Network)
	if err != nil {
		return nil, fmt.Errorf("smartturn: %w", err)
	}
	m := &Model{session: s, spectrum: newSpectrum()}
	// The first computation is slow, and shows whether the network is the expected one.
	if _, err := m.Finished(context.Background(), nil); err != nil {
		_ = s.Close() // err says more
		return nil, fmt.Errorf("smartturn: %s: %w", o.Network, err)
	}
	return m, nil
}

// Close frees the network.
func (m *Model) Close() error { return m.session.Close() }

// Name returns "smartturn".
func (m *Model) Name() string { return "smartturn" }

// Finished returns the probability that a speaker has finished, from the last eight seconds
// of a sound at 16 kHz. It waits until no other computation is in progress, and returns
// ctx.Err() if ctx ends before that. Then it takes a tenth of a second of one core.
func (m *Model) Finished(ctx context.Context, pcm []int16) (float64, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case turn <- struct{}{}:
	}
	defer func() { <-turn }()
	in := make([]float32, bands*columns)
	m.spectrum.features(pcm, in)
	out, err := m.session.Run(context.WithoutCancel(ctx), "logits", onnx.Tensor{Name: "input_features", Shape: []int64{1, bands, columns}, Float: in})
	switch {
	case err != nil:
		return 0, err
	case len(out) != 1 || !(out[0] >= 0 && out[0] <= 1):
		return 0, fmt.Errorf("smartturn: the network returned %v: expected one probability", out)
	}
	return float64(out[0]), nil
}
