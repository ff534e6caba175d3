package port

import "context"

// Detector detects speech in sound. It is safe for concurrent use; its streams are
// not.
type Detector interface {
	// Name returns the detector's name for diagnostics ("silero", "energy").
	Name() string
	// Rate returns the sampling rate that streams expect, in hertz.
	Rate() int
	// Open starts a stream with fresh state.
	Open() (DetectorStream, error)
}

// DetectorStream follows one signal. It must be used by one goroutine at a time,
// and allocates nothing after Open.
type DetectorStream interface {
	// Write takes the next samples, in any number, and returns the probability of
	// speech (0 to 1) in the last complete window. The value stays the same until
	// another window is complete.
	Write(pcm []int16) float64
	// Reset forgets all samples, so that the stream is as it was after Open.
	Reset()
}

// EndOfTurn hears whether a speaker who is silent has finished. It is safe for concurrent use.
type EndOfTurn interface {
	// Name returns the model's name for diagnostics ("smartturn").
	Name() string
	// Finished returns the probability (0 to 1) that the speaker has finished. pcm is the
	// sound of the turn at 16 kHz, with the silence at its end; a model may use its end only.
	// Finished may take a tenth of a second of one core, and wait for other computations before. If
	// ctx ends while it waits, it returns ctx.Err().
	Finished(ctx context.Context, pcm []int16) (float64, error)
}
