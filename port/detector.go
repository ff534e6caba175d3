package port

// Detector finds speech in sound. It is safe for concurrent use; a stream is
// not.
type Detector interface {
	// Name says which detector serves, for diagnostics ("silero", "energy").
	Name() string
	// Rate is the sampling rate it wants, in hertz.
	Rate() int
	// Open starts a stream with fresh state.
	Open() (DetectorStream, error)
}

// DetectorStream follows one sound. It is used by one goroutine and allocates
// nothing after Open.
type DetectorStream interface {
	// Write takes the next samples, of any number, and returns the probability
	// of speech (0 to 1) of the last window that is complete. The value holds
	// until the next window is.
	Write(pcm []int16) float64
	// Reset forgets the past, as at the start.
	Reset()
}
