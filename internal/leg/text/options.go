package text

// Options has nothing to set yet.
type Options struct{}

// Validate never fails.
func (Options) Validate() error { return nil }
